//! What an account has, as it is printed.

use accounts::{Desk, PositionRow, PurseView, SetLimit, WorkingOrder};
use serde::Serialize;
use topology::Topology;
use wire::{LimitKind, WideMoney};

use crate::desk;

#[derive(Debug, Serialize)]
pub(super) struct Money {
    pub(super) currency: String,
    pub(super) balance: String,
    pub(super) frozen: String,
    pub(super) margin: String,
    pub(super) gross: String,
    pub(super) deposits: String,
    pub(super) withdrawals: String,
    pub(super) realised: String,
    pub(super) variation: String,
    pub(super) invested: String,
    pub(super) fees: String,
    pub(super) taxes: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Position {
    pub(super) instrument: u32,
    pub(super) symbol: String,
    pub(super) long_today: i64,
    pub(super) long_yesterday: i64,
    pub(super) short_today: i64,
    pub(super) short_yesterday: i64,
    pub(super) long_frozen: i64,
    pub(super) short_frozen: i64,
    pub(super) long_cost: String,
    pub(super) short_cost: String,
    pub(super) realised: String,
    pub(super) unrealised: String,
    pub(super) charges: String,
    pub(super) margin: String,
    pub(super) mark: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Limit {
    pub(super) limit: String,
    pub(super) symbol: Option<String>,
    pub(super) value: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Order {
    pub(super) order_id: String,
    pub(super) strategy: String,
    pub(super) symbol: String,
    pub(super) side: String,
    pub(super) status: String,
    pub(super) price: Option<String>,
    pub(super) quantity: i64,
    pub(super) filled: i64,
    pub(super) remaining: i64,
    pub(super) frozen_money: String,
}

fn money(amount: i128) -> String {
    WideMoney::from_wide(amount).to_string()
}

impl Money {
    pub(super) fn of(purse: &PurseView) -> Money {
        let totals = &purse.totals;
        Money {
            currency: purse.currency.to_string(),
            balance: money(purse.balance),
            frozen: money(purse.frozen),
            margin: money(purse.margin),
            gross: money(purse.gross),
            deposits: money(totals.deposits),
            withdrawals: money(totals.withdrawals),
            realised: money(totals.realised),
            variation: money(totals.variation),
            invested: money(totals.invested),
            fees: money(totals.fees),
            taxes: money(totals.taxes),
        }
    }
}

fn symbol(desk: &Desk, instrument: wire::InstrumentId) -> String {
    desk.contract(instrument).map_or_else(|| instrument.to_string(), |contract| contract.symbol.to_string())
}

impl Position {
    pub(super) fn of(row: &PositionRow, desk: &Desk) -> Position {
        Position {
            instrument: row.instrument.0,
            symbol: symbol(desk, row.instrument),
            long_today: row.long_today,
            long_yesterday: row.long_yesterday,
            short_today: row.short_today,
            short_yesterday: row.short_yesterday,
            long_frozen: row.long_frozen,
            short_frozen: row.short_frozen,
            long_cost: money(row.long_cost),
            short_cost: money(row.short_cost),
            realised: money(row.realised),
            unrealised: money(row.unrealised),
            charges: money(row.charges),
            margin: money(row.margin),
            mark: row.mark.is_some().then(|| row.mark.to_string()),
        }
    }
}

impl Limit {
    pub(super) fn of(limit: &SetLimit, desk: &Desk) -> Limit {
        let value = match limit.limit {
            LimitKind::GrossNotional | LimitKind::OrderNotional | LimitKind::Loss => money(limit.amount),
            LimitKind::MarginCall | LimitKind::ForcedLiquidation => money(limit.number.into()),
            _ if limit.burst != 0 => format!("{}/{}", limit.number, limit.burst),
            _ => limit.number.to_string(),
        };
        Limit {
            limit: limit.limit.to_string(),
            symbol: (limit.instrument.0 != 0).then(|| symbol(desk, limit.instrument)),
            value,
        }
    }
}

impl Order {
    pub(super) fn of(order: &WorkingOrder, desk: &Desk, topology: &Topology) -> Order {
        let update = &order.update;
        Order {
            order_id: order.request.order_id.to_string(),
            strategy: desk::strategy_name(Some(topology), order.request.order_id.strategy()),
            symbol: symbol(desk, order.request.instrument),
            side: order.request.side.to_string(),
            status: update.status.to_string(),
            price: update.price.is_some().then(|| update.price.to_string()),
            quantity: update.quantity.0,
            filled: update.filled.0,
            remaining: update.remaining.0,
            frozen_money: money(order.reserved),
        }
    }
}
