//! A multicast group that carries ITCH 5.0 in MoldUDP64, as Nasdaq's does, with gap fill.
//!
//! ```text
//!  group ──► packets ──► Sequence ──► messages in order ──► the decoder of ITCH ──► events
//!  server ◄── what is missing ┘  ▲
//!     └──────── sent again ──────┘
//! ```
//!
//! - Messages are taken from the session's first. Who comes late asks the server for all that was before.
//! - Stocks are those of the directory, which a session begins with, or those of them that are asked for.
//! - A message that neither comes nor is sent again within the time is lost, and so is what it says: by [`Options::on_bad_row`] that
//!   ends the source with an error that names its number, or it is counted as not understood and the books go on without it.
//! - The same messages give the same events as a file of them, whatever was lost, doubled or out of order on the way.
//! - An event's time has the date that is in the session's name, otherwise 1970-01-01.

mod group;
mod mold;
mod send;
mod sequence;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wire::Instrument;

use super::error::Fault;
use super::itch::decoder::{Decoder, Look};
use super::itch::message::{self, Body};
use super::listing::{Listing, TickRule};
use super::{BadRow, Counts, OnBadRow, Options, Source, SourceError, SourceEvent, fields};
use group::Ears;
use sequence::{Next, Sequence};

pub use group::Place;
pub use mold::{Session, session};
pub use send::{Plan, Sender, Sent};
pub use sequence::Received;

/// Packets taken before messages are handed on.
const BURST: usize = 64;
/// Between two looks while nothing comes, before the list of instruments is known.
const PAUSE: Duration = Duration::from_micros(100);

/// How a group is heard.
#[derive(Clone, Debug)]
pub struct Hearing {
    /// Where.
    pub place: Place,
    /// Only this session; `None`: the first that is heard.
    pub session: Option<Session>,
    /// How long a gap stays open.
    pub fill_within: Duration,
    /// How long nothing may come before that is an error.
    pub silence: Duration,
}

/// A session that is being heard.
pub struct MulticastSource {
    ears: Ears,
    sequence: Sequence,
    decoder: Decoder,
    /// Messages that were read for the list of instruments.
    first: VecDeque<(u64, Vec<u8>)>,
    hearing: Hearing,
    on_bad_row: OnBadRow,
    began: Instant,
    heard: Instant,
    is_over: bool,
}

/// A message, or the reason why there is none.
enum Got {
    Message(u64, Vec<u8>),
    Lost(u64, u64),
    Nothing,
    End,
}

/// Takes what has come, and asks for what is missing.
fn hear(
    (ears, sequence): (&mut Ears, &mut Sequence),
    (began, heard): (Instant, &mut Instant),
    path: &std::path::Path,
) -> Result<Got, SourceError> {
    let now = || u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    loop {
        match sequence.next(now()) {
            Next::Message(number, bytes) => return Ok(Got::Message(number, bytes)),
            Next::Lost(from, to) => return Ok(Got::Lost(from, to)),
            Next::End => return Ok(Got::End),
            Next::Ask(request) => ears.ask(&request.bytes()),
            Next::Nothing => {}
        }
        let taken = ears
            .listen(BURST, |packet| sequence.packet(packet))
            .map_err(|source| SourceError::Io { path: path.to_owned(), source })?;
        if taken == 0 {
            return Ok(Got::Nothing);
        }
        *heard = Instant::now();
    }
}

/// The message for a group that says nothing.
fn silent(path: &std::path::Path, row: u64, hearing: &Hearing) -> SourceError {
    let reason = format!(
        "nothing was heard for {} s, no heartbeat either: is the sender up, are group, port and interface right?",
        hearing.silence.as_secs_f64()
    );
    SourceError::Damaged { path: path.to_owned(), row, reason }
}

impl MulticastSource {
    /// Joins the group, and reads the session's directory of stocks: from its first message up to the first order or trade.
    ///
    /// # Errors
    /// [`SourceError`]: no such interface, nothing heard, a lost or wrong message of the directory.
    pub fn open(hearing: Hearing, options: &Options) -> Result<MulticastSource, SourceError> {
        let path = PathBuf::from(format!("multicast group {}", hearing.place.group));
        let mut ears =
            Ears::open(&hearing.place).map_err(|source| SourceError::Io { path: path.clone(), source })?;
        let patience = u64::try_from(hearing.fill_within.as_nanos()).unwrap_or(u64::MAX);
        let mut sequence = Sequence::new(hearing.session, patience, hearing.place.server.is_some());
        let (began, mut heard) = (Instant::now(), Instant::now());
        let mut look = Look::new(Listing::new(&options.symbols, TickRule::Cents));
        let mut first = VecDeque::new();
        loop {
            match hear((&mut ears, &mut sequence), (began, &mut heard), &path)? {
                Got::Message(number, bytes) => {
                    let body = message::parse(&bytes).map(|message| message.body);
                    first.push_back((number, bytes));
                    match body {
                        Ok(Body::Directory { stock }) => drop(look.listing.id(stock, &path)?),
                        Ok(
                            Body::System { .. }
                            | Body::State { .. }
                            | Body::Operation { .. }
                            | Body::NoEffect,
                        ) => {}
                        // What is wrong with it, is said when it is taken.
                        Ok(_) | Err(_) => break,
                    }
                }
                Got::Lost(from, to) => return Err(never_came(from, to).at(&path, from).into()),
                Got::End => break,
                Got::Nothing if heard.elapsed() > hearing.silence => {
                    return Err(silent(&path, first.len() as u64, &hearing));
                }
                Got::Nothing => std::thread::sleep(PAUSE),
            }
        }
        let name = sequence.session().unwrap_or_default();
        let date = std::str::from_utf8(name.trim_ascii()).ok().and_then(|name| fields::date(name.as_bytes()));
        let date = options.date.map(|date| date.0).or(date).unwrap_or(0);
        // Contradictions are compared with how many messages there are so far: see `next`.
        let decoder = Decoder::new(path, look.listing, 0, date, options)?;
        let on_bad_row = options.on_bad_row;
        Ok(MulticastSource {
            ears,
            sequence,
            decoder,
            first,
            hearing,
            on_bad_row,
            began,
            heard,
            is_over: false,
        })
    }

    /// What came of packets so far.
    pub fn received(&self) -> &Received {
        self.sequence.received()
    }
}

fn never_came(from: u64, to: u64) -> Fault {
    let found = match to - from {
        1 => format!("message {from} never came"),
        count => format!("messages {from} to {} ({count}) never came", to - 1),
    };
    Fault::new("the session", found, "every message, from the group or the server that sends again")
}

impl Source for MulticastSource {
    fn instruments(&self) -> &[Instrument] {
        &self.decoder.instruments
    }

    fn next(&mut self, event: &mut SourceEvent) -> Result<bool, SourceError> {
        loop {
            let path = self.decoder.path();
            let got = match self.first.pop_front() {
                Some((number, bytes)) => Got::Message(number, bytes),
                None => hear((&mut self.ears, &mut self.sequence), (self.began, &mut self.heard), path)?,
            };
            match got {
                Got::Message(number, bytes) => {
                    self.decoder.counts.read += 1;
                    self.decoder.watch.saw(self.decoder.counts.read);
                    match message::parse(&bytes) {
                        Ok(message) => {
                            if self.decoder.apply(number, &bytes, message, event)? {
                                return Ok(true);
                            }
                        }
                        Err(fault) => {
                            let path = self.decoder.path.clone();
                            self.decoder.counts.reject(self.on_bad_row, fault, &path, number)?;
                        }
                    }
                }
                Got::Lost(from, to) => {
                    let path = self.decoder.path.clone();
                    log::error!("{}", never_came(from, to).at(&path, from));
                    self.decoder.counts.read += to - from;
                    if self.on_bad_row == OnBadRow::Stop {
                        self.decoder.counts.rejected += to - from;
                        return Err(never_came(from, to).at(&path, from).into());
                    }
                    self.decoder.counts.rejected += to - from;
                    // Whatever contradicts others from here on may come of that, and to go on is what was asked for.
                    self.decoder.watch.allow_all();
                }
                Got::End => {
                    if !self.is_over {
                        log::info!("the session is over: {:?}", self.received());
                    }
                    self.is_over = true;
                    return Ok(false);
                }
                Got::Nothing if self.heard.elapsed() > self.hearing.silence => {
                    return Err(silent(self.decoder.path(), self.decoder.counts.read, &self.hearing));
                }
                Got::Nothing => return Ok(false),
            }
        }
    }

    fn is_waiting(&self) -> bool {
        !self.is_over
    }

    fn counts(&self) -> &Counts {
        &self.decoder.counts
    }

    fn contradictions(&self) -> &[BadRow] {
        self.decoder.watch.first()
    }

    fn crossed(&mut self, event: &SourceEvent) -> Result<(), SourceError> {
        self.decoder.crossed(event)
    }
}
