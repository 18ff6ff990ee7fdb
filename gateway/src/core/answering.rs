//! Asks, one turn's together: requests are gathered and committed in one batch, each order with the word of who is behind it.

use node::{WriteError, frame_bytes};
use wire::terms::{self, TermError};
use wire::{CancelOrder, ClientOrder, KeptOrder, Message, NewOrder, OrderId, ReplaceOrder};

use super::ask::{Ask, OrderName, Outcome, Reply, Submission};
use super::orders::{Order, Used, changed};
use super::{Core, TOPIC, Wait};
use crate::view::InstrumentView;

/// What a turn has gathered.
#[derive(Debug, Default)]
pub(super) struct Turn {
    frames: Vec<(u16, Vec<u8>)>,
    /// What these need in the journal.
    bytes: u64,
    /// Orders among them.
    orders: usize,
    /// By the frame that decides it: what happens once that is committed, or is not.
    pending: Vec<(usize, Pending)>,
}

#[derive(Debug)]
enum Pending {
    Order {
        client: Box<ClientOrder>,
        order: Box<NewOrder>,
        at_once: bool,
        reply: Reply<Outcome>,
    },
    Change {
        id: OrderId,
        wait: Wait,
        reply: Reply<Outcome>,
    },
    CancelAll {
        request: OrderId,
        met: Vec<OrderId>,
        reply: Reply<Outcome>,
    },
    /// The cancel of an order that must end.
    Owed(OrderId),
}

impl Turn {
    fn add<M: Message>(&mut self, message: &M) -> usize {
        self.frames.push((M::ID, message.bytes().to_vec()));
        self.bytes += frame_bytes(M::SIZE as u64);
        self.orders += usize::from(M::ID == NewOrder::ID);
        self.frames.len() - 1
    }

    /// What the gathered requests need in the journal.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// May a client that is held to these accounts see this order?
fn covers(scope: Option<&Vec<u32>>, order: &Order) -> bool {
    scope.is_none_or(|accounts| accounts.contains(&order.account.0))
}

impl Core {
    /// Answers, or gathers what has to be committed first. Who does not wait any more is not told.
    pub(super) fn answer(&mut self, ask: Ask) {
        match ask {
            Ask::Submit(submission, reply) => self.submit(&submission, None, reply),
            Ask::SubmitIn(session, submission, reply) => {
                if self.sessions.is_of(session, submission.client.token) {
                    self.submit(&submission, Some(session), reply);
                } else {
                    let _ = reply.send(Outcome::NoSession);
                }
            }
            Ask::Begin(session, token) => self.sessions.begin(session, token),
            Ask::End(session) => {
                // Orders of this turn are before the end of their session.
                self.commit();
                for id in self.sessions.end(session) {
                    self.owe(id);
                }
            }
            Ask::Cancel { order, scope, reply } => {
                self.commit_if_unknown(&order);
                let Some((id, instrument)) = self.changeable(&order, scope.as_ref()) else {
                    return self.refuse(&order, scope.as_ref(), reply);
                };
                let frame = self.turn.add(&CancelOrder::new(id, instrument));
                self.turn.pending.push((frame, Pending::Change { id, wait: Wait::Cancel, reply }));
            }
            Ask::Replace { order, scope, price, quantity, terms, reply } => {
                self.commit_if_unknown(&order);
                let Some((id, instrument)) = self.changeable(&order, scope.as_ref()) else {
                    return self.refuse(&order, scope.as_ref(), reply);
                };
                let Some(known) = self.orders.get(id) else { return };
                let lot = self.orders.lot(instrument);
                let other = terms.iter().find(|(term, value)| term.of(&known.request, lot) != Some(*value));
                if let Some((term, _)) = other {
                    let _ = reply.send(Outcome::Term(term, TermError::Fixed));
                    return;
                }
                let (price, quantity) = changed(known, price, quantity);
                let request = ReplaceOrder { order_id: id, instrument, source: 0, price, quantity };
                let frame = self.turn.add(&request);
                self.turn.pending.push((frame, Pending::Change { id, wait: Wait::Replace, reply }));
            }
            Ask::CancelAll { scope, reply } => {
                // Orders of this turn are before the mass cancel.
                self.commit();
                let (met, request) = (self.orders.working(scope), self.next_id());
                let frame = self.turn.add(&scope.request(request));
                self.turn.pending.push((frame, Pending::CancelAll { request, met, reply }));
            }
            Ask::Order { order, scope, reply } => {
                self.commit_if_unknown(&order);
                let found = self.orders.find(&order).filter(|found| covers(scope.as_ref(), found));
                let outcome = match found {
                    Some(found) => Outcome::Order(self.orders.view(found)),
                    None if self.may_be_forgotten(&order) => Outcome::Forgotten,
                    None => Outcome::NoSuchOrder,
                };
                let _ = reply.send(outcome);
            }
            Ask::Orders(filter, reply) => {
                self.commit();
                let _ = reply.send(self.orders.list(&filter));
            }
            Ask::Instruments(reply) => drop(reply.send(self.market.instruments())),
            Ask::Find(text, reply) => {
                let found: Option<InstrumentView> = self.market.find(&text);
                let _ = reply.send(found);
            }
            Ask::Quote(instrument, reply) => drop(reply.send(self.market.latest(instrument))),
            Ask::Trades(instrument, limit, reply) => {
                let _ = reply.send(self.market.trades(instrument, limit));
            }
            Ask::Bars(instrument, span, limit, reply) => {
                let _ = reply.send(self.market.bars(instrument, span, limit));
            }
        }
    }

    /// An order that we do not know: was it ours once, or could the client's name have been?
    fn may_be_forgotten(&self, name: &OrderName) -> bool {
        match name {
            OrderName::Id(id) => self.orders.has_forgotten && id.strategy() == self.seat,
            OrderName::Client(..) => self.orders.has_forgotten,
        }
    }

    fn submit(&mut self, submission: &Submission, session: Option<u64>, reply: Reply<Outcome>) {
        let Submission { client, client_id, order, terms, is_retry, at_once } = submission;
        let mut order = *order;
        let lot = self.orders.lot(order.instrument);
        if let Err((term, error)) = terms::put(&mut order, terms, lot) {
            let _ = reply.send(Outcome::Term(term, error));
            return;
        }
        let order = &order;
        match self.orders.used(order.account, client_id, order) {
            Some(Used::Same(known)) => {
                // One that td has not answered yet is waited for like the first time.
                if let Some(reason) = known.refusal() {
                    // As the first time.
                    let _ = reply.send(Outcome::Refused(self.orders.view(known), reason));
                } else if known.is_answered() || *at_once {
                    let _ = reply.send(Outcome::Again(self.orders.view(known)));
                } else {
                    let id = known.request.order_id;
                    self.waiting.entry(id).or_default().push((Wait::Again, reply));
                }
                return;
            }
            Some(Used::Differently(known)) => {
                let _ = reply.send(Outcome::Differs(self.orders.view(known)));
                return;
            }
            None => {}
        }
        // The same name twice in one turn: the second waits for the first.
        let earlier = self.turn.pending.iter().find_map(|(_, pending)| match pending {
            Pending::Order { client: other, order: its, .. }
                if !client_id.as_str().is_empty()
                    && other.client_id == *client_id
                    && its.account == order.account =>
            {
                Some(())
            }
            _ => None,
        });
        if earlier.is_some() {
            self.commit();
            return self.submit(submission, session, reply);
        }
        if *is_retry && self.orders.has_forgotten && !client_id.as_str().is_empty() {
            let _ = reply.send(Outcome::Forgotten);
            return;
        }
        if let Err(most) = self.orders.has_place(self.turn.orders) {
            let _ = reply.send(Outcome::TooMany(most));
            return;
        }
        let order_id = self.next_id();
        let order = NewOrder { order_id, ..*order };
        let client = ClientOrder {
            order_id,
            token: client.token,
            client_id: *client_id,
            address: client.address,
            account: order.account,
            flags: if session.is_some() { ClientOrder::ENDS_WITH_SESSION } else { 0 },
        };
        self.turn.add(&client);
        let frame = self.turn.add(&order);
        let pending =
            Pending::Order { client: Box::new(client), order: Box::new(order), at_once: *at_once, reply };
        self.turn.pending.push((frame, pending));
        if let Some(session) = session {
            let orders = &self.orders;
            self.sessions.add(session, order_id, |id| orders.get(id).is_none_or(Order::is_working));
        }
    }

    /// This order must end, if it works.
    pub(super) fn owe(&mut self, id: OrderId) {
        if self.orders.get(id).is_some_and(Order::is_working) {
            self.owed.owe(id);
        }
    }

    /// Gathers the cancels that are due. False: there are none.
    pub(super) fn cancel_owed(&mut self, now: u64) -> bool {
        let mut any = false;
        for id in self.owed.take(now) {
            let Some(order) = self.orders.get(id).filter(|order| order.is_working()) else {
                self.owed.ended(id);
                continue;
            };
            let frame = self.turn.add(&CancelOrder::new(id, order.request.instrument));
            self.turn.pending.push((frame, Pending::Owed(id)));
            any = true;
        }
        any
    }

    /// An order of this turn is known only once it is committed.
    fn commit_if_unknown(&mut self, name: &OrderName) {
        if self.orders.find(name).is_none() {
            self.commit();
        }
    }

    /// The order that a change is about, if it can still be changed.
    fn changeable(
        &self,
        name: &OrderName,
        scope: Option<&Vec<u32>>,
    ) -> Option<(OrderId, wire::InstrumentId)> {
        let found = self.orders.find(name).filter(|found| covers(scope, found) && found.is_working())?;
        Some((found.request.order_id, found.request.instrument))
    }

    fn refuse(&self, name: &OrderName, scope: Option<&Vec<u32>>, reply: Reply<Outcome>) {
        let found = self.orders.find(name).filter(|found| covers(scope, found));
        let outcome = match found {
            Some(found) => Outcome::Ended(self.orders.view(found)),
            None if self.may_be_forgotten(name) => Outcome::Forgotten,
            None => Outcome::NoSuchOrder,
        };
        let _ = reply.send(outcome);
    }

    /// Writes the orders that work once more, of which the ring would soon have nothing when `more` bytes are written. `Err`: there
    /// is no room for them now, and so for nothing else.
    fn keep(&mut self, more: u64) -> Result<(), WriteError> {
        let at = self.output.position();
        let old = self.orders.take_old(at + more);
        if old.is_empty() {
            return Ok(());
        }
        let kept = |(_, id): &(u64, OrderId)| Some(self.orders.get(*id)?.to_keep(self.owed.has(*id)));
        let kept: Vec<KeptOrder> = old.iter().filter_map(kept).collect();
        let messages = kept.iter().map(|kept| (KeptOrder::ID, kept.bytes()));
        let (written, outcome) = self.output.send_all(TOPIC, messages, |_| true);
        kept.iter().take(written).for_each(|kept| self.orders.written_again(kept.order_id, at));
        self.orders.put_back(old.get(written..).unwrap_or_default());
        outcome
    }

    /// Commits what this turn has gathered.
    pub(super) fn commit(&mut self) {
        if self.turn.frames.is_empty() {
            return;
        }
        let Turn { frames, pending, bytes, .. } = std::mem::take(&mut self.turn);
        let messages = frames.iter().map(|(id, bytes)| (*id, bytes.as_slice()));
        // An order is never without the word of who is behind it.
        let may_part = |index: usize| frames.get(index).is_none_or(|(id, _)| *id != NewOrder::ID);
        let kept = self.keep(bytes);
        let begun = self.output.position();
        let (committed, outcome) = match kept {
            Ok(()) => self.output.send_all(TOPIC, messages, may_part),
            Err(error) => (0, Err(error)),
        };
        if let Err(error) = &outcome {
            log::debug!("{} of {} requests were not sent: {error}", frames.len() - committed, frames.len());
        }
        let sent_ns = self.handle.now();
        for (frame, pending) in pending {
            let is_committed = frame < committed;
            match pending {
                Pending::Order { client, order, at_once, reply } => {
                    if !is_committed {
                        let _ = reply.send(Outcome::Full);
                        continue;
                    }
                    self.handle.add(node::Counter::Orders, 1);
                    self.orders.announce(&client);
                    self.orders.sent(&order, sent_ns, begun);
                    let id = order.order_id;
                    match self.orders.get(id) {
                        Some(known) if at_once => drop(reply.send(Outcome::Order(self.orders.view(known)))),
                        _ => self.waiting.entry(id).or_default().push((Wait::First, reply)),
                    }
                }
                Pending::Change { id, wait, reply } => {
                    if !is_committed {
                        let _ = reply.send(Outcome::Full);
                        continue;
                    }
                    let counter =
                        if wait == Wait::Cancel { node::Counter::Cancels } else { node::Counter::Replaces };
                    self.handle.add(counter, 1);
                    self.waiting.entry(id).or_default().push((wait, reply));
                }
                Pending::Owed(id) if is_committed => {
                    log::debug!("{id} must end: a cancel is sent");
                    self.handle.add(node::Counter::Cancels, 1);
                }
                // It is tried again in the next turn.
                Pending::Owed(id) => self.owed.not_sent(id),
                Pending::CancelAll { request, met, reply } => {
                    if !is_committed {
                        let _ = reply.send(Outcome::Full);
                        continue;
                    }
                    self.handle.add(node::Counter::Cancels, 1);
                    met.iter().for_each(|id| self.owed.owe_in_mass(*id, request));
                    let _ = reply.send(Outcome::CancelsAll(met.len() as u64));
                }
            }
        }
    }
}
