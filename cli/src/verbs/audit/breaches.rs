//! What a request breaks, by the rules and the books as they stood: what went out breaks nothing for certain, and what td refused
//! may break what it was refused for.

use wire::{
    AccountKind, AccountScope, ContractTerms, InstrumentId, LimitKind, NewOrder, Offset, Price, Reason, Side,
    WideMoney,
};

use super::books::{Books, Key, Scope, Terms};
use super::funds::Needed;
use super::given::{Given, Said};
use super::order::Order;
use super::rules::ROUNDING;
use crate::desk::scope_name;

/// A rule that a request breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) reason: Reason,
    /// What it should have been.
    pub(super) expected: String,
    /// False where what is written down does not decide it.
    pub(super) is_certain: bool,
}

impl Breach {
    pub(super) fn certain(reason: Reason, expected: impl Into<String>) -> Breach {
        Breach { reason, expected: expected.into(), is_certain: true }
    }

    pub(super) fn maybe(reason: Reason) -> Breach {
        Breach { reason, expected: String::new(), is_certain: false }
    }
}

/// What an order or a replace asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) said: Said<'a>,
    pub(super) account: Key,
    /// The prices that it has and may get, of its own.
    pub(super) own: Option<(i64, i64)>,
    /// How much more may trade then.
    pub(super) added: i64,
    /// At least and at most so many of these open.
    pub(super) opens: (i64, i64),
    /// The order that a replace changes.
    pub(super) changes: Option<&'a Order>,
}

impl<'a> Asked<'a> {
    /// `None`: the instrument has no terms.
    pub(super) fn new(books: &Books, order: &'a NewOrder) -> Option<Asked<'a>> {
        let account = super::switches::account_of(order);
        let (price, quantity) = (order.price, order.quantity.0);
        let own = books.terms.get(&order.instrument)?.own_prices(order, price);
        Some(Asked {
            said: Said { order, price, quantity, is_new: true },
            account,
            own,
            added: quantity,
            opens: books.opens(account, order, quantity),
            changes: None,
        })
    }

    pub(super) fn replace(books: &Books, order: &'a Order, price: Price, quantity: i64) -> Asked<'a> {
        let added = order.added_by(quantity);
        let (low, high) = order.prices;
        Asked {
            said: Said { order: &order.request, price, quantity, is_new: false },
            account: order.account,
            own: Some((low.min(price.0), high.max(price.0))),
            added,
            opens: books.opens(order.account, &order.request, added),
            changes: Some(order),
        }
    }
}

/// All rules that a request breaks or may break, but for who may ask at all. What closes by force is held up by few.
pub(super) fn breaches(given: &Given, books: &Books, asked: &Asked<'_>) -> Vec<Breach> {
    let mut found = Vec::new();
    given.breaches(&asked.said, &mut found);
    shape(given, asked, &mut found);
    let Some(terms) = books.terms.get(&asked.said.order.instrument) else {
        found.push(Breach::certain(Reason::UnknownInstrument, "terms of its instrument"));
        return found;
    };
    contract(books, terms, asked, &mut found);
    closes(books, terms, asked, &mut found);
    if asked.said.order.flags & NewOrder::FORCED == 0 {
        strategy(given, books, asked, &mut found);
        for scope in books.scopes_of(asked.account, asked.said.order.order_id.strategy()) {
            limits(books, scope, asked, &mut found);
        }
        meets(books, asked, &mut found);
        money(books, asked, &mut found);
    }
    found
}

/// What an order may not say.
fn shape(given: &Given, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let order = asked.said.order;
    if order.offset().is_none() {
        found.push(Breach::certain(Reason::Malformed, "one offset"));
    }
    let is_ledgers = given.ledger == Some(order.order_id.strategy());
    if order.flags & NewOrder::FORCED != 0 && !is_ledgers {
        found.push(Breach::certain(Reason::Malformed, "an order by force of the ledger"));
    }
    if order.order_type.has_price() && !asked.said.price.is_some() {
        found.push(Breach::certain(Reason::Malformed, "a price"));
    }
}

/// Whether its instrument takes it, and at which prices.
fn contract(books: &Books, terms: &Terms, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let order = asked.said.order;
    if terms.flags & ContractTerms::TRADABLE == 0 {
        found.push(Breach::certain(Reason::NotTradable, "an instrument that takes orders"));
    }
    if asked.own.is_none() && !order.order_type.has_price() {
        found.push(Breach::certain(Reason::NoWorstPrice, "a price beyond which it cannot trade"));
    }
    let is_open_ended = !terms.price_high.is_some() && !books.mark_of(order.instrument).is_some();
    if order.side == Side::Sell && asked.opens.1 > 0 && is_open_ended && needs_worst_price(books, asked) {
        let expected = "a band or a mark beyond which it cannot trade".to_owned();
        let is_certain = asked.opens.0 > 0 && order.flags & NewOrder::FORCED == 0;
        found.push(Breach { reason: Reason::NoWorstPrice, expected, is_certain });
    }
    let limit = order.order_type.has_price().then_some(asked.said.price);
    let trigger = (order.order_type.has_trigger() && asked.said.is_new).then_some(order.trigger);
    let is_out = |price: Price| {
        terms.price_low.is_some() && price < terms.price_low
            || terms.price_high.is_some() && price > terms.price_high
    };
    if books.makes(LimitKind::PriceBand) && limit.into_iter().chain(trigger).any(is_out) {
        let expected = format!("a price between {} and {}", terms.price_low, terms.price_high);
        found.push(Breach::certain(Reason::PriceBand, expected));
    }
    let kind = books.accounts.get(&asked.account).map(|account| account.kind);
    let is_cash = kind == Some(AccountKind::Cash);
    let may_short = !is_cash && terms.flags & ContractTerms::SHORTABLE != 0;
    if order.side == Side::Sell
        && !may_short
        && (is_cash || books.makes(LimitKind::ShortSale))
        && asked.opens.1 > 0
    {
        let is_certain = asked.opens.0 > 0;
        let expected = "a sale of no more than is held".to_owned();
        found.push(Breach { reason: Reason::ShortSale, expected, is_certain });
    }
}

/// Whether anything depends on the worst price of a sale that opens: money, or a limit of what orders are worth.
fn needs_worst_price(books: &Books, asked: &Asked<'_>) -> bool {
    let kind = books.accounts.get(&asked.account).map(|account| account.kind);
    let is_limited = |scope: &Scope| {
        let has = |kind| books.limit_of(*scope, kind, InstrumentId(0)).is_some();
        has(LimitKind::GrossNotional) || has(LimitKind::OrderNotional)
    };
    let scopes = books.scopes_of(asked.account, asked.said.order.order_id.strategy());
    kind != Some(AccountKind::Cash)
        && (books.makes(LimitKind::Money) && matches!(asked.account, Key::Opened(_))
            || scopes.iter().any(is_limited))
}

/// Whether there is as much to close as it says.
fn closes(books: &Books, terms: &Terms, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let order = asked.said.order;
    let is_forced = order.flags & NewOrder::FORCED != 0;
    let kind = books.accounts.get(&asked.account).map(|account| account.kind);
    let [today, earlier] = books.closable(asked.account, order.instrument, order.side);
    let is_apart = terms.flags & ContractTerms::TODAY_APART != 0;
    let held = match (kind, order.offset()) {
        _ if !asked.said.is_new && asked.added <= 0 => return,
        (Some(AccountKind::Futures), Some(Offset::Open)) if !is_forced => return,
        (Some(AccountKind::Futures), Some(Offset::Auto)) if !is_forced => return,
        (Some(AccountKind::Futures), Some(Offset::CloseToday)) => today,
        (Some(AccountKind::Futures), Some(Offset::CloseYesterday)) => earlier,
        (Some(AccountKind::Futures), Some(Offset::Close)) if is_apart => earlier,
        _ if !is_forced && kind != Some(AccountKind::Futures) => return,
        _ => today + earlier,
    };
    let taken = if is_forced { 0 } else { books.closing(asked.account, order.instrument, order.side) };
    let is_certain = asked.added > held && !books.vague.contains(&asked.account) && asked.said.is_new;
    if asked.added > held - taken || books.vague.contains(&asked.account) {
        let expected = format!("at most the {held} that are held");
        found.push(Breach { reason: Reason::NotClosable, expected, is_certain: is_certain && !is_forced });
    }
}

/// td's own limits.
fn strategy(given: &Given, books: &Books, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let seat = asked.said.order.order_id.strategy().0;
    let Some(limits) = given.strategies.get(&seat) else { return };
    let (name, most) = (&limits.name, limits.max_order_quantity);
    if most > 0 && asked.said.quantity > most {
        let expected = format!("at most {most}, max_order_quantity of {name}");
        found.push(Breach::certain(Reason::Quantity, expected));
    }
    let scope = (AccountScope::Strategy, u32::from(seat));
    let (working, most) = (books.orders_at_work(scope), i64::from(limits.max_working_orders));
    if asked.said.is_new && most > 0 && working >= most {
        let expected = format!("no more than {most} orders of {name} work at once: {working} do already");
        found.push(Breach::certain(Reason::WorkingOrders, expected));
    }
    let (worst, most) = (worst_position(books, scope, asked), limits.max_position);
    if most > 0 && asked.added > 0 && worst > most {
        let expected = format!("a position of at most {most} of {name} if all fills: it could be {worst}");
        found.push(Breach::certain(Reason::PositionLimit, expected));
    }
}

/// The position in the direction of a request if all that works on its side fills.
fn worst_position(books: &Books, scope: Scope, asked: &Asked<'_>) -> i64 {
    let [net, buy, sell] = books.sums(scope, asked.said.order.instrument);
    let now = match asked.said.order.side {
        Side::Buy => net.saturating_add(buy),
        Side::Sell => sell.saturating_sub(net),
    };
    now.saturating_add(asked.added)
}

/// Limits of an account, a group, a strategy or the platform.
fn limits(books: &Books, scope: Scope, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let instrument = asked.said.order.instrument;
    let of = scope_name(scope.0, scope.1, None);
    let number = |kind| {
        let limit = books.limit_of(scope, kind, instrument)?;
        Some(i64::try_from(limit.number).unwrap_or(i64::MAX))
    };
    if let Some(most) = number(LimitKind::OrderQuantity).filter(|most| asked.said.quantity > *most) {
        let expected = format!("at most {most}, the order-quantity of {of}");
        found.push(Breach::certain(Reason::Quantity, expected));
    }
    let working = books.orders_at_work(scope);
    if let Some(most) = number(LimitKind::OpenOrders).filter(|most| asked.said.is_new && working >= *most) {
        let expected = format!("no more than {most} orders of {of} work at once");
        found.push(Breach::certain(Reason::WorkingOrders, expected));
    }
    let worst = worst_position(books, scope, asked);
    if let Some(most) = number(LimitKind::Position).filter(|most| asked.added > 0 && worst > *most) {
        let expected = format!("a position of {of} of at most {most} if all fills: it could be {worst}");
        found.push(Breach::certain(Reason::PositionLimit, expected));
    }
    let amount = |kind| books.limit_of(scope, kind, InstrumentId(0)).map(|limit| limit.amount);
    let worth = |lots: i64| {
        let worth = books.worst_worth(asked.said.order, asked.own?, lots)?;
        books.value_in(scope, instrument, |_| worth)
    };
    if let (Some(most), Some(worth)) = (amount(LimitKind::OrderNotional), worth(asked.said.quantity)) {
        let over = worth - most.wide();
        if over > -ROUNDING {
            let expected = format!("an order worth at most {most}, the order-notional of {of}");
            let is_certain = over > ROUNDING;
            found.push(Breach { reason: Reason::OrderNotional, expected, is_certain });
        }
    }
    let gross =
        amount(LimitKind::GrossNotional).and_then(|most| Some((most, gross(books, scope, asked, worth)?)));
    if let Some((most, (least, _))) = gross.filter(|(most, (_, most_of))| *most_of > most.wide() - ROUNDING) {
        let is_certain = asked.said.is_new && asked.opens.0 > 0 && least > most.wide() + ROUNDING;
        let least = WideMoney::from_wide(least);
        let expected = format!("a gross of {of} of at most {most}: it is {least} at least");
        found.push(Breach { reason: Reason::NotionalLimit, expected, is_certain });
    }
}

/// What a scope's positions and orders are worth with a request: at least, at most. What cannot be counted may be anything.
fn gross(
    books: &Books,
    scope: Scope,
    asked: &Asked<'_>,
    worth: impl Fn(i64) -> Option<i128>,
) -> Option<(i128, i128)> {
    let Some(now) = books.gross(scope) else { return Some((0, i128::MAX)) };
    // A replace may raise the price of what works already.
    let most = if asked.said.is_new { worth(asked.opens.1)? } else { worth(asked.said.quantity)? };
    Some((now.least.saturating_add(worth(asked.opens.0)?), now.most.saturating_add(most)))
}

/// Whether it would trade with another strategy of its account.
fn meets(books: &Books, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let (order, Some((low, high))) = (asked.said.order, asked.own) else { return };
    if !books.makes(LimitKind::SelfTrade) {
        return;
    }
    let other = books.at_work().find(|other| {
        let crosses = match order.side {
            Side::Buy => high >= other.prices.0,
            Side::Sell => low <= other.prices.1,
        };
        (other.account, other.request.instrument) == (asked.account, order.instrument)
            && other.request.side != order.side
            && other.strategy() != order.order_id.strategy()
            && crosses
    });
    if let Some(other) = other {
        let expected = format!("no trade with {} of the same account", other.request.order_id);
        found.push(Breach::certain(Reason::SelfTrade, expected));
    }
}

/// Whether its account has what it holds back. Of a replace: what its order holds back then, with what it holds back now.
fn money(books: &Books, asked: &Asked<'_>, found: &mut Vec<Breach>) {
    let Key::Opened(number) = asked.account else { return };
    if !books.makes(LimitKind::Money) {
        return;
    }
    let known = || {
        let needed = match asked.changes {
            None => books.needed(number, asked.said.order, asked.own?, asked.opens)?,
            Some(order) => books.needed_by_change(number, order, asked.own?, (asked.added, asked.opens))?,
        };
        let without = asked.changes.map(|order| order.request.order_id);
        Some((needed, books.available(number, without)?))
    };
    let Some((needed, available)) = known() else {
        found.push(Breach::maybe(Reason::InsufficientFunds));
        return;
    };
    let Needed { all, more, opens } = needed;
    // What closes passes, and what holds back no more, whatever is left.
    if opens.1 > 0 && more.most > 0 && all.most > available.least - ROUNDING {
        let is_certain = opens.0 > 0 && more.least > ROUNDING && all.least > available.most + ROUNDING;
        let (needs, has) = (WideMoney::from_wide(all.least), WideMoney::from_wide(available.most));
        let expected = format!("account {} with {needs} at least: it has {has} at most", number.0);
        found.push(Breach { reason: Reason::InsufficientFunds, expected, is_certain });
    }
}
