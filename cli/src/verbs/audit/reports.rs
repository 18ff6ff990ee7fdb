//! What strategies are told: each execution of their orders once, in order, unchanged, and each refusal by td.

use std::collections::BTreeMap;

use journal::Journal;
use topology::TdSection;
use wire::{AnyMessage, Execution, Fill, Message, OrderStatus, OrderUpdate, Reason};

use super::Stop;
use super::findings::Findings;
use super::frames::said;
use super::reach::Reach;
use crate::desk::{DROPS, EXECUTIONS, Fault, Seen, Source, Stream};
use crate::message::brief;

/// A journal of reports, with the strategies whose reports it has.
struct Told<'a> {
    name: String,
    stream: Stream<'a>,
    is_begin: bool,
    /// Execution of its oldest report: those before may have been overwritten.
    first: Option<u64>,
    /// Executions of these strategies that it does not have: the first, how many, how many of them td had handled.
    missing: (Option<Seen>, u64, u64),
    /// It has no room: its strategy does not read.
    is_full: bool,
}

/// Refusals by td: journal of reports and topic, position of the request, and what it says. How far td had reported by then
/// is left out: it is not in the drop copy.
pub(super) type Refused = BTreeMap<(String, u32, u64), OrderUpdate>;

pub(super) struct Reports<'a> {
    pub(super) findings: Findings,
    executions: Stream<'a>,
    told: Vec<Told<'a>>,
    /// By seat: the journal's place here, and the topic.
    routes: BTreeMap<u16, (usize, u32)>,
    /// Refusals by td that were read.
    pub(super) refused: Refused,
    /// All journals of reports are there from their begin.
    pub(super) is_whole: bool,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "reports",
        "each strategy was told of each execution of its orders once, in order, unchanged",
    )
}

impl<'a> Reports<'a> {
    pub(super) fn new(source: &'a Source, section: Option<&TdSection>) -> Result<Reports<'a>, Stop> {
        // Before the reports: what is executed meanwhile is reported to nobody yet.
        let executions = super::held(source, EXECUTIONS)?;
        let mut reports = Reports {
            findings: part(),
            executions,
            told: Vec::new(),
            routes: BTreeMap::new(),
            refused: Refused::new(),
            is_whole: true,
        };
        let strategies = section.map(|section| section.strategies.as_slice()).unwrap_or_default();
        for strategy in strategies {
            let place = match reports.told.iter().position(|told| told.name == strategy.reports) {
                Some(place) => place,
                None => match source.held(&strategy.reports)? {
                    Some(mut stream) => {
                        let is_begin = stream.is_at_begin()?;
                        let name = strategy.reports.clone();
                        let is_full = is_full(source, &name)?;
                        let missing = (None, 0, 0);
                        reports.told.push(Told { name, stream, is_begin, first: None, missing, is_full });
                        reports.told.len() - 1
                    }
                    None => {
                        reports.is_whole = false;
                        let what = format!(
                            "there is no {}: it is not known what {} was told",
                            strategy.reports, strategy.name
                        );
                        reports.findings.lacks(what);
                        continue;
                    }
                },
            };
            reports.routes.insert(strategy.seat, (place, strategy.reports_topic));
        }
        let cut: Vec<&str> =
            reports.told.iter().filter(|told| !told.is_begin).map(|told| told.name.as_str()).collect();
        if !cut.is_empty() {
            reports.is_whole = false;
            let what = format!(
                "{} no longer reach back to their begin: what was told before is not looked at",
                cut.join(", ")
            );
            reports.findings.lacks(what);
        }
        Ok(reports)
    }

    /// Compares all executions. `settled`: those up to this position td had handled well before the end.
    pub(super) fn compare(&mut self, settled: u64) -> Result<(), Stop> {
        let is_begin = self.executions.is_at_begin()?;
        let oldest = self.executions.peek()?.map_or(0, |seen| seen.position);
        if !is_begin {
            self.findings.lacks(format!(
                "{EXECUTIONS} does not reach back to its begin: older reports are not looked at"
            ));
        }
        while let Some(seen) = self.executions.next()? {
            let Ok(execution) = Execution::decode(seen.id, &seen.payload) else { continue };
            let seat = execution.order_id().strategy().0;
            // The ledger's orders are reported to nobody.
            let Some(&(place, topic)) = self.routes.get(&seat) else { continue };
            if is_ignored(&execution) {
                continue;
            }
            self.findings.checked += 1;
            self.one(place, (&seen, topic), &execution, (if is_begin { 0 } else { oldest }, settled))?;
        }
        // Refusals stand behind the last execution too.
        for told in &mut self.told {
            while told.next(&mut self.refused)?.is_some() {
                told.stream.next()?;
            }
        }
        Ok(())
    }

    /// Each refusal of the drop copy was reported as it stands there. `refusals`: those that are old enough.
    pub(super) fn compare_refusals(&mut self, refusals: &[(u64, OrderUpdate)]) {
        if !self.is_whole || !self.has_room() {
            return;
        }
        for (position, update) in refusals {
            let Some((place, topic)) = self.routes.get(&update.order_id.strategy().0) else { continue };
            let Some(told) = self.told.get(*place) else { continue };
            let key = (told.name.clone(), *topic, update.refused_request);
            self.findings.checked += 1;
            let told_of = self.refused.get(&key);
            if told_of != Some(&OrderUpdate { reported_up_to: 0, ..*update }) {
                let said = |update: &OrderUpdate| brief(&AnyMessage::OrderUpdate(*update));
                let found = format!("{}: {}", told.name, told_of.map_or("nothing".to_owned(), said));
                self.findings.differs(DROPS, *position, found, said(update));
            }
        }
    }

    /// No strategy holds td's reports up: what is refused is there.
    pub(super) fn has_room(&self) -> bool {
        !self.told.iter().any(|told| told.is_full)
    }

    fn one(
        &mut self,
        place: usize,
        (seen, topic): (&Seen, u32),
        execution: &Execution,
        (oldest, settled): (u64, u64),
    ) -> Result<(), Fault> {
        let Reports { findings, told, refused, .. } = self;
        let Some(told) = told.get_mut(place) else { return Ok(()) };
        loop {
            // Behind one that is not there yet the others come later.
            let next = if told.missing.1 > 0 { None } else { told.next(refused)? };
            let Some(next) = next else {
                told.missing.0.get_or_insert_with(|| seen.clone());
                told.missing.1 += 1;
                told.missing.2 += u64::from(seen.position <= settled);
                return Ok(());
            };
            let passes_on =
                Execution::decode(next.id, &next.payload).ok().and_then(|report| report.position());
            let at = passes_on.unwrap_or_default();
            let first = *told.first.get_or_insert(at);
            if at < seen.position {
                if at >= oldest {
                    let found = format!("{} in {}", said(&next), told.name);
                    findings.differs(
                        EXECUTIONS,
                        at,
                        found,
                        "no report twice, and none of what was not executed",
                    );
                }
                told.stream.next()?;
                continue;
            }
            if at > seen.position {
                if told.is_begin || seen.position > first {
                    let expected = format!("a report of it in {}, which passes over it", told.name);
                    findings.differs(EXECUTIONS, seen.position, said(seen), expected);
                }
                return Ok(());
            }
            let passed = execution.passed_on(seen.position);
            if Execution::decode(next.id, &next.payload).ok() != Some(passed) || next.topic != topic {
                let found = format!("{} in {}@{}", said(&next), told.name, next.position);
                findings.differs(EXECUTIONS, seen.position, found, said(seen));
            }
            told.stream.next()?;
            return Ok(());
        }
    }

    pub(super) fn finish(mut self, reach: &Reach) -> Findings {
        for told in &self.told {
            let (Some(first), count, due) = &told.missing else { continue };
            let name = &told.name;
            if *due > 0 && !told.is_full {
                let found = format!("{due} executions, from this one on, are not in {name}: {}", said(first));
                let expected = "a report of each: td has passed over them, unless the run's report says that they are lost";
                self.findings.differs(EXECUTIONS, first.position, found, expected);
            } else {
                let why = if told.is_full {
                    "it has no room, its strategy does not read"
                } else {
                    reach.why_not_yet()
                };
                self.findings.notes.push(format!(
                    "{count} executions not in {name} yet, from {EXECUTIONS}@{} on: {why}",
                    first.position
                ));
            }
        }
        self.findings
    }
}

impl Told<'_> {
    /// The next report that passes something on; refusals by td are kept.
    fn next(&mut self, refused: &mut Refused) -> Result<Option<Seen>, Fault> {
        loop {
            let Some(next) = self.stream.peek()?.cloned() else { return Ok(None) };
            let is_report = matches!(next.id, Fill::ID | OrderUpdate::ID);
            let update = (next.id == OrderUpdate::ID).then(|| OrderUpdate::decode(&next.payload));
            match update {
                Some(Ok(update)) if update.execution == 0 => {
                    let key = (self.name.clone(), next.topic, update.refused_request);
                    refused.insert(key, OrderUpdate { reported_up_to: 0, ..update });
                }
                _ if is_report => return Ok(Some(next)),
                _ => {}
            }
            self.stream.next()?;
        }
    }
}

/// td passes nothing on of a second request that it may have sent when it was killed: the first one works.
fn is_ignored(execution: &Execution) -> bool {
    match execution {
        Execution::Fill(fill) => fill.quantity.0 <= 0 || fill.instrument.0 == 0,
        Execution::Update(update) => {
            (update.status == OrderStatus::Rejected && update.reason == Reason::DuplicateOrder)
                || update.quantity.0 < 0
                || update.filled.0 < 0
                || update.remaining.0 < 0
        }
    }
}

/// Whether a reader that the writer waits for leaves little room.
fn is_full(source: &Source, name: &str) -> Result<bool, Stop> {
    let Source::Live(instance) = source else { return Ok(false) };
    let stat =
        Journal::open_read_only(instance.find_journal(name)).map_err(crate::failure::Failure::from)?.stat();
    let head = stat.head;
    let mut gated = stat.readers.iter().filter(|reader| reader.gated);
    Ok(gated.any(|reader| head.saturating_sub(reader.position) > stat.shape.capacity / 4 * 3))
}
