//! What went out against the rules of its instrument, td's limits, those of accounts, groups, strategies and the platform, and the
//! money of its account.

use wire::{DROP_TAKEN, Request};

use super::books::Books;
use super::breaches::{Asked, breaches};
use super::findings::Findings;
use super::given::Given;
use super::rates::Rates;
use crate::desk::{DROPS, Seen, scope_name};

pub(super) struct Limits {
    pub(super) findings: Findings,
    pub(super) given: Given,
    pub(super) rates: Rates,
}

pub(super) fn part() -> Findings {
    Findings::new(
        "limits",
        "each request that went out is within td's limits, its instrument's rules, those of its scopes, and its account's money",
    )
}

impl Limits {
    pub(super) fn new(given: Given, findings: Findings) -> Limits {
        Limits { findings, given, rates: Rates::default() }
    }

    /// A frame of the drop copy, before the books have it.
    pub(super) fn before(&mut self, seen: &Seen, books: &Books) {
        if let Some((scope, kind)) = self.rates.before(seen, books) {
            let found = format!("more orders went out in a short time than the {kind} of {}", name(scope));
            self.findings.differs(DROPS, seen.position, found, "no more than it allows");
        }
        if seen.topic != DROP_TAKEN {
            return;
        }
        match Request::decode(seen.id, &seen.payload) {
            Ok(Request::New(order)) => match Asked::new(books, &order) {
                Some(asked) => self.request(seen, books, &asked),
                None => {
                    let found = format!("order {} went out", order.order_id);
                    self.findings.differs(DROPS, seen.position, found, "terms of its instrument before it");
                }
            },
            Ok(Request::Replace(replace)) => {
                if let Some(order) = books.orders.get(&replace.order_id) {
                    let asked = Asked::replace(books, order, replace.price, replace.quantity.0);
                    self.request(seen, books, &asked);
                }
            }
            Ok(Request::Cancel(_) | Request::CancelAll(_)) | Err(_) => {}
        }
    }

    fn request(&mut self, seen: &Seen, books: &Books, asked: &Asked<'_>) {
        self.findings.checked += 1;
        let all = breaches(&self.given, books, asked);
        if let Some(breach) = all.into_iter().find(|breach| breach.is_certain) {
            let (said, order) = (asked.said, asked.said.order);
            let kind = if said.is_new { "order" } else { "a replace of" };
            let found = format!(
                "{kind} {} went out: {} {} of instrument {} at {}",
                order.order_id, order.side, said.quantity, order.instrument, said.price
            );
            self.findings.differs(DROPS, seen.position, found, breach.expected);
        }
    }
}

fn name((scope, subject): (wire::AccountScope, u32)) -> String {
    scope_name(scope, subject, None)
}
