//! Positions and accounts, from the drop copy as it goes on: what td has booked is here a moment later. Where no accounts are
//! kept, positions are those of the ledger's last snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use accounts::{Follower, PositionRow};
use journal::{Journal, LooseReader, ReadError};
use node::InstanceDir;
use wire::{AccountId, InstrumentId, Nanos, Price, StrategyId};

use super::board::Board;
use super::rows;
use crate::desk;

const DROPS: &str = "td.drops";
/// Frames of the drop copy between two looks at the clients.
const FRAMES: usize = 4_096;
/// Between two looks at the ledger's snapshots.
const LOOK: Duration = Duration::from_millis(500);

/// Where they come from.
pub(crate) struct Holdings {
    instance: InstanceDir,
    seat: StrategyId,
    source: Source,
    looked: Option<Instant>,
}

enum Source {
    /// Not read yet, or everything is to be read again.
    Unread,
    Drops(Box<Following>),
    Ledger,
}

struct Following {
    follower: Follower,
    reader: LooseReader,
}

impl Holdings {
    pub(crate) fn new(instance: InstanceDir, seat: u16, keeps_accounts: bool) -> Holdings {
        let source = if keeps_accounts { Source::Unread } else { Source::Ledger };
        Holdings { instance, seat: StrategyId(seat), source, looked: None }
    }

    /// Brings the board up to the drop copy's head, for these accounts. `is_whole`: also what has not changed.
    pub(crate) fn follow(&mut self, board: &mut Board, accounts: &BTreeSet<u32>, is_whole: bool) {
        let is_due = self.looked.is_none_or(|looked| looked.elapsed() >= LOOK);
        let done = match &mut self.source {
            Source::Ledger if is_due || is_whole => {
                self.looked = Some(Instant::now());
                self.of_ledger(board)
            }
            Source::Ledger => Ok(()),
            // A journal that is not there yet is not asked for all the time.
            Source::Unread if !is_due && !is_whole => Ok(()),
            Source::Unread => {
                self.looked = Some(Instant::now());
                self.restart().map(|()| self.of_drops(board, accounts, true))
            }
            Source::Drops(_) => {
                self.of_drops(board, accounts, is_whole);
                Ok(())
            }
        };
        if let Err(error) = done {
            log::warn!("positions for DIFF: {error}");
        }
    }

    fn restart(&mut self) -> Result<(), String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let drops =
            Journal::open_read_only(self.instance.find_journal(DROPS)).map_err(|error| text(&error))?;
        let snapshot = node::last_desk(&self.instance).map_err(|error| text(&error))?;
        let started = desk::start(snapshot.as_deref(), &drops, None)?;
        let (follower, reader) = started.ok_or(desk::NOT_WHOLE)?;
        self.source = Source::Drops(Box::new(Following { follower, reader }));
        Ok(())
    }

    fn of_drops(&mut self, board: &mut Board, accounts: &BTreeSet<u32>, is_whole: bool) {
        let Source::Drops(following) = &mut self.source else { return };
        let mut is_any = is_whole;
        for _ in 0..FRAMES {
            match following.reader.read() {
                Ok(Some(frame)) => {
                    is_any = true;
                    let at = (frame.position, frame.topic, Nanos(frame.time));
                    // What cannot follow is an audit's affair.
                    let _ = following.follower.frame(at, frame.message_id, frame.payload);
                }
                Ok(None) => break,
                Err(ReadError::Lapped(_)) => {
                    self.source = Source::Unread;
                    return;
                }
                Err(error) => {
                    log::warn!("`{DROPS}`: {error}");
                    self.source = Source::Unread;
                    return;
                }
            }
        }
        if !is_any {
            return;
        }
        let desk = &following.follower.desk;
        for (instrument, contract) in desk.contracts() {
            board.contracts.insert(instrument.0, contract);
        }
        for account in accounts {
            for row in desk.positions(self.seat, AccountId(*account)) {
                board.position(&row);
            }
        }
        let flows = |account: &u32| (*account, desk.day_flows(self.seat, AccountId(*account)));
        let flows: BTreeMap<u32, _> = accounts.iter().map(flows).collect();
        following.follower.states(accounts::Touched::All, |_, state| {
            let is_own = state.account.0 != 0 || state.owner == self.seat;
            if let Some(flows) = flows.get(&state.account.0).filter(|_| is_own) {
                board.money(state.account.0, &rows::account(&state, &flows.unwrap_or_default()));
            }
        });
    }

    fn of_ledger(&mut self, board: &mut Board) -> Result<(), String> {
        let snapshot = node::last_snapshot(&self.instance).map_err(|error| error.to_string())?;
        for row in snapshot.into_iter().flat_map(|snapshot| snapshot.positions) {
            if row.strategy != self.seat {
                continue;
            }
            let lots = row.position.0;
            let cost = i128::from(row.average_price.0.max(0)) * i128::from(lots.abs());
            board.position(&PositionRow {
                day: 0,
                account: AccountId(0),
                owner: Some(self.seat),
                instrument: InstrumentId(row.instrument.0),
                long_today: lots.max(0),
                long_yesterday: 0,
                short_today: (-lots).max(0),
                short_yesterday: 0,
                long_frozen: 0,
                short_frozen: 0,
                long_cost: if lots > 0 { cost } else { 0 },
                short_cost: if lots < 0 { cost } else { 0 },
                long_settled: 0,
                short_settled: 0,
                // In 1e-6 there.
                realised: i128::from(row.realised.0) * 1_000,
                unrealised: i128::from(row.unrealised.0) * 1_000,
                charges: 0,
                margin: 0,
                mark: Price::NONE,
            });
        }
        Ok(())
    }
}
