//! The accounts' journals: entries and what the ledger asks for come in, the drop copy goes out.

use std::collections::BTreeMap;

use accounts::{BY_FORCE, Entry, Follower, Kill, Options, Rates};
use node::{Context, Counter, Frame, InputId, Node, OpenError, Posted, RunError};
use topology::{DeskSection, TdSection, desk};
use wire::{
    AccountAction, AccountChange, AccountId, AccountScope, AnyMessage, DROP_TAKEN, EntryResult, Instrument,
    Message, Nanos, StrategyId,
};

use super::Td;
use super::copies::taken;
use super::drops::Drops;
use super::overwritten::Overwritten;
use super::recall::Trace;
use super::refused::RefusedBefore;
use super::settled::Pending;
use super::stale::{Newest, STALE};
use crate::Decision;
use crate::desk::{Allowed, Gate};

// What the check of a platform file lets pass is taken.
const _: () = assert!(desk::MOST_AMOUNT == accounts::MOST);

/// What td has to do with accounts.
#[derive(Debug)]
pub(super) struct Accounts {
    pub(super) drops: Drops,
    entries: InputId,
    risk: InputId,
    ledger: StrategyId,
    section: DeskSection,
    /// Name and seat of each strategy, and the accounts that it may trade for.
    strategies: Vec<(String, StrategyId, Allowed)>,
    /// The state of a predecessor, until td opens.
    restored: Option<Follower>,
    /// The drop copy goes back to its begin.
    is_begin: bool,
    /// An entry at the end of the drop copy that has no result there, until the next entry is read.
    unanswered: Option<Unanswered>,
    /// Instruments that were listed before td opened.
    listed: Vec<Instrument>,
    /// Switches that have fallen, as the drop copy says already: what works under them is to be cancelled.
    pub(super) fallen: Vec<Kill>,
    /// The last marks that the ledger has sent.
    marks: Newest,
    is_open: bool,
}

impl Accounts {
    /// `None` where no accounts are kept.
    pub(super) fn open(node: &mut Node, section: &TdSection) -> Result<Option<Accounts>, RunError> {
        let Some(desk) = section.desk.clone() else { return Ok(None) };
        let risk = node.input("risk")?;
        let ledger = node.inputs().get(risk.0).map_or(0, |input| input.peer_seat);
        let drops = Drops::new(node.take_output("drops")?);
        let restored = match node.assignment().generation {
            0 | 1 => Restored::default(),
            _ => restore(node, &drops, Options { remembered: desk.config.remembered })?,
        };
        let strategies = section.strategies.iter().map(|strategy| {
            let listed = strategy.accounts.listed().iter().map(|account| AccountId(*account)).collect();
            let allowed = if strategy.accounts.is_all() { Allowed::All } else { Allowed::Listed(listed) };
            (strategy.name.clone(), StrategyId(strategy.seat), allowed)
        });
        Ok(Some(Accounts {
            drops,
            entries: node.input("entries")?,
            risk,
            ledger: StrategyId(ledger as u16),
            strategies: strategies.collect(),
            section: desk,
            restored: restored.follower,
            is_begin: restored.is_begin,
            unanswered: restored.unanswered,
            listed: Vec::new(),
            fallen: Vec::new(),
            marks: Newest::open(node.instance(), node.inputs().get(risk.0).map_or("", node::Input::name)),
            is_open: false,
        }))
    }

    /// True for the inputs that are about accounts.
    pub(super) fn reads(&self, input: InputId) -> bool {
        input == self.entries || input == self.risk
    }

    /// What a predecessor has refused, of what is read again.
    pub(super) fn refused_before(&self, node: &Node) -> Result<RefusedBefore, RunError> {
        let inputs = node.inputs().iter().filter(|input| matches!(input.role.as_str(), "orders" | "risk"));
        RefusedBefore::read(node.instance(), self.drops.journal(), inputs).map_err(|error| {
            RunError::failed(format!("cannot take up the refusals of the process before: {error}"))
        })
    }

    /// The executions before `before` that their owners have not been notified of, from the drop copy.
    pub(super) fn overwritten(
        &self,
        node: &Node,
        traces: &BTreeMap<StrategyId, Trace>,
        before: u64,
    ) -> Result<Overwritten, OpenError> {
        Overwritten::read(node.instance(), (self.drops.journal(), self.is_begin), traces, before)
    }

    /// What the ledger asks for.
    pub(super) fn risk(&self) -> InputId {
        self.risk
    }

    pub(super) fn is_ledger(&self, seat: StrategyId) -> bool {
        seat == self.ledger
    }

    fn gate(&self, follower: Follower) -> Gate {
        let mut gate = Gate::new(follower, self.section.config.most_accounts);
        for (_, strategy, allowed) in &self.strategies {
            gate.allow(*strategy, allowed.clone());
        }
        gate.force_by(self.ledger);
        gate
    }

    /// The gate with a predecessor's state.
    pub(super) fn resumed(&mut self) -> Result<Gate, RunError> {
        let follower = self.restored.take();
        let follower =
            follower.ok_or_else(|| RunError::failed("the accounts' state was not read".to_owned()))?;
        Ok(self.gate(follower))
    }

    /// The entries with which the accounts begin.
    fn opening(&self) -> Result<Vec<AnyMessage>, RunError> {
        let mut accounts = self.section.accounts.clone();
        if let Some(file) = &self.section.config.file {
            accounts.extend(desk::read_accounts(std::path::Path::new(file)).map_err(RunError::failed)?);
        }
        let seat_of =
            |name: &str| self.strategies.iter().find(|(known, ..)| known == name).map(|(_, seat, _)| *seat);
        Ok(desk::opening(&self.section.config, &accounts, seat_of))
    }
}

/// The id and payload of an entry that is the last frame of the drop copy. A td of before entries and results were one commit may
/// have died between the two: the entry counts, and no result says which one it was.
type Unanswered = (u16, Vec<u8>);

/// What a predecessor left in the drop copy.
#[derive(Default)]
struct Restored {
    /// The accounts as of its end.
    follower: Option<Follower>,
    unanswered: Option<Unanswered>,
    /// It goes back to its begin.
    is_begin: bool,
}

fn restore(node: &Node, drops: &Drops, options: Options) -> Result<Restored, RunError> {
    let failed =
        |error: &dyn std::fmt::Display| RunError::failed(format!("cannot take up the accounts: {error}"));
    let snapshot = node::last_desk(node.instance()).map_err(|error| failed(&error))?;
    let has_snapshot = snapshot.is_some();
    let mut follower = match snapshot {
        Some(bytes) => Follower::restore(&bytes).map_err(|error| failed(&error))?,
        None => Follower::new(options),
    };
    let from = has_snapshot.then_some(follower.contained.drops);
    let (mut again, mut faults) = (0_u64, 0_u64);
    let whole = node::read_whole(node.instance(), drops.journal(), from, |frame| {
        again += 1;
        let place = (frame.position, frame.topic, Nanos(frame.time));
        if let Err(error) = follower.frame(place, frame.message_id, frame.payload) {
            faults += 1;
            log::error!("{}: {error}", drops.journal());
        }
    })
    .map_err(|error| failed(&error))?;
    if !whole {
        return Err(failed(
            &"the drop copy goes back neither to the last snapshot of the accounts nor to its begin",
        ));
    }
    log::info!(
        "accounts taken up where td was: {again} frames of the drop copy read again, {faults} do not fit"
    );
    let (mut last, mut held, mut oldest) = (None, 0_u64, None);
    node::read_held(node.instance(), drops.journal(), None, |frame| {
        last = Some((frame.message_id, frame.payload.to_vec()));
        held += 1;
        oldest.get_or_insert(Nanos(frame.time));
    })
    .map_err(|error| failed(&error))?;
    let now = Nanos(node.handle().now());
    let is_begin = held >= follower.contained.frames;
    let unknown_before = (!is_begin).then(|| oldest.unwrap_or(now));
    let mut rates = Rates::new(&mut follower.desk, unknown_before, now);
    node::read_held(node.instance(), drops.journal(), None, |frame| {
        rates.frame((frame.topic, Nanos(frame.time)), frame.message_id, frame.payload);
    })
    .map_err(|error| failed(&error))?;
    let is_entry = |(id, payload): &Unanswered| *id != EntryResult::ID && Entry::decode(*id, payload).is_ok();
    Ok(Restored { follower: Some(follower), unanswered: last.filter(is_entry), is_begin })
}

/// An entry of the platform file in words: its kind, and what it is about.
fn describe(message: &AnyMessage) -> String {
    let kind = message.name();
    let of_scope = |scope: AccountScope, subject: u32| match scope {
        AccountScope::Platform => "the platform".to_owned(),
        scope => format!("{scope} {subject}"),
    };
    let of_account = |account: AccountId| match account {
        AccountId::OWN => "all accounts".to_owned(),
        account => format!("account {account}"),
    };
    match message {
        AnyMessage::AccountOpen(open) => format!("{kind} of account {}", open.account),
        AnyMessage::AccountChange(change) => {
            format!("{kind} {} of {}", change.action, of_scope(change.scope, change.subject))
        }
        AnyMessage::AccountLimit(limit) => {
            format!("{kind} {} of {}", limit.limit, of_scope(limit.scope, limit.subject))
        }
        AnyMessage::FeeRule(rule) => format!("{kind} {} of {}", rule.charge, of_account(rule.account)),
        AnyMessage::MarginRule(rule) => format!("{kind} of {}", of_account(rule.account)),
        AnyMessage::CurrencyRate(rate) => format!("{kind} of {}", rate.currency),
        AnyMessage::ContractTerms(terms) => format!("{kind} of {}", terms.symbol),
        _ => kind.to_owned(),
    }
}

impl Td {
    /// Terms of an instrument that md has listed. Those that come before td opens wait for the first entries.
    pub(super) fn list_terms(&mut self, instrument: &Instrument) -> Result<(), String> {
        let Some(accounts) = &mut self.accounts else { return Ok(()) };
        if !accounts.is_open {
            accounts.listed.push(*instrument);
            return Ok(());
        }
        if self.gateway.accounts().is_some_and(|gate| gate.has_terms(instrument)) {
            return Ok(());
        }
        let terms = desk::terms(&accounts.section.config, &accounts.section.market, instrument);
        self.take_entry(&AnyMessage::ContractTerms(terms))
    }

    /// Opens the accounts, or goes on with those of a predecessor.
    pub(super) fn open_accounts(&mut self) -> Result<(), RunError> {
        let Some(accounts) = &mut self.accounts else { return Ok(()) };
        accounts.is_open = true;
        let listed = std::mem::take(&mut accounts.listed);
        let ledger = accounts.ledger;
        if self.gateway.accounts().is_none() {
            let options = Options { remembered: accounts.section.config.remembered };
            let gate = accounts.gate(Follower::new(options));
            self.gateway.keep_accounts(gate);
        }
        let contained = self.gateway.accounts().map(|gate| gate.follower().contained).unwrap_or_default();
        if !contained.is_opened {
            // A predecessor may have been killed in the middle of it.
            for entry in accounts.opening()?.iter().skip(contained.frames as usize) {
                self.take_entry(entry).map_err(|what| {
                    RunError::failed(format!("the accounts of the platform file cannot be opened: {what}"))
                })?;
            }
            let opened = EntryResult { entry: 0, refusal: 0, about: 0 };
            self.copy(&[taken(&AnyMessage::EntryResult(opened))], None);
        }
        let limits = crate::Limits::NONE;
        self.gateway.strategy_started(ledger, limits).map_err(|error| RunError::failed(error.to_string()))?;
        for instrument in &listed {
            self.list_terms(instrument).map_err(RunError::failed)?;
        }
        // What a predecessor could not cancel.
        let cancels = self.gateway.cancel_killed();
        self.cancel(cancels)?;
        for (scope, subject) in self.gateway.killed() {
            self.cancel_scope(scope, subject)?;
        }
        self.kill_fallen()
    }

    /// Takes an entry of td's own, and copies it.
    fn take_entry(&mut self, message: &AnyMessage) -> Result<(), String> {
        let entry = Entry::decode(message.id(), message.bytes()).map_err(|refusal| refusal.to_string())?;
        let Some(gate) = self.gateway.accounts_mut() else { return Ok(()) };
        gate.entry(&entry).map_err(|refusal| format!("{}: {refusal}", describe(message)))?;
        self.copy(&[taken(message)], None);
        Ok(())
    }

    /// A frame of the entries, or of the ledger.
    pub(super) fn account_frame(
        &mut self,
        context: &Context,
        input: InputId,
        frame: &Frame<'_>,
    ) -> Result<(), RunError> {
        let is_entry = self.accounts.as_ref().is_some_and(|accounts| accounts.entries == input);
        if is_entry {
            self.entry(context, frame)?;
        } else {
            self.risk(context, input, frame)?;
        }
        if !self.is_copied() {
            self.unsettled.add(input, Pending::Copy);
        }
        self.kill_fallen()
    }

    fn entry(&mut self, context: &Context, frame: &Frame<'_>) -> Result<(), RunError> {
        let Some(gate) = self.gateway.accounts_mut() else { return Ok(()) };
        if frame.position <= gate.follower().contained.entry {
            return Ok(());
        }
        let unanswered = self.accounts.as_mut().and_then(|accounts| accounts.unanswered.take());
        let is_taken =
            unanswered.is_some_and(|(id, payload)| id == frame.message_id && payload == frame.payload);
        if is_taken {
            log::warn!(
                "entry at position {} of desk.entries was taken, and has no result yet",
                frame.position
            );
            let result = EntryResult { entry: frame.position, refusal: 0, about: 0 };
            self.copy(&[taken(&AnyMessage::EntryResult(result))], None);
            return Ok(());
        }
        // By the time of the entry, so that a successor decides the same.
        let taken = Entry::decode(frame.message_id, frame.payload)
            .and_then(|entry| gate.entry_of_client(&entry, Nanos(frame.time)));
        let (refusal, about) = match &taken {
            Ok(_) => (0, 0),
            Err(refusal) => (refusal.number(), refusal.about()),
        };
        let result = EntryResult { entry: frame.position, refusal, about };
        let result = Posted { topic: DROP_TAKEN, message_id: EntryResult::ID, payload: result.bytes() };
        match &taken {
            Ok(_) => {
                self.entered();
                let (message_id, payload) = (frame.message_id, frame.payload);
                self.copy(&[Posted { topic: DROP_TAKEN, message_id, payload }, result], None);
                log::info!("entry at position {} of desk.entries taken", frame.position);
            }
            Err(refusal) => {
                self.copy(&[result], None);
                context.add(Counter::Malformed, u64::from(*refusal == accounts::Refusal::Malformed));
                log::warn!("entry at position {} of desk.entries refused: {refusal}", frame.position);
            }
        }
        match AccountChange::decode(frame.payload) {
            // The switch has fallen already: what the market has refused since is cancelled again, without a pause.
            Ok(change)
                if frame.message_id == AccountChange::ID
                    && change.action == AccountAction::Kill
                    && taken == Err(accounts::Refusal::Already) =>
            {
                self.cancel_scope(change.scope, change.subject)
            }
            _ => Ok(()),
        }
    }

    /// A mark, a kill, an account that is frozen while it is closed by force, or a cancel or an order that does so.
    fn risk(&mut self, context: &Context, input: InputId, frame: &Frame<'_>) -> Result<(), RunError> {
        let Some(accounts) = &mut self.accounts else { return Ok(()) };
        let ledger = accounts.ledger;
        let Some(gate) = self.gateway.accounts_mut() else { return Ok(()) };
        match AnyMessage::decode(frame.message_id, frame.payload) {
            Ok(AnyMessage::Mark(mark))
                if self.batches.is_none()
                    && context.now().saturating_sub(frame.time) > STALE
                    && accounts.marks.is_behind(mark.instrument, frame.position) =>
            {
                Ok(())
            }
            Ok(message @ AnyMessage::Mark(mark)) => {
                // A predecessor may have taken it already.
                if gate.mark(&mark) {
                    self.copy(&[taken(&message)], None);
                }
                Ok(())
            }
            Ok(message @ AnyMessage::AccountChange(change)) if change.action == AccountAction::Kill => {
                // It may have fallen here already.
                if gate.entry(&Entry::Change(change)).is_ok() {
                    log::warn!("killed by the ledger: {:?} {}, {}", change.scope, change.subject, change.why);
                    self.entered();
                    self.copy(&[taken(&message)], None);
                }
                Ok(())
            }
            Ok(message @ AnyMessage::AccountChange(change))
                if BY_FORCE == [change.who.as_str(), change.why.as_str()]
                    && matches!(change.action, AccountAction::Freeze | AccountAction::Unfreeze) =>
            {
                // It may be so already: the ledger asks again until it sees it.
                if gate.entry(&Entry::Change(change)).is_ok() {
                    log::warn!(
                        "by the ledger: {} of account {}, {}",
                        change.action,
                        change.subject,
                        change.why
                    );
                    self.copy(&[taken(&message)], None);
                }
                Ok(())
            }
            Ok(AnyMessage::CancelOrder(cancel)) => {
                let cancel = self.gateway.cancel_one(&cancel);
                context.add(Counter::Cancels, u64::from(cancel.is_some()));
                self.cancel(cancel.into_iter().collect())
            }
            Ok(AnyMessage::NewOrder(order)) => {
                if self.refused_before.take(ledger, frame).is_some() {
                    return Ok(());
                }
                context.add(Counter::Orders, 1);
                match self.gateway.take_at(ledger, frame.message_id, order.bytes(), Nanos(context.now())) {
                    Decision::Send(request) => {
                        self.send(request.message_id(), request.bytes())?;
                        self.drop_request(&request);
                    }
                    Decision::Answer(update) => {
                        log::error!("an order that closes by force is refused: {}", update.reason.as_str());
                        self.drop_refusal(input, frame, &update);
                    }
                    Decision::Repeat(_) | Decision::Drop => {}
                }
                Ok(())
            }
            _ => {
                context.add(Counter::Malformed, 1);
                Ok(())
            }
        }
    }

    /// Switches that have fallen by an entry: the entry says so in the drop copy.
    fn entered(&mut self) {
        let kills = self.gateway.take_kills();
        if let Some(accounts) = &mut self.accounts {
            accounts.fallen.extend(kills);
        }
    }

    /// Cancels what works under the switches that have fallen since the last call. The drop copy has them by now; if td is
    /// killed in between, a successor cancels what works under every switch that it finds fallen.
    pub(super) fn kill_fallen(&mut self) -> Result<(), RunError> {
        if self.gateway.has_kills() {
            self.copy(&[], None);
        }
        match &mut self.accounts {
            Some(accounts) if !accounts.fallen.is_empty() => self.fall(),
            _ => Ok(()),
        }
    }

    #[cold]
    fn fall(&mut self) -> Result<(), RunError> {
        let fallen = self.accounts.as_mut().map(|accounts| std::mem::take(&mut accounts.fallen));
        for kill in fallen.unwrap_or_default() {
            self.cancel_scope(kill.scope, kill.subject)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::config::{AccountConfig, Decimal, DeskConfig, DeskLimits};

    #[test]
    fn entries_of_the_platform_file_are_told_by_kind_and_account() {
        let limits = DeskLimits { loss: Some(Decimal(5)), ..DeskLimits::default() };
        let config = DeskConfig { limits: limits.clone(), ..DeskConfig::default() };
        let account = AccountConfig { number: 7, deposit: Decimal(5), limits, ..AccountConfig::default() };
        let told: Vec<String> = desk::opening(&config, &[account], |_| None).iter().map(describe).collect();
        assert_eq!(
            told,
            [
                "CurrencyRate of CNY",
                "AccountLimit loss of the platform",
                "AccountOpen of account 7",
                "AccountChange deposit of account 7",
                "AccountLimit loss of account 7",
            ]
        );
    }
}
