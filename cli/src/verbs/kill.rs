//! `colo kill` and `colo revive`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use journal::{Journal, LooseReader, ReadError};
use node::{Exit, InstanceDir, StopFlag};
use topology::DeskSection;
use wire::{
    AccountAction, AccountScope, CancelOrder, DROP_TAKEN, Execution, OrderId, OrderStatus, Reason, Request,
};

use super::account::args::{Kill, Revive, Signed};
use super::account::{By, Ends, Report, Waiting, change, send};
use super::instance::instance;
use crate::desk::{self, DROPS, ScopeArguments, Sent};
use crate::failure::Failure;

const TICK: Duration = Duration::from_millis(1);

pub(super) fn kill(arguments: &Kill) -> Result<u8, Failure> {
    // Before the entry: an interrupt ends the wait, and not the verb's words about what was done.
    let stop = StopFlag::install()?;
    let switched = switch(&arguments.scope, &arguments.signed, AccountAction::Kill)?;
    let Switched { instance, section, scope, mut report } = switched;
    let format = arguments.signed.place.format;
    report.accept_again();
    if report.has_killed() {
        let ends = Ending::begin(&instance, section.as_ref(), report.position(), scope)
            .and_then(|ending| ending.wait(arguments.wait, &stop));
        match ends {
            Ok(ends) => report.ends = Some(ends),
            Err(failure) => {
                // The kill stands.
                report.print(format)?;
                let message = format!("whether the orders under it have ended is not known: {failure}");
                return Err(Failure::new(Exit::Inconclusive, message));
            }
        }
    }
    report.print(format)
}

pub(super) fn revive(arguments: &Revive) -> Result<u8, Failure> {
    let switched = switch(&arguments.scope, &arguments.signed, AccountAction::Revive)?;
    switched.report.print(arguments.signed.place.format)
}

/// An entry about a kill switch, and what became of it.
struct Switched {
    instance: InstanceDir,
    section: Option<DeskSection>,
    scope: (AccountScope, u32),
    report: Report,
}

fn switch(scope: &ScopeArguments, signed: &Signed, action: AccountAction) -> Result<Switched, Failure> {
    let by = By::new(signed.who.as_deref(), &signed.why)?;
    let instance = instance(signed.place.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let (scope, subject) = scope.scope(&topology)?;
    let what = format!("{action} {}", desk::scope_name(scope, subject, Some(&topology)));
    let entry = Sent::new(&change(scope, subject, action, &by));
    let report = send(&instance, what, Some(&by), entry)?;
    Ok(Switched { instance, section: desk::section(&topology), scope: (scope, subject), report })
}

/// The orders under a kill, until they have ended.
struct Ending<'a> {
    instance: &'a InstanceDir,
    section: Option<&'a DeskSection>,
    reader: LooseReader,
    /// Everything before this position of the drop copy is in what is known.
    from: u64,
    /// How many orders there were; `None`: nobody knows.
    orders: Option<u64>,
    /// Those that work, with the reason of the last refusal of a cancel.
    left: BTreeMap<OrderId, Option<Reason>>,
    ended: u64,
    traded: u64,
    cancels: u64,
}

impl<'a> Ending<'a> {
    /// The orders that worked when the kill took effect at `position`. Without one, or where the desk is further already: those
    /// that must end still.
    fn begin(
        instance: &'a InstanceDir,
        section: Option<&'a DeskSection>,
        position: Option<u64>,
        (scope, subject): (AccountScope, u32),
    ) -> Result<Ending<'a>, Failure> {
        let following = desk::follow_to(instance, section, position.unwrap_or(u64::MAX))?;
        let desk = &following.follower.desk;
        let from = following.follower.contained.drops;
        let is_exact = position.is_none_or(|position| from == position + 1);
        let working = desk.working_in(scope, subject).into_iter().map(|(order, _)| order);
        let left: BTreeMap<_, _> =
            working.filter(|order| desk.has_to_end(*order)).map(|order| (order, None)).collect();
        let drops = Journal::open_read_only(instance.find_journal(DROPS))?;
        // Frames do not say where the next one begins: the last that is known is read once more.
        let reader = drops.observe(from.saturating_sub(1))?;
        let orders = is_exact.then_some(left.len() as u64);
        Ok(Ending { instance, section, reader, from, orders, left, ended: 0, traded: 0, cancels: 0 })
    }

    /// Waits until all have ended, time is over, or a person interrupts.
    fn wait(mut self, patience: Duration, stop: &StopFlag) -> Result<Ends, Failure> {
        let end = Instant::now().checked_add(patience);
        loop {
            self.look()?;
            if self.left.is_empty() || end.is_some_and(|end| Instant::now() >= end) {
                return Ok(self.ends(false));
            }
            if stop.is_set() {
                return Ok(self.ends(true));
            }
            std::thread::sleep(TICK);
        }
    }

    /// Takes what the drop copy says by now.
    fn look(&mut self) -> Result<(), Failure> {
        loop {
            match self.reader.read() {
                Ok(Some(frame)) if frame.position >= self.from && frame.topic == DROP_TAKEN => {
                    let (id, payload) = (frame.message_id, frame.payload);
                    let request = Request::decode(id, payload).ok();
                    let execution = Execution::decode(id, payload).ok();
                    request.into_iter().for_each(|request| self.request(&request));
                    execution.into_iter().for_each(|execution| self.execution(&execution));
                }
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(ReadError::Lapped(_)) => self.look_anew()?,
                Err(error) => return Err(Failure::new(Exit::Failed, format!("`{DROPS}`: {error}"))),
            }
        }
    }

    /// Some of the drop copy was overwritten before it was read: the desk says which orders must end still.
    fn look_anew(&mut self) -> Result<(), Failure> {
        let following = desk::follow(self.instance, self.section)?;
        let before = self.left.len();
        self.left.retain(|order, _| following.follower.desk.has_to_end(*order));
        self.ended += (before - self.left.len()) as u64;
        Ok(())
    }

    fn request(&mut self, request: &Request) {
        if let Request::Cancel(CancelOrder { order_id, .. }) = request
            && request.is_of_td()
            && self.left.contains_key(order_id)
        {
            self.cancels += 1;
        }
    }

    fn execution(&mut self, execution: &Execution) {
        let Execution::Update(update) = execution else { return };
        let Some(refusal) = self.left.get_mut(&update.order_id) else { return };
        if update.status.is_final() {
            self.left.remove(&update.order_id);
            self.ended += 1;
            self.traded += u64::from(update.status == OrderStatus::Filled);
        } else if update.status == OrderStatus::CancelRejected {
            *refusal = Some(update.reason);
        }
    }

    fn ends(&self, is_interrupted: bool) -> Ends {
        let mut by_reason: BTreeMap<Option<Reason>, u64> = BTreeMap::new();
        self.left.values().for_each(|reason| *by_reason.entry(*reason).or_default() += 1);
        Ends {
            orders: self.orders,
            ended: self.ended,
            working: self.left.len() as u64,
            filled: self.traded,
            cancels: self.cancels,
            waits: by_reason.into_iter().map(|(reason, orders)| Waiting::new(reason, orders)).collect(),
            is_interrupted,
        }
    }
}
