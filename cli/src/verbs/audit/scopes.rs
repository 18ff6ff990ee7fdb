//! Sums of groups, strategies and the platform: positions, what works, and orders at work, counted once more.

use accounts::Desk;
use wire::{AccountScope, WideMoney};

use super::books::Books;
use super::findings::Findings;
use super::rules::ROUNDING;
use crate::desk::{DROPS, scope_name};

/// The part, before anything was compared.
pub(super) fn part() -> Findings {
    Findings::new(
        "scopes",
        "positions, orders at work and gross of groups, strategies and the platform are the sums of their orders and fills",
    )
}

pub(super) fn compare(books: &Books, desk: &Desk) -> Findings {
    let mut findings = part();
    if books.unfit > 0 {
        findings.lacks(format!(
            "{} executions fit no order: what works behind them is not known, and sums are not compared",
            books.unfit
        ));
        return findings;
    }
    for (scope, subject) in books.scopes() {
        if scope == AccountScope::Account {
            continue;
        }
        let name = scope_name(scope, subject, None);
        let Some(kept) = desk.scope(scope, subject) else {
            findings.differs(DROPS, None, format!("the accounts do not know {name}"), "sums of its orders");
            continue;
        };
        let counted = books.all_sums((scope, subject));
        let known = kept.exposures.iter().map(|(instrument, _)| *instrument);
        for instrument in known.chain(counted.keys().copied()).collect::<std::collections::BTreeSet<_>>() {
            let its = kept.exposures.iter().find(|(known, _)| *known == instrument);
            let its = its.map_or([0; 3], |(_, sums)| *sums);
            let ours = counted.get(&instrument).copied().unwrap_or_default();
            let said = |[net, buy, sell]: [i64; 3]| format!("net {net}, to buy {buy}, to sell {sell}");
            findings.same(DROPS, None, &format!("{name}, instrument {instrument}"), said(its), said(ours));
        }
        let ours = books.orders_at_work((scope, subject));
        let what = format!("{name}, orders at work");
        findings.same(DROPS, None, &what, i64::from(kept.open_orders), ours);
        if let Some(ours) = books.gross((scope, subject)) {
            let amounts =
                kept.gross.iter().map(|(currency, gross)| books.in_currency(*gross, *currency, None));
            let its: i128 = amounts.sum();
            findings.checked += 1;
            if its < ours.least - ROUNDING || its > ours.most + ROUNDING {
                let [its, least, most] = [its, ours.least, ours.most].map(WideMoney::from_wide);
                let found = format!("{name}, gross of positions and orders: {its}");
                findings.differs(DROPS, None, found, format!("between {least} and {most}"));
            }
        }
        let what = format!("{name}, whether it is killed");
        let is_killed = books.killed.contains(&(scope, subject));
        findings.same(DROPS, None, &what, kept.killed.is_some(), is_killed);
    }
    findings
}
