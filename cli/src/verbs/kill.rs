//! `colo kill` and `colo revive`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use journal::{Journal, ReadError};
use node::{Exit, InstanceDir};
use topology::DeskSection;
use wire::{AccountAction, AccountScope, CancelOrder, DROP_TAKEN, Message, OrderId};

use super::account::args::Kill;
use super::account::{By, Cancels, change, send};
use super::instance::instance;
use crate::desk::{self, DROPS, Sent};
use crate::failure::Failure;

/// So long td has for the cancels.
const PATIENCE: Duration = Duration::from_secs(1);
/// Without a cancel for so long there will be no more, where nobody knows how many there should be.
const SILENCE: Duration = Duration::from_millis(100);
const TICK: Duration = Duration::from_millis(1);

pub(super) fn kill(arguments: &Kill) -> Result<u8, Failure> {
    switch(arguments, AccountAction::Kill)
}

pub(super) fn revive(arguments: &Kill) -> Result<u8, Failure> {
    switch(arguments, AccountAction::Revive)
}

fn switch(arguments: &Kill, action: AccountAction) -> Result<u8, Failure> {
    let signed = &arguments.signed;
    let by = By::new(signed.who.as_deref(), &signed.why)?;
    let instance = instance(signed.place.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let (scope, subject) = arguments.scope.scope(&topology)?;
    let what = format!("{action} {}", desk::scope_name(scope, subject, Some(&topology)));
    let entry = Sent::new(&change(scope, subject, action, &by));
    let mut report = send(&instance, what, Some(&by), entry)?;
    if action == AccountAction::Kill
        && let Some(position) = report.position()
    {
        // A kill is done when it has taken effect; how many orders it met is told where it can be known.
        let wanted = worked(&instance, desk::section(&topology).as_ref(), position, (scope, subject));
        report.cancels = Some(count(&instance, position, wanted.ok())?);
    }
    report.print(signed.place.format)
}

/// The orders that worked when the kill fell.
fn worked(
    instance: &InstanceDir,
    section: Option<&DeskSection>,
    position: u64,
    (scope, subject): (AccountScope, u32),
) -> Result<BTreeSet<OrderId>, Failure> {
    let mut following = desk::follow_to(instance, section, position)?;
    if following.follower.contained.drops != position + 1 {
        return Err(Failure::new(Exit::Inconclusive, "the desk is further already"));
    }
    let orders = following.follower.desk.to_cancel(scope, subject);
    Ok(orders.into_iter().map(|cancel| cancel.order_id).collect())
}

/// The cancels behind the kill, until all that are wanted were sent, or time is over.
fn count(
    instance: &InstanceDir,
    position: u64,
    mut wanted: Option<BTreeSet<OrderId>>,
) -> Result<Cancels, Failure> {
    let orders = wanted.as_ref().map(|wanted| wanted.len() as u64);
    let mut reader = Journal::open_read_only(instance.find_journal(DROPS))?.observe(position)?;
    let (end, mut last, mut cancels) = (Instant::now() + PATIENCE, Instant::now(), 0);
    loop {
        match reader.read() {
            Ok(Some(frame)) if frame.message_id == CancelOrder::ID && frame.topic == DROP_TAKEN => {
                let Ok(cancel) = CancelOrder::decode(frame.payload) else { continue };
                let counts = wanted.as_mut().is_none_or(|wanted| wanted.remove(&cancel.order_id));
                cancels += u64::from(counts);
                last = Instant::now();
            }
            Ok(Some(_)) | Err(ReadError::Lapped(_)) => {}
            Ok(None) => {
                let is_done = match &wanted {
                    Some(wanted) => wanted.is_empty(),
                    None => last.elapsed() >= SILENCE,
                };
                if is_done || Instant::now() >= end {
                    return Ok(Cancels { orders, cancels });
                }
                std::thread::sleep(TICK);
            }
            Err(error) => return Err(Failure::new(Exit::Failed, format!("`{DROPS}`: {error}"))),
        }
    }
}
