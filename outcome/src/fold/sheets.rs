//! The tables and their columns. `docs/runs.md` says what each holds.

use std::path::Path;

use crate::sheet::{Column, Listed, Sheet};

const fn column(name: &'static str, kind: &'static str, unit: &'static str) -> Column {
    Column { name, kind, unit }
}

const TIME: Column = column("time_ns", "timestamp(ns)", "ns since the epoch");
const STRATEGY: Column = column("strategy", "string", "");
const ACCOUNT: Column = column("account", "uint64", "");
const INSTRUMENT: Column = column("instrument", "uint64", "");
const SYMBOL: Column = column("symbol", "string", "");
const ORDER: Column = column("order_id", "string", "SEAT-EPOCH-SEQUENCE");
const SIDE: Column = column("side", "string", "");

const fn money(name: &'static str) -> Column {
    column(name, "decimal(38,9)", "currency")
}

const fn lots(name: &'static str) -> Column {
    column(name, "int64", "shares or contracts")
}

const fn time(name: &'static str) -> Column {
    column(name, "timestamp(ns)", "ns since the epoch")
}

const fn count(name: &'static str) -> Column {
    column(name, "uint64", "")
}

const FILLS: &[Column] = &[
    TIME,
    column("trade_id", "uint64", ""),
    ORDER,
    STRATEGY,
    ACCOUNT,
    INSTRUMENT,
    SYMBOL,
    SIDE,
    column("liquidity", "string", ""),
    money("price"),
    lots("quantity"),
    lots("remaining"),
    lots("position"),
    lots("closed"),
    money("realised"),
    money("fees"),
];

const ORDERS: &[Column] = &[
    ORDER,
    STRATEGY,
    ACCOUNT,
    INSTRUMENT,
    SYMBOL,
    SIDE,
    column("type", "string", ""),
    column("time_in_force", "string", ""),
    money("price"),
    lots("quantity"),
    money("last_price"),
    lots("last_quantity"),
    time("sent_ns"),
    time("accepted_ns"),
    time("first_fill_ns"),
    time("ended_ns"),
    column("status", "string", ""),
    column("reason", "string", ""),
    lots("filled"),
    money("value"),
    money("fees"),
    count("fills"),
    count("cancels"),
    count("replaces"),
    count("refused"),
    column("refused_reason", "string", ""),
];

const EQUITY: &[Column] = &[
    TIME,
    STRATEGY,
    money("equity"),
    money("realised"),
    money("unrealised"),
    money("drawdown"),
    money("net"),
    money("gross"),
    lots("position"),
    money("fees"),
    money("equity_net"),
];

const POSITIONS: &[Column] = &[
    TIME,
    STRATEGY,
    INSTRUMENT,
    SYMBOL,
    lots("position"),
    money("average_price"),
    money("mark"),
    money("realised"),
    money("unrealised"),
];

const PRICES: &[Column] = &[TIME, INSTRUMENT, SYMBOL, money("mark")];

const ACCOUNTS: &[Column] = &[
    TIME,
    ACCOUNT,
    column("owner", "string", ""),
    column("currency", "string", ""),
    money("equity"),
    money("available"),
    money("margin"),
    money("day_result"),
    count("open_orders"),
];

pub(super) const STRATEGIES: &[Column] = &[
    STRATEGY,
    count("orders"),
    count("rejected"),
    count("cancels"),
    count("cancels_rejected"),
    count("replaces"),
    count("replaces_rejected"),
    count("fills"),
    lots("bought"),
    lots("sold"),
    lots("position"),
    money("turnover"),
    money("pnl"),
    money("realised"),
    money("unrealised"),
    money("max_drawdown"),
    column("fill_ratio", "float64", "of what was ordered"),
    column("holding_s", "float64", "s"),
    column("sharpe", "float64", "per interval, not annualised"),
    count("sharpe_n"),
    column("sharpe_interval_s", "uint64", "s"),
    money("fees"),
    money("pnl_net"),
    count("open"),
    money("sharpe_sum"),
    column("sharpe_sum2", "float64", "currency²"),
    column("sharpe_sum3", "float64", "currency³"),
    column("sharpe_sum4", "float64", "currency⁴"),
];

const T2O: &[Column] = &[
    ORDER,
    STRATEGY,
    time("due_ns"),
    time("published_ns"),
    time("received_ns"),
    time("ordered_ns"),
    time("taken_ns"),
];

/// All of them.
#[derive(Debug)]
pub(crate) struct Sheets {
    pub(crate) fills: Sheet,
    pub(crate) orders: Sheet,
    pub(crate) equity: Sheet,
    pub(crate) positions: Sheet,
    pub(crate) prices: Sheet,
    /// Where accounts are kept.
    pub(crate) accounts: Option<Sheet>,
    pub(crate) strategies: Sheet,
    pub(crate) t2o: Sheet,
}

impl Sheets {
    pub(crate) fn create(folder: &Path, with_accounts: bool) -> Sheets {
        Sheets {
            fills: Sheet::create(folder, "fills.csv", FILLS),
            orders: Sheet::create(folder, "orders.csv", ORDERS),
            equity: Sheet::create(folder, "equity.csv", EQUITY),
            positions: Sheet::create(folder, "positions.csv", POSITIONS),
            prices: Sheet::create(folder, "prices.csv", PRICES),
            accounts: with_accounts.then(|| Sheet::create(folder, "accounts.csv", ACCOUNTS)),
            strategies: Sheet::create(folder, "strategies.csv", STRATEGIES),
            t2o: Sheet::create(folder, "t2o.csv", T2O),
        }
    }

    /// Rows of what is sampled.
    pub(crate) fn sampled(&self) -> u64 {
        self.equity.rows() + self.positions.rows() + self.prices.rows()
    }

    pub(crate) fn flush(&mut self) {
        let Sheets { fills, orders, equity, positions, prices, accounts, strategies, t2o } = self;
        let all = [fills, orders, equity, positions, prices, strategies, t2o];
        all.into_iter().chain(accounts).for_each(Sheet::flush);
    }

    pub(crate) fn finish(self) -> (Vec<Listed>, Vec<String>) {
        let Sheets { fills, orders, equity, positions, prices, accounts, strategies, t2o } = self;
        let all = [fills, orders, equity, positions, prices, strategies, t2o];
        let (listed, problems): (Vec<_>, Vec<_>) = all.into_iter().chain(accounts).map(Sheet::finish).unzip();
        (listed, problems.into_iter().flatten().collect())
    }
}

/// A column of `strategies.csv` that measures something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// As the column is called.
    pub name: &'static str,
    /// What it counts.
    pub unit: &'static str,
    /// Those of several strategies may be added up.
    pub is_sum: bool,
}

/// All of them.
pub fn strategy_measures() -> impl Iterator<Item = Measure> {
    const NOT_ADDED: [&str; 4] = ["max_drawdown", "sharpe_n", "sharpe_interval_s", "sharpe_sum"];
    let measures = STRATEGIES.iter().filter(|column| column.kind != "string");
    measures.map(|column| Measure {
        name: column.name,
        unit: column.unit,
        is_sum: column.kind != "float64" && !NOT_ADDED.contains(&column.name),
    })
}
