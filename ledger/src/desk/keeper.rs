//! The process part: journals and the shared memory of the accounts.

use accounts::{Anomaly, Applied, Desk, Followed, Follower, Options, Touched};
use node::{Accounts, Context, Counter, Frame, InputId, Node, Output, Quiescence, RunError, WriteError};
use topology::DeskSection;
use wire::fold::desk_parts;
use wire::{
    DeskPart, Fill, Instrument, InstrumentId, Mark, Message, Nanos, NewOrder, OrderUpdate, Price, StrategyId,
};

use super::cadence::Cadence;
use super::guard::{Guard, Listed, Wanted};
use super::pacer::Pacer;
use super::publish::Changed;
use super::restore;
use super::surveys::Surveys;
use crate::limits::{LINE, RETRY, needed, stays_whole};

/// Accounts beside those that the file has room for: of services.
const MORE_SLOTS: u32 = 8;
/// Accounts are shown at most so often: a busy account changes many times meanwhile.
const SHOW_EVERY: u64 = 500_000;
/// Showing accounts takes at most this part of the time: a tenth.
const PART_OF_TIME: u64 = 10;

/// Whether a frame of the drop copy says that an order has ended.
fn is_end(message_id: u16, payload: &[u8]) -> bool {
    message_id == OrderUpdate::ID && OrderUpdate::decode(payload).is_ok_and(|update| update.status.is_final())
}

/// The accounts, as the ledger keeps them.
pub(crate) struct Keeper {
    pub(crate) drops: InputId,
    follower: Follower,
    changed: Changed,
    pacer: Pacer,
    guard: Guard,
    listed: Listed,
    cadence: Cadence,
    shown: Accounts,
    desk: Output,
    risk: Output,
    /// The journal of `risk`, and the seat of td, for how far td has read it.
    asked: Quiescence,
    td: u32,
    /// The drop copy's journal, for its head.
    journal: Quiescence,
    /// The drop copy is read before this position.
    read: u64,
    /// Where the drop copy begins that the first snapshot does not contain.
    begin: u64,
    /// Frames from here on are kept, once the last snapshot has found room.
    kept_next: Option<u64>,
    /// Everything happens with the frame that causes it, and no clock is asked.
    lock_step: bool,
    surveys: Surveys,
    next_show: u64,
    /// Memory of the last snapshot, for the next one.
    snapshot: Vec<u8>,
    /// Bytes that `ledger.desk` needs, where a snapshot takes too much of it.
    needs: u64,
    is_crowded: bool,
}

impl Keeper {
    /// Restored if there was a predecessor. `seats`: how many may have an account of their own.
    pub(crate) fn new(
        node: &mut Node,
        section: &DeskSection,
        interval: u64,
        seats: u32,
    ) -> Result<Keeper, RunError> {
        let failed = |error: &dyn std::fmt::Display| RunError::failed(format!("accounts: {error}"));
        let (desk, risk) = (node.take_output("desk")?, node.take_output("risk")?);
        let drops = node.input("drops")?;
        let options = Options { remembered: section.config.remembered };
        let seat = u16::try_from(node.assignment().seat).map(StrategyId).map_err(|error| failed(&error))?;
        let mut guard = Guard::new(seat, risk.epoch());
        let mut follower = Follower::new(options);
        let lock_step = node.assignment().deterministic;
        let every = section.config.mark_every.as_nanos() as u64;
        let mut pacer = Pacer::new(if lock_step { 0 } else { every });
        let td = node.inputs().get(drops.0).map_or(0, |input| input.peer_seat);
        let asked = Quiescence::watch(node.instance(), |journal| journal == risk.journal)
            .map_err(|error| failed(&error))?;
        if node.assignment().generation > 1 {
            follower = restore::follower(node, drops, options)?;
            let read = asked.journals().first().map_or(0, |journal| journal.finished_by(td));
            restore::sent(node, (&risk.journal, read), &mut guard, &mut pacer, &follower)?;
        }
        follower.desk.instruments().into_iter().for_each(|instrument| pacer.in_play(instrument));
        let slots = section.config.most_accounts.saturating_add(seats).saturating_add(MORE_SLOTS);
        let input = node.inputs().get(drops.0);
        let name = input.map_or("", node::Input::name).to_owned();
        let begin = input.map_or(0, node::Input::position);
        Ok(Keeper {
            drops,
            changed: Changed::all(),
            pacer,
            guard,
            listed: Listed::default(),
            cadence: Cadence::new(input.map_or(u64::MAX, node::Input::capacity), interval),
            shown: Accounts::keep(&node.handle(), slots).map_err(|error| failed(&error))?,
            desk,
            risk,
            asked,
            td,
            journal: Quiescence::watch(node.instance(), |journal| journal == name)
                .map_err(|error| failed(&error))?,
            read: begin,
            begin,
            kept_next: None,
            lock_step,
            surveys: Surveys::new(every, follower.desk.count() > 0),
            next_show: 0,
            snapshot: Vec::new(),
            needs: 0,
            is_crowded: false,
            follower,
        })
    }

    /// Begins with a snapshot, so that there is one, and what follows it is kept.
    pub(crate) fn start(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.show();
        self.snapshot(context)
    }

    /// The next frame of the drop copy is at this position.
    pub(crate) fn reads(&mut self, position: u64) {
        self.read = position;
    }

    /// The market had this head when the ledger was started: marks wait until it is read.
    pub(crate) fn market_at_start(&mut self, head: u64) {
        self.pacer.hold_until(head);
    }

    /// The market is read up to this position.
    pub(crate) fn market_read(&mut self, position: u64) {
        self.pacer.market_read(position);
    }

    /// md has listed an instrument.
    pub(crate) fn listed(&mut self, instrument: &Instrument) {
        self.listed.set(instrument);
    }

    /// The price of an instrument may have changed.
    pub(crate) fn price(
        &mut self,
        context: &mut Context,
        instrument: InstrumentId,
        price: Price,
    ) -> Result<(), RunError> {
        if price.is_some() {
            self.pacer.price(instrument, price);
            if self.lock_step {
                if self.guard.is_busy() {
                    // The market is the only clock that there is: with it, what was refused is tried again.
                    self.survey(context);
                }
                self.send(context)?;
            }
        }
        Ok(())
    }

    /// Steps in which it looks ahead in the drop copy.
    pub(crate) fn looks_ahead(&self) -> u32 {
        if self.follower.desk.looks_ahead() { Desk::STEPS } else { 0 }
    }

    /// A frame of the drop copy will come.
    pub(crate) fn ahead(&self, step: u32, frame: &Frame<'_>) {
        self.follower.ahead(frame.message_id, frame.payload, step);
    }

    /// A frame of the drop copy.
    pub(crate) fn frame(&mut self, context: &mut Context, frame: &Frame<'_>) -> Result<(), RunError> {
        let at = (frame.position, frame.topic, Nanos(frame.time));
        let followed = match self.follower.frame(at, frame.message_id, frame.payload) {
            Ok(followed) => followed,
            Err(error) => {
                context.add(Counter::Anomalies, 1);
                log::error!("drop copy: {error}");
                Followed { touched: Touched::All, applied: None, anomaly: None }
            }
        };
        if let Some(anomaly) = followed.anomaly {
            context.add(Counter::Anomalies, 1);
            if anomaly == Anomaly::Unbooked {
                log::error!(
                    "drop copy at position {}: a fill of an order that is not known any more is in no account: set \
                     desk.remembered higher, and book it by hand",
                    frame.position
                );
            } else {
                log::debug!("drop copy at position {}: {anomaly:?}", frame.position);
            }
        }
        self.guard.seen(frame.message_id, frame.payload);
        self.changed.add(followed.touched);
        if frame.message_id == NewOrder::ID
            && let Ok(order) = NewOrder::decode(frame.payload)
        {
            self.pacer.in_play(order.instrument);
        }
        let is_marked =
            matches!(frame.message_id, Mark::ID | Fill::ID) && followed.touched != Touched::Nothing;
        // What was asked for has come back, or an order has ended that stood in the way.
        let is_step =
            self.guard.is_busy() && (followed.applied.is_some() || is_end(frame.message_id, frame.payload));
        if is_step {
            self.surveys.step();
        }
        if is_marked || is_step || followed.applied.is_some() {
            self.surveys.news();
            if self.lock_step {
                self.survey(context);
            }
        }
        if self.lock_step {
            // Before the cursor says that the frame is handled: the next event waits for that.
            self.send(context)?;
            self.show();
        }
        let is_settled = matches!(followed.applied, Some(Applied::Settled(_)));
        if is_settled {
            log::info!("day {} is settled", self.follower.desk.settled_day());
        }
        if self.cadence.frame(frame.position) || is_settled {
            self.show();
            self.snapshot(context)?;
        }
        Ok(())
    }

    /// Between two rounds: tries waiting snapshots again, sends gathered requests, and does due work.
    pub(crate) fn turn(&mut self, context: &mut Context) -> Result<(), RunError> {
        // td waits for room in the drop copy until the snapshot is whole: no frame of it would bring us here again.
        self.write_waiting(context)?;
        if !self.lock_step
            && let Some(due) = self.surveys.deadline(self.guard.is_busy())
            && self.is_caught_up()
        {
            let now = context.now();
            if now >= due {
                self.survey(context);
                self.surveys.made(now, context.now());
                if self.guard.awaits_kills()
                    && let Some(asked) = self.asked.journals().first()
                {
                    self.guard.read(asked.finished_by(self.td));
                }
            }
            if let Some(next) = self.surveys.deadline(self.guard.is_busy()) {
                context.wake_at(next);
            }
        }
        self.send(context)?;
        if !self.changed.is_empty() {
            let now = context.now();
            if now >= self.next_show {
                self.show();
                let took = context.now().saturating_sub(now);
                self.next_show = now + SHOW_EVERY.max(took.saturating_mul(PART_OF_TIME));
            } else {
                context.wake_at(self.next_show);
            }
        }
        if self.cadence.is_due(context.now()) {
            self.snapshot(context)?;
        }
        if let Some(deadline) = self.cadence.deadline() {
            context.wake_at(deadline);
        }
        Ok(())
    }

    /// What was asked for on a state of long ago would be wrong.
    fn is_caught_up(&self) -> bool {
        self.journal.journals().first().is_none_or(|journal| self.read >= journal.head())
    }

    fn survey(&mut self, context: &Context) {
        for call in self.guard.survey(&self.follower.desk, &self.listed) {
            context.add(Counter::MarginCalls, 1);
            let missing = wire::WideMoney::from_wide(call.missing);
            match call.owner {
                Some(owner) => {
                    log::warn!("margin call: the own account of strategy in seat {} lacks {missing}", owner.0)
                }
                None => log::warn!("margin call: account {} lacks {missing}", call.account),
            }
        }
    }

    /// Kills and forced orders, then marks, as far as there is room.
    fn send(&mut self, context: &mut Context) -> Result<(), RunError> {
        while let Some(wanted) = self.guard.next().copied() {
            let sent = match &wanted {
                Wanted::Kill(change) | Wanted::Freeze(change) => self.risk.send(0, change),
                Wanted::Cancel(cancel) => self.risk.send(0, cancel),
                Wanted::Close(order) => self.risk.send(0, order),
            };
            match sent {
                Ok(written) => self.guard.sent(written.position),
                Err(WriteError::Full { .. }) => {
                    context.wake_at(context.now() + RETRY);
                    return Ok(());
                }
                Err(source) => return Err(self.write_error(source)),
            }
            match wanted {
                Wanted::Kill(kill) => {
                    log::warn!(
                        "{:?} {} has lost more than it may in a day: killed",
                        kill.scope,
                        kill.subject
                    );
                }
                Wanted::Freeze(change) => {
                    log::warn!("account {}: {}, {}", change.subject, change.action, change.why);
                }
                Wanted::Cancel(cancel) => {
                    log::warn!("order {} is to end: its account is closed by force", cancel.order_id);
                }
                Wanted::Close(order) => {
                    context.add(Counter::ForcedOrders, 1);
                    log::warn!(
                        "account {}: {} {} of instrument {} by force, order {}",
                        order.account,
                        order.side,
                        order.quantity,
                        order.instrument,
                        order.order_id
                    );
                }
            }
        }
        let now = context.now();
        while let Some(mark) = self.pacer.next(now) {
            match self.risk.send(0, &mark) {
                Ok(_) => self.pacer.sent(&mark, now),
                Err(WriteError::Full { .. }) => {
                    context.add(Counter::Full, 1);
                    self.pacer.skip(&mark, now, RETRY);
                    break;
                }
                Err(source) => return Err(self.write_error(source)),
            }
        }
        if let Some(deadline) = self.pacer.deadline() {
            context.wake_at(deadline);
        }
        Ok(())
    }

    fn write_error(&self, source: WriteError) -> RunError {
        RunError::Write { journal: self.risk.journal.clone(), source }
    }

    /// Shows what has changed to whoever looks.
    fn show(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        let (shown, mut has_room) = (&self.shown, true);
        self.changed.show(&self.follower, |slot, state| has_room &= shown.set(slot, &state));
        if !has_room && !std::mem::replace(&mut self.is_crowded, true) {
            log::error!(
                "there are {} accounts, and {} slots for them: those above cannot be seen; set desk.most_accounts higher",
                self.follower.desk.count(),
                self.shown.slots()
            );
        }
    }

    /// A snapshot of all accounts; none while the one before still waits for room.
    fn snapshot(&mut self, context: &mut Context) -> Result<(), RunError> {
        if !self.write_waiting(context)? {
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.snapshot);
        self.follower.write_snapshot(&mut bytes);
        let drops = self.follower.contained.drops;
        let frame = node::frame_bytes(DeskPart::SIZE as u64);
        let written = desk_parts(drops, &bytes).count() as u64 * frame;
        self.demand_room(context, written);
        // One that could not be read whole is not written, so that the last one stays.
        if stays_whole(written, self.desk.capacity) {
            for part in desk_parts(drops, &bytes) {
                self.desk
                    .post_bytes(DeskPart::ID, 0, part.bytes())
                    .map_err(|source| RunError::Write { journal: self.desk.journal.clone(), source })?;
            }
        }
        let position = drops.max(self.begin);
        self.cadence.made(position, bytes.len() as u64, context.now());
        self.snapshot = bytes;
        // Its last frame is kept too: a cursor stands at the begin of one.
        self.kept_next = Some(position / LINE * LINE);
        self.write_waiting(context)?;
        Ok(())
    }

    /// Reports that a snapshot takes too much of the ring, or no longer does: the next one must not overwrite it before it is
    /// whole.
    fn demand_room(&mut self, context: &Context, bytes: u64) {
        let needs = needed(bytes, self.desk.capacity);
        if needs > self.needs {
            let outcome = if stays_whole(bytes, self.desk.capacity) {
                "if the ledger or td is killed, it may find no whole snapshot and not start again"
            } else {
                "it is not written: if the ledger or td is killed, it does not start again once the drop copy behind the last one \
                 is overwritten"
            };
            log::error!(
                "a snapshot of the accounts takes {bytes} bytes, more than a quarter of `{}`: {outcome}; set `capacity` of \
                 [journal.{}] to at least {} KiB",
                self.desk.journal,
                self.desk.journal,
                needs / 1_024
            );
        }
        if needs != self.needs {
            context.handle().set(Counter::DeskNeeds, needs);
            self.needs = needs;
        }
    }

    /// Writes what waits for room, which only a recorder leaves to be desired. False while something still waits.
    pub(crate) fn write_waiting(&mut self, context: &mut Context) -> Result<bool, RunError> {
        match self.desk.flush() {
            Ok(()) => {
                if let Some(kept) = self.kept_next.take() {
                    context.keep(self.drops, kept);
                }
                Ok(true)
            }
            Err(WriteError::Full { .. }) => {
                context.wake_at(context.now() + RETRY);
                Ok(false)
            }
            Err(source) => Err(RunError::Write { journal: self.desk.journal.clone(), source }),
        }
    }

    /// The last states, and the last snapshot.
    pub(crate) fn stop(&mut self, context: &mut Context) -> Result<(), RunError> {
        self.show();
        self.snapshot(context)
    }
}
