//! The whole state as rows, and back.
//!
//! A row is the number of its kind (`u16`), its length (`u32`), and its bytes; one row for each part of the desk and one for
//! each account, where there are any one of the orders that must end and one of those that td has cancelled by itself, then a last
//! one with a checksum of all before it. The same state has the same bytes, and what is restored goes on as the original does.

use crate::account::Account;
use crate::desk::Desk;
use crate::state::{Reader, State};

/// Bytes that are no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// They end too early, or go on too long.
    #[error("the snapshot of the accounts is cut off or has more than its rows: take an older one")]
    Length,
    /// Another version wrote it.
    #[error(
        "the snapshot of the accounts has version {0}, and this program reads version {VERSION}: go on with the colo that wrote it, or \
         begin another instance and open its accounts with the balances that `colo account list` of that colo shows"
    )]
    Version(u32),
    /// A row is damaged.
    #[error("row {0} of the accounts' snapshot is damaged: take an older one")]
    Row(usize),
    /// The checksum does not fit.
    #[error("the snapshot of the accounts is damaged: its checksum does not fit; take an older one")]
    Checksum,
}

const VERSION: u32 = 4;
const PARTS: u16 = 1;
const ACCOUNT: u16 = 2;
const ORDERS: u16 = 3;
const END: u16 = 4;
const MUST_END: u16 = 5;
const RECALLED: u16 = 6;

/// FNV-1a over words of eight bytes: it finds damage, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    let add = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let start = 0xcbf2_9ce4_8422_2325 ^ bytes.len() as u64;
    let hash = words.iter().fold(start, |hash, word| add(hash, u64::from_le_bytes(*word)));
    if rest.is_empty() {
        return hash;
    }
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    add(hash, u64::from_le_bytes(word))
}

fn row(kind: u16, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    kind.put(out);
    let at = out.len();
    0_u32.put(out);
    write(out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}

impl Desk {
    /// All of it, as bytes.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_snapshot(&mut out);
        out
    }

    /// The same, behind what is in `out`.
    pub(crate) fn write_snapshot(&self, out: &mut Vec<u8>) {
        let begin = out.len();
        VERSION.put(out);
        row(PARTS, out, |out| {
            self.currencies.put(out);
            self.contracts.put(out);
            self.fees.put(out);
            self.margins.put(out);
            self.places.put(out);
            self.own.put(out);
            self.scopes.put(out);
            self.disabled.put(out);
            self.prices.put(out);
            self.kills.put(out);
            self.anomalies.put(out);
        });
        for account in &self.accounts {
            row(ACCOUNT, out, |out| account.put(out));
        }
        row(ORDERS, out, |out| self.orders.put(out));
        if !self.must_end.is_empty() {
            row(MUST_END, out, |out| self.must_end.iter().for_each(|order| order.put(out)));
        }
        if !self.recalled.is_empty() {
            row(RECALLED, out, |out| {
                self.recalled.iter().for_each(|(order, why)| {
                    order.put(out);
                    why.put(out);
                });
            });
        }
        let sum = checksum(&out[begin..]);
        row(END, out, |out| sum.put(out));
    }

    /// The desk whose [`Desk::snapshot`] this is.
    ///
    /// # Errors
    /// [`RestoreError`].
    pub fn restore(bytes: &[u8]) -> Result<Desk, RestoreError> {
        const TAIL: usize = 2 + 4 + 8;
        let body = bytes.len().checked_sub(TAIL).ok_or(RestoreError::Length)?;
        let mut reader = Reader(bytes);
        match u32::get(&mut reader) {
            Some(VERSION) => {}
            Some(version) => return Err(RestoreError::Version(version)),
            None => return Err(RestoreError::Length),
        }
        let sum = bytes[body + 6..].try_into().map(u64::from_le_bytes).map_err(|_| RestoreError::Length)?;
        if sum != checksum(&bytes[..body]) {
            return Err(RestoreError::Checksum);
        }
        let mut desk = Desk::new(crate::Options { remembered: 0 });
        for index in 0.. {
            let kind = u16::get(&mut reader).ok_or(RestoreError::Length)?;
            let length = u32::get(&mut reader).ok_or(RestoreError::Length)?;
            let mut fields = Reader(reader.take(length as usize).ok_or(RestoreError::Length)?);
            if kind == END {
                break;
            }
            let is_read = desk.read_row(kind, &mut fields).is_some() && fields.0.is_empty();
            if !is_read {
                return Err(RestoreError::Row(index));
            }
        }
        if reader.0.is_empty() { Ok(desk) } else { Err(RestoreError::Length) }
    }

    fn read_row(&mut self, kind: u16, from: &mut Reader<'_>) -> Option<()> {
        match kind {
            PARTS => {
                self.currencies = State::get(from)?;
                self.contracts = State::get(from)?;
                self.fees = State::get(from)?;
                self.margins = State::get(from)?;
                self.places = State::get(from)?;
                self.own = State::get(from)?;
                self.scopes = State::get(from)?;
                self.disabled = State::get(from)?;
                self.prices = State::get(from)?;
                self.kills = State::get(from)?;
                self.anomalies = State::get(from)?;
            }
            ACCOUNT => self.accounts.push(Account::get(from)?),
            ORDERS => self.orders = State::get(from)?,
            MUST_END => {
                while !from.0.is_empty() {
                    self.must_end.insert(State::get(from)?);
                }
            }
            RECALLED => {
                while !from.0.is_empty() {
                    self.recalled.insert(State::get(from)?, State::get(from)?);
                }
            }
            _ => return None,
        }
        Some(())
    }
}
