//! A strategy from the begin of its recording to the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use journal::Latest;
use recorder::format::RecordedJournal;
use recorder::read::{Recording, Syncs};
use topology::Topology;
use topology::config::{Durability, ReaderKind};
use wire::{EndOfStream, Execution, Fill, Message, OrderUpdate, Quote, Request, StrategyId};

use crate::begin::Begin;
use crate::check::{Check, Difference, Ids, Input};
use crate::damage::damage;
use crate::error::ReplayError;
use crate::life::Life;
use crate::search::{Search, Verdict};
use crate::stage::{Plan, Stage};
use crate::start::{Prepared, Start};
use crate::subject::Subject;
use crate::tape::{Cause, Moves, Part, Taken, Tape};

/// Why a difference in a strategy with timers says nothing.
const CLOCK: &str = "the strategy reads the clock or sets timers, and when it did so between two frames was not recorded: the difference may \
                     come from that. Only a run in lock-step (platform.deterministic) tells for sure";

/// Why the first request that differs says nothing.
const HEAD: &str = "the strategy reads the market loosely, from where it stood when it joined, which was not recorded: the difference in its \
                    first request may come from that";

/// What is replayed, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the strategy.
    pub strategy: String,
    /// From this time on, in nanoseconds since the epoch; `None`: from the strategy's start.
    pub from: Option<u64>,
    /// Up to this time; `None`: to the end.
    pub to: Option<u64>,
    /// Name of the instance that is made for it.
    pub instance: String,
    /// The `colo` binary, for strategies that are built in.
    pub colo: PathBuf,
    /// Another program than the recorded one.
    pub program: Option<PathBuf>,
    /// Parameters that are not as they were.
    pub parameters: BTreeMap<String, serde_json::Value>,
    /// How many times as fast as it was; `None`: as fast as it goes.
    pub speed: Option<f64>,
    /// End with the first request that is not the same.
    pub check: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Frames that were given, by journal.
    pub frames: BTreeMap<String, u64>,
    /// What the strategy sent.
    pub requests: Vec<Request>,
    /// How many requests it sent live in that time.
    pub live: u64,
    /// Requests from the begin on that were the same.
    pub same: u64,
    /// The first that is not the same.
    pub difference: Option<Difference>,
    /// What follows from that.
    pub verdict: Verdict,
    /// Frames that were handed over earlier or later than their times say, so that more requests are the same.
    pub moved: u64,
    /// What cannot be as it was.
    pub caveats: Vec<String>,
}

/// Gives a strategy what was recorded of its inputs. `goes_on` is asked between frames. A check goes through them again
/// where it differs and the recording leaves their order open.
///
/// # Errors
/// [`ReplayError`].
pub fn replay(
    recording: &Recording,
    options: &Options,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Outcome, ReplayError> {
    let (mut search, mut moves) = (Search::default(), Moves::new());
    loop {
        let mut is_stopped = false;
        let outcome = once(recording, options, &moves, &mut || {
            is_stopped |= !goes_on();
            !is_stopped
        })?;
        if !options.check || is_stopped {
            return Ok(outcome);
        }
        if let Some(outcome) = search.ends(&moves, outcome) {
            return Ok(Outcome { moved: search.moved(), ..outcome });
        }
        moves = search.moves();
    }
}

/// One time through all frames.
fn once(
    recording: &Recording,
    options: &Options,
    moves: &Moves,
    goes_on: &mut impl FnMut() -> bool,
) -> Result<Outcome, ReplayError> {
    let topology: Topology = serde_json::from_value(recording.description().topology.clone())
        .map_err(|error| ReplayError::Usage(format!("the recorded platform is not understood: {error}")))?;
    let mut subject = Subject::find(recording, &topology, &options.strategy)?;
    demand_whole(recording, &subject)?;
    change(&mut subject, &options.parameters);
    let life = Life::find(recording, &subject, options.from)?;
    let start = Start::find(recording, &subject, &life)?;
    let begin = Begin::find(recording, &subject, &life)?;
    let epoch = u64::from(life.epoch) + u64::from(life.is_middle);
    let ids = Ids::of(StrategyId(subject.node.seat), &life, epoch);
    let plan = Plan {
        instance: &options.instance,
        topology: &topology,
        subject: &subject,
        first_positions: begin.positions.clone(),
        epoch,
        deterministic: topology.deterministic,
        program: options.program.clone(),
        colo: options.colo.clone(),
    };
    let mut run = Run {
        stage: Stage::build(&plan)?,
        subject: &subject,
        check: Check::new(ids),
        ids,
        outcome: Outcome {
            frames: BTreeMap::new(),
            requests: Vec::new(),
            live: life.sent.len() as u64,
            same: 0,
            difference: None,
            verdict: Verdict::Same,
            moved: 0,
            caveats: caveats(&subject, &life, &start, &begin, topology.deterministic),
        },
        depths: None,
        life: &life,
        begin: &begin,
        is_checked: options.check,
        ends_early: options.to.is_some() || !life.has_left(),
    };
    run.prepare(recording, &start)?;
    run.stage.start()?;
    // In lock-step the market's time decides, whenever something was on disk.
    let late = if topology.deterministic { Vec::new() } else { late(&topology, &subject) };
    let syncs = if late.is_empty() { Syncs::default() } else { recording.syncs()? };
    if !late.is_empty() && syncs.is_empty() {
        run.outcome.caveats.push(
            "reports were read when they were on disk, and the recording does not say when that was"
                .to_owned(),
        );
    }
    let disk = Disk { late: &late, syncs: &syncs };
    run.play(recording, options, &start, (topology.deterministic, disk, moves), goes_on)?;
    run.end()?;
    run.outcome.same = run.check.same() as u64;
    if run.outcome.difference.is_some() {
        // A clock that goes by frames is not the one that the strategy read.
        let has_clock = !topology.deterministic && run.stage.has_read_clock();
        if has_clock {
            run.outcome.caveats.push(CLOCK.to_owned());
        }
        // Who reads loosely begins at the head, wherever that was.
        let is_begun = run.check.same() > 0 || topology.deterministic || !reads_loosely(&subject);
        if !is_begun {
            run.outcome.caveats.push(HEAD.to_owned());
        }
        let is_known = begin.is_known && is_begun && !has_clock;
        run.outcome.verdict = if is_known { Verdict::Differs } else { Verdict::Inconclusive };
    }
    Ok(run.outcome)
}

/// Whether the market may overtake the strategy.
fn reads_loosely(subject: &Subject) -> bool {
    let is_market = |role: &str| !matches!(role, "instruments" | "state" | "reports");
    subject.reads.iter().any(|(read, _)| is_market(&read.role) && read.kind == ReaderKind::Loose)
}

/// What was read when it was on disk.
#[derive(Clone, Copy)]
struct Disk<'a> {
    late: &'a [u32],
    syncs: &'a Syncs,
}

/// Numbers of the journals of which the strategy saw a frame only when it was on disk.
fn late(topology: &Topology, subject: &Subject) -> Vec<u32> {
    let is_late = |name: &str| {
        topology.journal(name).is_some_and(|spec| spec.durability == Durability::Sync)
            && subject.process().kind.trades()
    };
    subject.reads.iter().filter(|(read, _)| is_late(&read.journal)).map(|(_, journal)| journal.id).collect()
}

fn demand_whole(recording: &Recording, subject: &Subject) -> Result<(), ReplayError> {
    let mut journals: Vec<&RecordedJournal> = subject.reads.iter().map(|(_, journal)| journal).collect();
    journals.push(&subject.orders);
    journals.extend(&subject.depths);
    let found = damage(recording, &journals)?;
    if found.is_empty() { Ok(()) } else { Err(ReplayError::NotWhole(found.join("; "))) }
}

fn change(subject: &mut Subject, parameters: &BTreeMap<String, serde_json::Value>) {
    if let Some(table) = subject.node.parameters.as_object_mut() {
        table.extend(parameters.clone());
    }
}

fn caveats(subject: &Subject, life: &Life, start: &Start, begin: &Begin, deterministic: bool) -> Vec<String> {
    let mut caveats = subject.caveats.clone();
    if !deterministic {
        caveats.push(
            "the platform did not run in lock-step: between journals the order is that of the times, and of what \
             the requests say they answer"
                .to_owned(),
        );
    }
    if life.is_middle {
        caveats.push(
            "it begins in the middle: what the strategy had remembered by then is not there".to_owned(),
        );
    } else if start.state.is_empty() && subject.read("state").is_some() {
        caveats.push(
            "the ledger's answer is not in the recording: the strategy starts without a state".to_owned(),
        );
    }
    if life.is_recovered {
        caveats.push("the run was recovered: it begins there, and not with the lives before".to_owned());
    }
    if !begin.is_known {
        caveats.push(
            "the recording does not say how much of before the recovery the strategy had not read yet: what it read first may be \
             missing"
                .to_owned(),
        );
    }
    if life.is_restarted {
        caveats.push("the strategy was started again later: --from replays what came then".to_owned());
    }
    if life.died {
        caveats.push("the strategy did not stop in good order".to_owned());
    }
    caveats
}

struct Run<'a> {
    stage: Stage,
    subject: &'a Subject,
    check: Check,
    ids: Ids,
    outcome: Outcome,
    /// The quotes behind the best.
    depths: Option<Latest>,
    life: &'a Life,
    begin: &'a Begin,
    is_checked: bool,
    /// It ends before the strategy did in good order: live, the last frames may have been answered later, or not any more.
    ends_early: bool,
}

impl Run<'_> {
    /// The list of instruments, the state, and the depth as of the start.
    fn prepare(&mut self, recording: &Recording, start: &Start) -> Result<(), ReplayError> {
        for (index, (read, journal)) in self.subject.reads.iter().enumerate() {
            if read.role == "state" {
                for prepared in &start.state {
                    self.stage.prepare(index, prepared)?;
                }
            }
            if read.role == "instruments" {
                let mut frames = recording.frames(journal, 0);
                while let Some(frame) = frames.next()?
                    && frame.time <= start.time
                {
                    let (time, message_id, topic) = (frame.time, frame.message_id, frame.topic);
                    let payload = frame.payload.to_vec();
                    self.stage.prepare(index, &Prepared { time, message_id, topic, payload })?;
                }
            }
        }
        let Some(quotes) = &self.subject.depths else { return Ok(()) };
        let path = self.stage.directory().depths();
        let depths = Latest::open_or_create(&path, quotes.topics, Quote::SIZE)
            .map_err(|error| ReplayError::journal("md.depths", error))?;
        if self.life.from > 0 {
            let mut frames = recording.frames(quotes, 0);
            while let Some(frame) = frames.next()?
                && frame.time < self.life.from
            {
                if frame.message_id == Quote::ID {
                    depths.set(frame.topic, frame.payload);
                }
            }
        }
        self.depths = Some(depths);
        Ok(())
    }

    fn play(
        &mut self,
        recording: &Recording,
        options: &Options,
        start: &Start,
        (deterministic, disk, moves): (bool, Disk<'_>, &Moves),
        goes_on: &mut impl FnMut() -> bool,
    ) -> Result<(), ReplayError> {
        let mut parts: Vec<Part<'_>> = Vec::new();
        for (read, journal) in &self.subject.reads {
            let causes = if deterministic { Vec::new() } else { self.causes(journal.id) };
            let synced = disk.late.contains(&journal.id).then_some(disk.syncs);
            let topic = if read.role == "reports" { self.subject.reports_topic() } else { None };
            let is_open = !deterministic && read.role == "reports";
            parts.push(Part { journal, causes, synced, topic, is_open });
        }
        let depths = self.subject.depths.as_ref();
        parts.extend(depths.map(|journal| Part {
            journal,
            causes: Vec::new(),
            synced: None,
            topic: None,
            is_open: false,
        }));
        let mut tape = Tape::new(recording, parts, moves)?;
        let mut pace = Pace { speed: options.speed, began: None };
        while let Some(time) = tape.peek() {
            if options.to.is_some_and(|to| time > to) || self.is_over(time) || !goes_on() {
                break;
            }
            let Some(taken) = tape.next()? else { break };
            let Some((read, journal)) = self.subject.reads.get(taken.journal) else {
                if taken.message_id == Quote::ID
                    && let Some(depths) = &self.depths
                {
                    depths.set(taken.topic, &taken.payload);
                }
                continue;
            };
            let is_before = match read.role.as_str() {
                "state" => true,
                "instruments" => taken.time <= start.time,
                _ => self.begin.is_before(&taken, self.life),
            };
            if is_before {
                continue;
            }
            // The time between two runs is no pause of either.
            if !pace.wait(time.max(self.life.from), goes_on) {
                break;
            }
            let taken = self.as_of_now(&read.role, taken);
            let (name, id) = (journal.name.clone(), journal.id);
            if self.give(&name, id, &taken)? {
                break;
            }
        }
        if let Some(difference) = &mut self.outcome.difference {
            let upcoming = tape.open().filter_map(|taken| {
                let (_, journal) = self.subject.reads.get(taken.journal)?;
                Some(Input::of(&journal.name, journal.id, taken))
            });
            difference.upcoming = upcoming.collect();
            difference.lag = tape.lag();
        }
        Ok(())
    }

    /// Gives one frame; true when the replay ends with it.
    fn give(&mut self, name: &str, id: u32, taken: &Taken) -> Result<bool, ReplayError> {
        self.check.gives(name, id, taken);
        *self.outcome.frames.entry(name.to_owned()).or_default() += 1;
        self.stage.give(taken.journal, taken)?;
        self.take_sent(!self.ends_early)?;
        if self.outcome.difference.is_none() && taken.message_id != EndOfStream::ID {
            self.outcome.difference = self.check.handled(self.life, id, taken.position);
        }
        Ok(self.is_checked && self.outcome.difference.is_some())
    }

    /// Takes what the strategy has sent. `counts`: it counts as a difference.
    fn take_sent(&mut self, counts: bool) -> Result<(), ReplayError> {
        let (outcome, check, life) = (&mut self.outcome, &mut self.check, self.life);
        let mut unreadable = None;
        self.stage.sent(|position, _, message_id, payload| match Request::decode(message_id, payload) {
            Ok(request) => {
                outcome.requests.push(request);
                if outcome.difference.is_none() && (counts || check.expected(life).is_some()) {
                    outcome.difference = check.sends(life, request);
                }
            }
            Err(error) => unreadable = Some(format!("position {position}: {error}")),
        })?;
        match unreadable {
            Some(what) => Err(ReplayError::journal(&self.subject.orders.name, what)),
            None => Ok(()),
        }
    }

    /// The positions in a journal that caused requests, and when they were received.
    fn causes(&self, journal: u32) -> Vec<Cause> {
        let orders = self.life.sent.iter().filter_map(|sent| match sent.request {
            Request::New(order) if order.cause.journal == journal => Some(order.cause),
            _ => None,
        });
        let mut causes: Vec<Cause> = orders.map(|cause| (cause.position, cause.received.0)).collect();
        causes.sort_unstable();
        causes.dedup_by_key(|(position, _)| *position);
        causes
    }

    /// Whether the strategy had been stopped before `time`: its process had ended, or all that it sent from then on are
    /// the cancels of a strategy that stops.
    fn is_over(&self, time: u64) -> bool {
        if self.life.ends.is_some_and(|ends| time > ends) {
            return true;
        }
        if self.outcome.difference.is_some() || !self.life.has_left() {
            return false;
        }
        let next = self.check.expected(self.life);
        next.is_some_and(|sent| sent.time < time) && self.life.only_cancels_from(self.check.same())
    }

    /// A report with the ids that the orders have now.
    fn as_of_now(&self, role: &str, taken: Taken) -> Taken {
        if role != "reports" || !self.life.is_middle {
            return taken;
        }
        let payload = match Execution::decode(taken.message_id, &taken.payload) {
            Ok(Execution::Fill(fill)) => {
                Fill { order_id: self.ids.now(fill.order_id), ..fill }.bytes().to_vec()
            }
            Ok(Execution::Update(update)) => {
                OrderUpdate { order_id: self.ids.now(update.order_id), ..update }.bytes().to_vec()
            }
            Err(_) => return taken,
        };
        Taken { payload, ..taken }
    }

    /// Stops the strategy. What it sends then counts if it stopped in the recording too.
    fn end(&mut self) -> Result<(), ReplayError> {
        let is_cut_short = self.is_checked && self.outcome.difference.is_some();
        self.stage.stop()?;
        self.take_sent(self.life.has_left())?;
        if !is_cut_short && self.outcome.difference.is_none() {
            self.outcome.difference = self.check.ends(self.life);
        }
        Ok(())
    }
}

/// When the next frame is due.
struct Pace {
    speed: Option<f64>,
    began: Option<(Instant, u64)>,
}

/// How often a long wait looks whether it is interrupted.
const LOOK: Duration = Duration::from_millis(20);

impl Pace {
    /// Waits until this time is due; false when the replay is stopped meanwhile.
    fn wait(&mut self, time: u64, goes_on: &mut impl FnMut() -> bool) -> bool {
        let Some(speed) = self.speed else { return true };
        let (began, first) = *self.began.get_or_insert((Instant::now(), time));
        let wait = Duration::from_nanos((time.saturating_sub(first) as f64 / speed) as u64);
        loop {
            let rest = wait.saturating_sub(began.elapsed());
            if rest.is_zero() {
                return true;
            }
            std::thread::sleep(rest.min(LOOK));
            if !goes_on() {
                return false;
            }
        }
    }
}

/// The recording in a folder, or the latest of those in it, as if it ended at `to`.
///
/// # Errors
/// [`ReplayError::Usage`].
pub fn open(folder: &Path, to: Option<u64>) -> Result<Recording, ReplayError> {
    let folder = recorder::recover::only(folder)
        .map_err(|error| ReplayError::Usage(format!("{}: {error}", folder.display())))?;
    let opened = match to {
        Some(to) => Recording::open_until(&folder, to),
        None => Recording::open(&folder),
    };
    opened.map_err(|error| ReplayError::Usage(format!("{}: {error}", folder.display())))
}
