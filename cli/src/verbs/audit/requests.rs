//! What went out is what strategies asked for, once and in their order, and what did not go out was refused.

use std::collections::{BTreeMap, HashMap};

use topology::{NodeKind, TdSection, Topology};
use wire::{AccountId, AnyMessage, CancelOrder, NewOrder, OrderId, Request};

use super::Stop;
use super::books::Books;
use super::findings::Findings;
use super::frames::said;
use super::offsets::Offsets;
use super::reach::Reach;
use super::reports::Refused;
use crate::desk::{DROPS, Fault, ORDERS, Seen, Source, Stream};
use crate::message::brief;

/// Bytes of a line, by which td numbers requests.
const LINE: u64 = 64;

/// Refused orders of the drop copy, and where they stand.
pub(super) type Copies = HashMap<OrderId, (u64, NewOrder)>;

/// What one strategy asks for.
struct Asks<'a> {
    name: String,
    stream: Stream<'a>,
    is_begin: bool,
    /// Its journal of reports, and its topic there.
    reports: (String, u32),
    newest: Option<OrderId>,
}

pub(super) struct Requests<'a> {
    pub(super) findings: Findings,
    sent: Stream<'a>,
    asks: BTreeMap<u16, Asks<'a>>,
    /// td's own requests, and the ledger's, come from no strategy.
    ledger: Option<u16>,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "requests",
        "what went out is what strategies asked for, once, in their order, and what did not was refused",
    )
}

impl<'a> Requests<'a> {
    /// `sent` was read before the reports, and these are read behind them.
    pub(super) fn new(
        source: &'a Source,
        topology: &Topology,
        section: Option<&TdSection>,
        sent: Stream<'a>,
    ) -> Result<Requests<'a>, Stop> {
        let ledger = topology.nodes.iter().find(|node| node.kind == NodeKind::Ledger);
        let mut requests =
            Requests { findings: part(), sent, asks: BTreeMap::new(), ledger: ledger.map(|node| node.seat) };
        let mut cut = Vec::new();
        for strategy in section.map(|section| section.strategies.as_slice()).unwrap_or_default() {
            let name = format!("orders.{}", strategy.name);
            match source.held(&name)? {
                Some(mut stream) => {
                    let is_begin = stream.is_at_begin()?;
                    if !is_begin {
                        cut.push(name.clone());
                    }
                    let reports = (strategy.reports.clone(), strategy.reports_topic);
                    let asks = Asks { name, stream, is_begin, reports, newest: None };
                    requests.asks.insert(strategy.seat, asks);
                }
                None => {
                    let what = format!("there is no {name}: what it asked for is not looked at");
                    requests.findings.lacks(what);
                }
            }
        }
        if !cut.is_empty() {
            let what = format!(
                "{} no longer reach back to their begin: older requests are not looked at",
                cut.join(", ")
            );
            requests.findings.lacks(what);
        }
        Ok(requests)
    }

    /// Compares all requests that went out. `refused` are td's refusals, `None` where not all of them are known.
    /// `copies` are the refused orders of the drop copy, `books` what it comes to where it is known from its begin.
    pub(super) fn compare(
        mut self,
        refused: Option<&Refused>,
        (copies, books): (&Copies, Option<&Books>),
        reach: &Reach,
    ) -> Result<Findings, Stop> {
        let is_begin = self.sent.is_at_begin()?;
        if !is_begin {
            self.findings.lacks(format!(
                "{ORDERS} does not reach back to its begin: older requests are not looked at"
            ));
        }
        while let Some(seen) = self.sent.next()? {
            let Ok(request) = Request::decode(seen.id, &seen.payload) else { continue };
            let seat = request.order_id().strategy().0;
            // td cancels by itself, and the ledger closes by force.
            if request.is_of_td() || request.source() == Some(0) || self.ledger == Some(seat) {
                continue;
            }
            let Some(asks) = self.asks.get_mut(&seat) else { continue };
            self.findings.checked += 1;
            // Without the begin of what went out, what was passed over may have gone out before.
            let refused = refused.filter(|_| is_begin);
            one(&mut self.findings, asks, (&seen, &request), (refused, copies, books))?;
        }
        for asks in self.asks.values_mut() {
            asks.rest(&mut self.findings, (refused.filter(|_| is_begin), copies), reach)?;
        }
        Ok(self.findings)
    }
}

/// Finds what a request that went out comes from, and looks at what is passed over on the way.
fn one(
    findings: &mut Findings,
    asks: &mut Asks<'_>,
    (seen, sent): (&Seen, &Request),
    (refused, copies, books): (Option<&Refused>, &Copies, Option<&Books>),
) -> Result<(), Fault> {
    while let Some(next) = asks.stream.peek()?.cloned() {
        let Ok(asked) = Request::decode(next.id, &next.payload) else {
            // Who is behind an order, and bytes that are none.
            asks.stream.next()?;
            continue;
        };
        match stands(&next, &asked, sent) {
            std::cmp::Ordering::Less => {
                asks.passed_over(findings, &next, &asked, (refused, copies));
                asks.stream.next()?;
            }
            std::cmp::Ordering::Equal => {
                if !is_as_asked(&asked, sent, Offsets::of(books, sent)) {
                    findings.differs(
                        ORDERS,
                        seen.position,
                        said(seen),
                        format!("{} as in {}@{}", said(&next), asks.name, next.position),
                    );
                }
                asks.note(&asked);
                asks.stream.next()?;
                return Ok(());
            }
            std::cmp::Ordering::Greater => break,
        }
    }
    // A ring that has gone round has lost the request.
    if asks.is_begin || asks.newest.is_some() {
        let expected = format!("nothing: {} has no such request here", asks.name);
        findings.differs(ORDERS, seen.position, said(seen), expected);
    }
    Ok(())
}

impl Asks<'_> {
    fn note(&mut self, asked: &Request) {
        if let Request::New(order) = asked {
            self.newest = Some(order.order_id);
        }
    }

    /// What stands behind the last request that went out: it was refused, or td has not answered yet.
    fn rest(
        &mut self,
        findings: &mut Findings,
        (refused, copies): (Option<&Refused>, &Copies),
        reach: &Reach,
    ) -> Result<(), Fault> {
        let Some(refused) = refused else { return Ok(()) };
        let (mut open, mut first) = (0_u64, None);
        while let Some(next) = self.stream.next()? {
            let Ok(asked) = Request::decode(next.id, &next.payload) else { continue };
            let (reports, topic) = &self.reports;
            if refused.contains_key(&(reports.clone(), *topic, next.position)) {
                self.passed_over(findings, &next, &asked, (Some(refused), copies));
            } else {
                open += 1;
                first.get_or_insert(next);
            }
        }
        let Some(first) = first else { return Ok(()) };
        let of = format!("{open} requests of {} from position {} on", self.name, first.position);
        if matches!(reach, Reach::Ended) {
            let found = format!("{of} were neither sent nor refused: {}", said(&first));
            findings.differs(ORDERS, None, found, "each of them");
        } else {
            findings.notes.push(format!("{of} not answered yet: {}", reach.why_not_yet()));
        }
        Ok(())
    }

    /// A request that did not go out: it was refused, or it is one that came before.
    fn passed_over(
        &mut self,
        findings: &mut Findings,
        next: &Seen,
        asked: &Request,
        (refused, copies): (Option<&Refused>, &Copies),
    ) {
        let (reports, topic) = &self.reports;
        let is_again = matches!(asked, Request::New(order)
            if self.newest.is_some_and(|newest| !order.order_id.is_newer_than(newest)));
        if let Some(refused) = refused {
            findings.checked += 1;
            let refusal = refused.get(&(reports.clone(), *topic, next.position));
            if !is_again && refusal.is_none_or(|refusal| refusal.order_id != asked.order_id()) {
                let found = format!("{} of {}@{} did not go out", said(next), self.name, next.position);
                findings.differs(ORDERS, None, found, format!("its refusal in {reports}"));
            }
        }
        if let Request::New(order) = asked
            && let Some((position, copy)) = copies.get(&order.order_id).filter(|_| !is_again)
        {
            findings.checked += 1;
            if !is_as_asked(asked, &Request::New(*copy), Offsets::Kept) {
                let found = brief(&AnyMessage::NewOrder(*copy));
                let expected = format!("{} as in {}@{}", said(next), self.name, next.position);
                findings.differs(DROPS, *position, found, expected);
            }
        }
        self.note(asked);
    }
}

/// Where a request of a strategy's journal stands to one that went out.
fn stands(next: &Seen, asked: &Request, sent: &Request) -> std::cmp::Ordering {
    match (sent, asked) {
        (Request::New(sent), Request::New(asked)) if sent.order_id == asked.order_id => {
            std::cmp::Ordering::Equal
        }
        (Request::New(sent), Request::New(asked)) if asked.order_id.is_newer_than(sent.order_id) => {
            std::cmp::Ordering::Greater
        }
        (Request::New(_), _) => std::cmp::Ordering::Less,
        (Request::Cancel(_) | Request::Replace(_) | Request::CancelAll(_), _) => {
            let line = ((next.position / LINE) as u32 & !CancelOrder::OF_TD).max(1);
            // Numbers of lines have 31 bits, and go round after 128 GiB.
            match (line.wrapping_sub(sent.source().unwrap_or_default()) << 1) as i32 {
                0 => std::cmp::Ordering::Equal,
                1.. => std::cmp::Ordering::Greater,
                _ => std::cmp::Ordering::Less,
            }
        }
    }
}

/// td chooses the account where none is named, and what an order closes as its account says.
fn is_as_asked(asked: &Request, sent: &Request, offsets: Offsets) -> bool {
    match (asked, sent) {
        (Request::New(asked), Request::New(sent)) => {
            let Some(flags) = offsets.flags(asked.flags, sent.flags) else { return false };
            let account = if asked.account == AccountId::OWN { AccountId::OWN } else { sent.account };
            *asked == NewOrder { flags, account, ..*sent }
        }
        (asked, sent) => asked.with_source(sent.source().unwrap_or_default()) == *sent,
    }
}

#[cfg(test)]
mod tests {
    use wire::{InstrumentId, OrderType, Price, Quantity, Side, StrategyId, TimeInForce};

    use super::*;

    fn order(number: u32) -> NewOrder {
        NewOrder::plain(
            OrderId::new(StrategyId(5), 1, number),
            InstrumentId(1),
            Side::Buy,
            OrderType::Limit,
            TimeInForce::Day,
            Price(100),
            Quantity(1),
        )
    }

    #[test]
    fn td_may_choose_the_account_and_the_offset_and_nothing_else() {
        let asked = Request::New(order(1));
        let sent = NewOrder { account: AccountId(7), flags: NewOrder::OFFSET_OPEN, ..order(1) };
        let is_it =
            |asked: &Request, sent: NewOrder| is_as_asked(asked, &Request::New(sent), Offsets::Chosen);
        assert!(is_it(&asked, sent));
        for other in [
            NewOrder { quantity: Quantity(2), ..sent },
            NewOrder { price: Price(101), ..sent },
            NewOrder { side: Side::Sell, ..sent },
            NewOrder { flags: NewOrder::FORCED, ..sent },
        ] {
            assert!(!is_it(&asked, other), "{other:?}");
        }
        let named = Request::New(NewOrder { account: AccountId(8), ..order(1) });
        assert!(!is_it(&named, sent), "an account that was named stays");
    }
}
