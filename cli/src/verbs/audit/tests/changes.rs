//! Refusals of cancels, mass cancels and replaces, with and without the cause that they name.

use wire::{CancelAll, CancelOrder, ReplaceOrder, Request};

use super::super::evidence::Written;
use super::refusals::all_reasons;
use super::*;

/// The order that works: 10 lots at 50.
const NUMBER: u32 = 50;
const MINE: u16 = 5;

fn id() -> OrderId {
    OrderId::new(STRATEGY, 1, NUMBER)
}

fn cancel() -> Request {
    Request::Cancel(CancelOrder::new(id(), SIM))
}

fn cancel_all() -> CancelAll {
    CancelAll {
        order_id: OrderId::new(STRATEGY, 1, NUMBER + 1),
        instrument: InstrumentId(0),
        source: 0,
        account: AccountId(7),
        side: Side::Buy,
        flags: CancelAll::OF_ACCOUNT,
        reserved: 0,
    }
}

fn replace(quantity: i64, at: Price) -> Request {
    let (order_id, quantity) = (id(), Quantity(quantity));
    Request::Replace(ReplaceOrder { order_id, instrument: SIM, source: 0, price: at, quantity })
}

fn plain() -> Request {
    replace(20, price(50))
}

/// A request with what makes its refusal right.
struct Case {
    copy: Copy,
    request: Option<Request>,
    sender: u16,
}

impl Copy {
    /// The order works in a listed instrument, and all that senders have asked is known: nothing yet.
    fn works() -> Copy {
        let mut copy = Copy::new().listed();
        copy.evidence.is_whole = true;
        copy.evidence.changes = Some(std::collections::BTreeMap::new());
        copy.order(NUMBER, Side::Buy, 10, 50);
        copy
    }

    fn sender(&mut self, recorders: &[u16]) {
        let its = serde_json::json!({
            "name": "mine", "seat": MINE, "max_order_quantity": 0, "max_working_orders": 0, "max_position": 0,
            "accounts": [7], "reports": "reports.mine", "reports_topic": 0, "recorders": recorders
        });
        self.given.strategies.insert(MINE, serde_json::from_value(its).unwrap());
    }

    /// A sender asks, and td refuses it so. The kind of the answer is that of the request unless `status` says another.
    fn answered(
        mut self,
        sender: u16,
        request: Option<Request>,
        (status, reason): (Option<OrderStatus>, Reason),
    ) -> Copy {
        let position = 64 * (1_000 + self.frames.len() as u64);
        self.evidence.requests.insert((position, sender), Written { seat: sender, time: self.time, request });
        let status = status.unwrap_or(match request {
            Some(Request::New(_)) => OrderStatus::Rejected,
            Some(Request::Replace(_)) => OrderStatus::ReplaceRejected,
            Some(Request::Cancel(_) | Request::CancelAll(_)) | None => OrderStatus::CancelRejected,
        });
        let about = request.as_ref().map_or(id(), Request::order_id);
        let update = OrderUpdate::about(about, SIM, status, reason);
        self.later(2).add(AnyMessage::OrderUpdate(OrderUpdate { refused_request: position, ..update }));
        self
    }

    pub(super) fn refused_as(self, request: Request, reason: Reason) -> Copy {
        self.answered(MINE, Some(request), (None, reason))
    }
}

fn with(copy: Copy, request: Request) -> Option<Case> {
    Some(Case { copy, request: Some(request), sender: MINE })
}

/// What makes any refusal right that names this reason, of a cancel, a mass cancel or a replace.
fn caused_of_all(request: Request, reason: Reason) -> Option<Case> {
    let mut copy = Copy::works();
    match reason {
        Reason::NotYours => Some(Case { copy, request: Some(request), sender: 6 }),
        Reason::StrategyGone => {
            copy.evidence.changes = Some([(MINE, vec![copy.time + SECOND])].into());
            with(copy, request)
        }
        _ => None,
    }
}

fn caused_cancel(reason: Reason) -> Option<Case> {
    let mut copy = Copy::works();
    match reason {
        Reason::UnknownOrder => {
            copy.ends(NUMBER, OrderStatus::Cancelled);
            with(copy, cancel())
        }
        Reason::Malformed => with(copy, Request::Cancel(CancelOrder::new(id(), InstrumentId(2)))),
        _ => caused_of_all(cancel(), reason),
    }
}

fn caused_cancel_all(reason: Reason) -> Option<Case> {
    let copy = Copy::works();
    match reason {
        Reason::UnknownAccount => {
            with(copy, Request::CancelAll(CancelAll { account: AccountId(8), ..cancel_all() }))
        }
        Reason::UnknownInstrument => {
            with(copy, Request::CancelAll(CancelAll { instrument: InstrumentId(2), ..cancel_all() }))
        }
        Reason::Malformed => Some(Case { copy, request: None, sender: MINE }),
        _ => caused_of_all(Request::CancelAll(cancel_all()), reason),
    }
}

fn caused_replace(reason: Reason) -> Option<Case> {
    let mut copy = Copy::works();
    let limit = |kind: LimitKind, number: u64, amount: i128| {
        let mut copy = Copy::works();
        copy.limit(ACCOUNT, kind, (number, 1), amount);
        with(copy, plain())
    };
    match reason {
        Reason::UnknownOrder => {
            copy.ends(NUMBER, OrderStatus::Cancelled);
            with(copy, plain())
        }
        Reason::Malformed => with(copy, replace(20, Price::NONE)),
        Reason::Killed => {
            copy.kill("ann", "test");
            with(copy, plain())
        }
        Reason::AccountFrozen | Reason::ForcedLiquidation | Reason::AccountClosed => {
            let (action, who) = match reason {
                Reason::AccountFrozen => (AccountAction::Freeze, "ann"),
                Reason::ForcedLiquidation => (AccountAction::Freeze, "ledger"),
                _ => (AccountAction::Close, "ann"),
            };
            copy.change(action, ACCOUNT, (who, "test"), 0);
            with(copy, plain())
        }
        Reason::MessageRate => limit(LimitKind::MessageRate, 1, 0),
        Reason::Quantity => with(copy, replace(0, price(50))),
        Reason::OffTick => with(copy, replace(20, Price(price(50).0 + 1))),
        Reason::PriceBand => with(copy, replace(20, price(91))),
        // 10,000 are there, and 2,001 at 50 take a tenth of what they are worth.
        Reason::InsufficientFunds => with(copy, replace(2_001, price(50))),
        Reason::PositionLimit => limit(LimitKind::Position, 0, 0),
        Reason::OrderNotional => limit(LimitKind::OrderNotional, 0, 999),
        Reason::NotionalLimit => limit(LimitKind::GrossNotional, 0, 999),
        Reason::NotTradable => {
            let terms = |terms| ContractTerms { flags: 0, ..terms };
            with(copy.terms(terms), plain())
        }
        Reason::SelfTrade => {
            let other = order(StrategyId(6), 1, (Side::Sell, 1, 55));
            copy.mark(50).add(AnyMessage::NewOrder(other));
            with(copy, replace(20, price(55)))
        }
        _ => caused_of_all(plain(), reason),
    }
}

/// Every reason of each kind of request: without its cause it is found, with it nothing is.
#[test]
fn each_refusal_of_a_change_without_its_cause_is_found_and_none_with_it() {
    type Kind = (&'static str, Request, fn(Reason) -> Option<Case>, usize);
    let kinds: [Kind; 3] = [
        ("a cancel of order", cancel(), caused_cancel, 4),
        ("a cancel of order", Request::CancelAll(cancel_all()), caused_cancel_all, 5),
        ("a replace of order", plain(), caused_replace, 18),
    ];
    for (words, request, caused, causes) in kinds {
        let mut sound = 0;
        for reason in all_reasons() {
            let mut copy = Copy::works();
            copy.sender(&[]);
            let without = copy.refused_as(request, reason);
            // Not looked at of replaces, and nothing that holds a cancel up.
            if reason == Reason::Overload && matches!(request, Request::Replace(_)) {
                without.is_sound();
                continue;
            }
            let found = format!("{words} {} is refused: {reason}", request.order_id());
            without.finds("refusals", &found);
            if let Some(Case { copy, request, sender }) = caused(reason) {
                copy.answered(sender, request, (None, reason)).is_sound();
                sound += 1;
            }
        }
        assert_eq!(sound, causes, "{words}");
    }
}

#[test]
fn a_replace_of_no_more_than_has_traded_is_refused_for_its_quantity() {
    let mut copy = Copy::works();
    copy.fill(NUMBER, Side::Buy, 4, 50);
    copy.clone().refused_as(replace(4, price(50)), Reason::Quantity).is_sound();
    copy.refused_as(replace(5, price(50)), Reason::Quantity).finds("refusals", "it keeps to that rule");
}

#[test]
fn what_td_cancels_by_itself_is_replaced_no_more_although_the_switch_is_lifted() {
    let mut copy = Copy::works();
    copy.kill("ann", "test");
    let revived = |mut copy: Copy| {
        copy.change(AccountAction::Revive, ACCOUNT, ("ann", "test"), 0);
        copy.refused_as(plain(), Reason::Killed)
    };
    let words = "no kill switch above it has fallen";
    let count = |copy: &Copy| copy.rows().iter().filter(|row| row.contains(words)).count();
    assert_eq!(count(&revived(copy.clone())), 1);
    let by_td = CancelOrder { source: CancelOrder::OF_TD | 1, ..CancelOrder::new(id(), SIM) };
    copy.add(AnyMessage::CancelOrder(by_td));
    assert_eq!(count(&revived(copy)), 0);
}

#[test]
fn only_who_must_be_on_disk_is_refused_for_a_disk() {
    for recorders in [&[][..], &[9]] {
        let mut copy = Copy::works();
        copy.sender(recorders);
        let new = order(STRATEGY, NUMBER + 1, (Side::Buy, 1, 50));
        let mut refused = copy.clone();
        refused.add_to(DROP_REFUSED, AnyMessage::NewOrder(new));
        let refused = refused.answered(MINE, Some(Request::New(new)), (None, Reason::NotDurable));
        let replaced = copy.clone().refused_as(plain(), Reason::NotDurable);
        for copy in [refused, replaced] {
            match recorders {
                [] => copy.finds("refusals", "its sender's reports need not be on disk"),
                _ => copy.is_sound(),
            }
        }
        copy.refused_as(cancel(), Reason::NotDurable).finds("refusals", "nothing else holds a cancel up");
    }
}

#[test]
fn a_new_order_is_refused_as_gone_or_foreign_only_where_that_is_so() {
    let new = Request::New(order(STRATEGY, NUMBER + 1, (Side::Buy, 1, 50)));
    let copy = Copy::works();
    copy.clone().refused_as(new, Reason::StrategyGone).finds("refusals", "its sender ran");
    let mut changed = copy.clone();
    changed.evidence.changes = Some([(MINE, vec![copy.time + SECOND])].into());
    changed.refused_as(new, Reason::StrategyGone).is_sound();
    let mut unknown = copy.clone();
    unknown.evidence.changes = None;
    unknown.refused_as(new, Reason::StrategyGone).is_sound();
    copy.clone().refused_as(new, Reason::NotYours).finds("refusals", "the order is its sender's");
    copy.clone().answered(6, Some(new), (None, Reason::NotYours)).is_sound();
    let malformed = (Some(OrderStatus::Rejected), Reason::Malformed);
    copy.clone().answered(MINE, None, malformed).is_sound();
    copy.clone()
        .answered(MINE, Some(new), malformed)
        .finds("refusals", "the refused order before its refusal");
    copy.answered(MINE, None, (None, Reason::Killed)).finds("refusals", "its bytes are no request");
}

#[test]
fn an_answer_that_fits_no_request_is_found() {
    let copy = Copy::works();
    let answer = (Some(OrderStatus::ReplaceRejected), Reason::UnknownOrder);
    copy.clone().answered(MINE, Some(cancel()), answer).finds("refusals", "the kind of its request");
    let mut nobody = copy.clone().refused_as(cancel(), Reason::UnknownOrder);
    nobody.evidence.requests.clear();
    nobody.finds("refusals", "nobody has asked that");
    // The journals of senders do not reach back: somebody may have.
    nobody.evidence.is_whole = false;
    nobody.is_sound();
    let said = (Some(OrderStatus::Accepted), Reason::None);
    copy.answered(MINE, Some(cancel()), said).finds("refusals", "td says nothing else of its own");
}
