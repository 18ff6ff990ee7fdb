//! Who follows the drop copy comes to the ledger's accounts: to its snapshots, byte by byte, and to what it publishes.

use std::collections::VecDeque;
use std::time::Duration;

use accounts::{Anomaly, Entry, Follower, Options, Refusal, Touched};
use node::{InstanceDir, NodeState};
use observe::InstanceView;
use topology::NodeKind;
use wire::fold::DeskReader;
use wire::{AccountState, DeskPart, EntryResult, Message, Nanos, OrderUpdate};

use super::Stop;
use super::findings::Findings;
use crate::desk::{DROPS, SNAPSHOTS, STATES, Seen, Source, Stream, states};
use crate::failure::Failure;
use crate::output;

/// So long the ledger has to publish what it has read.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct States<'a> {
    pub(super) findings: Findings,
    /// `None` until a snapshot is found to begin with.
    follower: Option<Follower>,
    snapshots: Snapshots<'a>,
    next: Option<(u64, Vec<u8>)>,
    /// Executions that did not fit: why and what they were, how many, and where the first stands.
    unfit: Vec<(Anomaly, String, u64, u64)>,
    /// Snapshots that were compared.
    compared: u64,
}

/// The ledger's snapshots, oldest first.
struct Snapshots<'a> {
    /// Of an instance: all that are there, read before they are overwritten.
    read: VecDeque<(u64, Vec<u8>)>,
    /// Of a recording: one after the other.
    stream: Option<Stream<'a>>,
    reader: DeskReader,
}

impl Snapshots<'_> {
    fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, Stop> {
        if let Some(snapshot) = self.read.pop_front() {
            return Ok(Some(snapshot));
        }
        let Some(stream) = &mut self.stream else { return Ok(None) };
        while let Some(seen) = stream.next()? {
            let part = (seen.id == DeskPart::ID).then(|| DeskPart::decode(&seen.payload));
            match part {
                Some(Ok(part)) => {
                    if let Some(bytes) = self.reader.take(&part) {
                        return Ok(Some((part.drops, bytes)));
                    }
                }
                _ => self.reader.reset(),
            }
        }
        Ok(None)
    }
}

impl<'a> States<'a> {
    pub(super) fn new(source: &'a Source, options: Options, is_begin: bool) -> Result<States<'a>, Stop> {
        let findings = Findings::new(
            "states",
            "who follows the drop copy has the accounts of the ledger's snapshots, and of what it publishes",
        );
        let stream = Some(super::stream(source, SNAPSHOTS, 0)?);
        let mut snapshots = Snapshots { read: VecDeque::new(), stream, reader: DeskReader::new() };
        if matches!(source, Source::Live(_)) {
            let mut read = VecDeque::new();
            while let Some(snapshot) = snapshots.next()? {
                read.push_back(snapshot);
            }
            snapshots = Snapshots { read, stream: None, reader: DeskReader::new() };
        }
        let next = snapshots.next()?;
        let follower = is_begin.then(|| Follower::new(options));
        Ok(States { findings, follower, snapshots, next, unfit: Vec::new(), compared: 0 })
    }

    /// The next frame of the drop copy.
    pub(super) fn take(&mut self, seen: &Seen) -> Result<(), Stop> {
        if self.follower.is_none() {
            self.begin(seen.position)?;
        }
        self.compare(seen.position)?;
        let Some(follower) = &mut self.follower else { return Ok(()) };
        self.findings.checked += 1;
        let at = (seen.position, seen.topic, Nanos(seen.time));
        match follower.frame(at, seen.id, &seen.payload) {
            Ok(followed) => followed.anomaly.into_iter().for_each(|anomaly| self.does_not_fit(anomaly, seen)),
            Err(error) => self.findings.differs(
                DROPS,
                seen.position,
                error.to_string(),
                "what these accounts would have done, too",
            ),
        }
        Ok(())
    }

    /// td has refused an entry: these accounts refuse it for the same reason. Called before the frame with the result is taken.
    pub(super) fn refused(&mut self, entry: &Seen, result: &EntryResult, position: u64) {
        let Some(follower) = &self.follower else { return };
        self.findings.checked += 1;
        let decoded = Entry::decode(entry.id, &entry.payload);
        let refused = decoded.and_then(|decoded| {
            follower.desk.plausible(&decoded, Nanos(entry.time))?;
            follower.desk.clone().apply(&decoded)
        });
        let expected = refused.err().map_or((0, 0), |refusal| (refusal.number(), refusal.about()));
        // How many accounts there is room for is td's matter.
        let is_full = result.refusal == Refusal::Full.number();
        if (result.refusal, result.about) != expected && !is_full {
            let found =
                format!("an entry was refused with number {}, about {}", result.refusal, result.about);
            let expected = match expected {
                (0, _) => "it is taken".to_owned(),
                (number, about) => format!("number {number}, about {about}"),
            };
            self.findings.differs(DROPS, position, found, expected);
        }
    }

    fn does_not_fit(&mut self, anomaly: Anomaly, seen: &Seen) {
        let what = OrderUpdate::decode(&seen.payload)
            .ok()
            .filter(|_| seen.id == OrderUpdate::ID)
            .map_or_else(|| "fill".to_owned(), |update| update.status.to_string());
        match self.unfit.iter_mut().find(|(kind, known, ..)| (*kind, known.as_str()) == (anomaly, &what)) {
            Some((_, _, count, _)) => *count += 1,
            None => self.unfit.push((anomaly, what, 1, seen.position)),
        }
    }

    /// Begins with the first snapshot whose last frame is still there.
    fn begin(&mut self, oldest: u64) -> Result<(), Stop> {
        while let Some((drops, bytes)) = self.next.take() {
            self.next = self.snapshots.next()?;
            if drops <= oldest {
                continue;
            }
            match Follower::restore(&bytes) {
                Ok(follower) => {
                    self.follower = Some(follower);
                    return Ok(());
                }
                Err(error) => self.findings.differs(SNAPSHOTS, None, error.to_string(), "a whole snapshot"),
            }
        }
        Ok(())
    }

    /// Compares the snapshots that contain nothing from `position` on.
    fn compare(&mut self, position: u64) -> Result<(), Stop> {
        while let Some((drops, bytes)) = self.next.take_if(|(drops, _)| *drops <= position) {
            self.next = self.snapshots.next()?;
            let Some(follower) = &self.follower else { continue };
            // Parts that a restarted ledger wrote again are older than where we began.
            if drops < follower.contained.drops {
                continue;
            }
            self.findings.checked += 1;
            self.compared += 1;
            if follower.contained.drops != drops {
                let found = format!("a snapshot that contains {DROPS} up to {drops}");
                self.findings.differs(SNAPSHOTS, None, found, "the end of a frame");
            } else if follower.snapshot() != bytes {
                let (found, expected) = unlike(follower, &bytes);
                self.findings.differs(SNAPSHOTS, None, format!("as of {DROPS}@{drops}: {found}"), expected);
            }
        }
        Ok(())
    }

    /// The follower as it ended, if it ever began.
    pub(super) fn finish(mut self, source: &Source) -> Result<(Findings, Option<Follower>), Stop> {
        let end = self.follower.as_ref().map_or(0, |follower| follower.contained.drops);
        self.compare(end)?;
        let Some(follower) = self.follower else {
            self.findings
                .lacks(format!("{DROPS} reaches back neither to its begin nor to a snapshot in {SNAPSHOTS}"));
            return Ok((self.findings, None));
        };
        self.findings.notes.push(format!("{} snapshots were compared", self.compared));
        self.findings.checked += 1;
        if let Err(what) = follower.desk.audit() {
            self.findings.differs(DROPS, None, what, "sums that are what their parts come to");
        }
        for (anomaly, what, count, first) in &self.unfit {
            let executions = output::count(*count, "execution");
            self.findings
                .notes
                .push(format!("{executions} did not fit: {anomaly:?}, {what}, the first at {DROPS}@{first}"));
        }
        if let Source::Live(instance) = source {
            published(instance, &follower, &mut self.findings)?;
        }
        Ok((self.findings, Some(follower)))
    }
}

fn all(follower: &Follower) -> Vec<AccountState> {
    let mut states = Vec::new();
    // Where it was published last is no part of how an account stands.
    follower.states(Touched::All, |_, state| states.push(AccountState { drops: 0, ..state }));
    states
}

fn said(state: &AccountState) -> String {
    format!(
        "account {} (strategy {}): balance {}, equity {}, available {}, frozen {}, margin {}, {} orders, flags {}",
        state.account.0,
        state.owner.0,
        state.balance,
        state.equity,
        state.available,
        state.frozen,
        state.margin,
        state.open_orders,
        state.flags
    )
}

/// The first account in which a snapshot differs from what we have: as the snapshot has it, as we have it.
fn unlike(follower: &Follower, bytes: &[u8]) -> (String, String) {
    let theirs = match Follower::restore(bytes) {
        Ok(theirs) => theirs,
        Err(error) => return (error.to_string(), "a whole snapshot".to_owned()),
    };
    if theirs.contained != follower.contained {
        return (format!("{:?}", theirs.contained), format!("{:?}", follower.contained));
    }
    let (theirs, ours) = (all(&theirs), all(follower));
    if theirs.len() != ours.len() {
        return (format!("{} accounts", theirs.len()), format!("{} accounts", ours.len()));
    }
    let other = theirs.iter().zip(&ours).find(|(theirs, ours)| theirs != ours);
    match other {
        Some((theirs, ours)) => (said(theirs), said(ours)),
        None => ("other bytes, though every account stands alike".to_owned(), "the same bytes".to_owned()),
    }
}

/// What the ledger publishes, where nothing has happened since.
fn published(instance: &InstanceDir, follower: &Follower, findings: &mut Findings) -> Result<(), Failure> {
    let ours = all(follower);
    // Where nothing runs any more nothing is on its way.
    let looks: &[bool] =
        if InstanceView::open(instance.clone())?.is_dead() { &[true] } else { &[false, true] };
    for &is_last in looks {
        let Some(theirs) = states(instance)? else {
            findings.notes.push("the ledger has published no accounts".to_owned());
            return Ok(());
        };
        let is_behind = theirs.iter().any(|state| state.drops > follower.contained.drops);
        if is_behind {
            findings
                .notes
                .push("accounts changed meanwhile: what the ledger publishes was not compared".to_owned());
            return Ok(());
        }
        let theirs: Vec<AccountState> =
            theirs.into_iter().map(|state| AccountState { drops: 0, ..state }).collect();
        if theirs != ours && is_last && !has_read(instance, follower.contained.drops)? {
            findings
                .notes
                .push("the ledger has not got there: what it publishes was not compared".to_owned());
            return Ok(());
        }
        if theirs == ours || is_last {
            findings.checked += ours.len() as u64;
            if theirs.len() != ours.len() {
                findings.differs(STATES, None, format!("{} accounts", theirs.len()), ours.len().to_string());
            }
            for (theirs, ours) in theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours) {
                findings.differs(STATES, None, said(theirs), said(ours));
            }
            return Ok(());
        }
        std::thread::sleep(PATIENCE);
        let journal = journal::Journal::open_read_only(instance.find_journal(DROPS))?;
        let mut reader = journal.observe(follower.contained.drops.saturating_sub(1))?;
        // The last one that we have; what is behind it came meanwhile.
        let _ = reader.read();
        if reader.has_news() {
            findings
                .notes
                .push("accounts changed meanwhile: what the ledger publishes was not compared".to_owned());
            return Ok(());
        }
    }
    Ok(())
}

/// Whether the ledger has published what stands in the drop copy before `end`. One that was killed may not have.
fn has_read(instance: &InstanceDir, end: u64) -> Result<bool, Failure> {
    let view = InstanceView::open(instance.clone())?;
    let Some(ledger) = view.seats_of(NodeKind::Ledger).next() else { return Ok(false) };
    if ledger.state == NodeState::Stopped {
        return Ok(true);
    }
    let drops = journal::Journal::open_read_only(instance.find_journal(DROPS))?.stat();
    let cursor = drops.readers.iter().find(|reader| reader.gated && reader.seat == ledger.seat);
    Ok(ledger.alive && cursor.is_some_and(|cursor| cursor.position >= end))
}
