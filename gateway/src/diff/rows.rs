//! What DIFF's clients see of quotes, orders, trades, positions and accounts: pure.

use std::borrow::Cow;

use accounts::{ContractView, DayFlows, PositionRow};
use wire::{AccountId, AccountState, Fill, OrderId, Price, Quote, Side, WideMoney};

use super::json::{Object, quoted};
use crate::core::ask::OrderName;
use crate::http::body::client_id;
use crate::time::datetime;
use crate::view::{InstrumentView, OrderView};

/// An instrument's name as these clients have it: an exchange, and the symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) exchange: String,
    pub(crate) symbol: String,
}

impl Name {
    /// A symbol that names its exchange keeps it.
    pub(crate) fn of(symbol: &str, exchange: &str) -> Name {
        let (exchange, symbol) = symbol.split_once('.').unwrap_or((exchange, symbol));
        Name { exchange: exchange.to_owned(), symbol: symbol.to_owned() }
    }

    pub(crate) fn full(&self) -> String {
        format!("{}.{}", self.exchange, self.symbol)
    }
}

/// What has traded since the gateway listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traded {
    pub(crate) open: Price,
    pub(crate) highest: Price,
    pub(crate) lowest: Price,
    pub(crate) last: Price,
    pub(crate) volume: i128,
    /// In 1e-9 of money for a lot, before the multiplier.
    pub(crate) amount: i128,
}

impl Traded {
    pub(crate) const NOTHING: Traded = Traded {
        open: Price::NONE,
        highest: Price::NONE,
        lowest: Price::NONE,
        last: Price::NONE,
        volume: 0,
        amount: 0,
    };

    pub(crate) fn add(&mut self, price: Price, quantity: i64) {
        if !price.is_some() {
            return;
        }
        let or = |known: Price, better: fn(Price, Price) -> Price| {
            if known.is_some() { better(known, price) } else { price }
        };
        (self.open, self.highest, self.lowest) =
            (or(self.open, |known, _| known), or(self.highest, Price::max), or(self.lowest, Price::min));
        self.last = price;
        self.volume += i128::from(quantity);
        self.amount += i128::from(price.0) * i128::from(quantity);
    }

    fn average(&self) -> Price {
        if self.volume == 0 { Price::NONE } else { Price((self.amount / self.volume) as i64) }
    }
}

/// A quote with five levels; absent ones stand there, so that they replace what was.
pub(crate) fn quote(
    name: &Name,
    quote: &Quote,
    published_ns: u64,
    traded: &Traded,
    multiplier: u64,
) -> String {
    let time = if quote.event_time.0 == 0 { published_ns } else { quote.event_time.0 };
    let mut row = Object::new()
        .text("datetime", &datetime(time))
        .text("instrument_id", &name.full())
        .text("exchange_id", &name.exchange);
    for (side, levels) in [("bid", &quote.bids), ("ask", &quote.asks)] {
        for (place, level) in levels.iter().take(5).enumerate() {
            let is_there = level.is_some();
            let price = if is_there { level.price } else { Price::NONE };
            row = row
                .price(&format!("{side}_price{}", place + 1), price)
                .raw(&format!("{side}_volume{}", place + 1), if is_there { level.quantity.0 } else { 0 });
        }
    }
    let last = if traded.last.is_some() { traded.last } else { quote.last_price };
    row.price("last_price", last)
        .price("open", traded.open)
        .price("highest", traded.highest)
        .price("lowest", traded.lowest)
        .price("average", traded.average())
        .raw("volume", traded.volume)
        .raw("amount", WideMoney::from_wide(traded.amount.saturating_mul(i128::from(multiplier))))
        .end()
}

fn direction(side: &str) -> &'static str {
    if side == "sell" { "SELL" } else { "BUY" }
}

fn offset(offset: &str) -> &'static str {
    match offset {
        "close" | "close-yesterday" => "CLOSE",
        "close-today" => "CLOSETODAY",
        _ => "OPEN",
    }
}

/// Before a name that has the form of the platform's ids. No name of a client has this character.
const NAME: char = '%';

/// What an order is called: by its client's name, where it has one, else by the platform's id. No order is called as another one.
pub(crate) fn order_id(order: &OrderView) -> Cow<'_, str> {
    match order.client_order_id.as_deref() {
        None => Cow::Borrowed(&order.order_id),
        Some(name) if is_id(name) => Cow::Owned(format!("{NAME}{name}")),
        Some(name) => Cow::Borrowed(name),
    }
}

/// Has it the form of the platform's ids?
pub(crate) fn is_id(name: &str) -> bool {
    name.parse::<OrderId>().is_ok()
}

/// Which order is called so.
pub(crate) fn called(account: u32, order_id: &str) -> Result<OrderName, String> {
    if let Ok(id) = order_id.parse() {
        return Ok(OrderName::Id(id));
    }
    let name = order_id.strip_prefix(NAME).unwrap_or(order_id);
    let name = client_id(name).map_err(|problem| problem.detail().to_owned())?;
    Ok(OrderName::Client(AccountId(account), name))
}

/// An order.
pub(crate) fn order(name: &Name, order: &OrderView) -> String {
    let is_refused = order.status == "rejected";
    let is_market = matches!(order.order_type, "market" | "stop");
    let message = match (order.status, order.reason) {
        ("unknown", _) => "what became of it is not known".to_owned(),
        (status, Some(reason)) => format!("{status}: {reason}"),
        (status, None) => status.to_owned(),
    };
    let time_condition = match order.time_in_force {
        "ioc" | "fok" => "IOC",
        "gtc" => "GTC",
        _ => "GFD",
    };
    Object::new()
        .text("user_id", &order.account.to_string())
        .text("order_id", &order_id(order))
        // One that never was at the market has none: clients tell an error by it.
        .text("exchange_order_id", if is_refused { "" } else { &order.order_id })
        .text("exchange_id", &name.exchange)
        .text("instrument_id", &name.symbol)
        .text("direction", direction(order.side))
        .text("offset", offset(order.terms.word("offset").unwrap_or_default()))
        .raw("volume_orign", order.quantity)
        .raw("volume_left", order.quantity - order.filled)
        .number("limit_price", order.price.as_ref().filter(|_| !is_market))
        .text("price_type", if is_market { "ANY" } else { "LIMIT" })
        .text("volume_condition", if order.time_in_force == "fok" { "ALL" } else { "ANY" })
        .text("time_condition", time_condition)
        .raw("insert_date_time", order.sent_ns)
        .text("last_msg", &message)
        .text("status", if order.working { "ALIVE" } else { "FINISHED" })
        .raw("seqno", order.sequence)
        .end()
}

/// What a client asked that never became an order, and why.
pub(crate) fn never_sent(account: u32, asked: &super::asked::InsertOrder, why: &str) -> String {
    Object::new()
        .text("user_id", &account.to_string())
        .text("order_id", &asked.order_id)
        .text("exchange_order_id", "")
        .text("exchange_id", &asked.exchange_id)
        .text("instrument_id", &asked.instrument_id)
        .text("direction", &asked.direction)
        .text("offset", &asked.offset)
        .raw("volume_orign", asked.volume)
        .raw("volume_left", asked.volume)
        .text("price_type", &asked.price_type)
        .text("last_msg", why)
        .text("status", "FINISHED")
        .end()
}

/// The name of a trade: both of its sides may be one account's.
pub(crate) fn trade_id(order: &OrderView, fill: &Fill) -> String {
    format!("{}|{}", order_id(order), fill.trade_id)
}

/// A trade of an order.
pub(crate) fn trade(name: &Name, order: &OrderView, fill: &Fill, time_ns: u64, sequence: u64) -> String {
    let time = if fill.event_time.0 == 0 { time_ns } else { fill.event_time.0 };
    Object::new()
        .text("user_id", &order.account.to_string())
        .text("order_id", &order_id(order))
        .text("trade_id", &trade_id(order, fill))
        .text("exchange_trade_id", &fill.trade_id.to_string())
        .text("exchange_id", &name.exchange)
        .text("instrument_id", &name.symbol)
        .text("direction", if fill.side == Side::Sell { "SELL" } else { "BUY" })
        .text("offset", offset(order.terms.word("offset").unwrap_or_default()))
        .price("price", fill.price)
        .raw("volume", fill.quantity.0)
        .raw("trade_date_time", time)
        .raw("seqno", sequence)
        .end()
}

/// A position, with both sides.
pub(crate) fn position(name: &Name, row: &PositionRow, contract: Option<ContractView>) -> String {
    let multiplier = i128::from(contract.map_or(1, |contract| contract.multiplier));
    let mark = Some(row.mark).filter(|mark| mark.is_some());
    let money = |wide: i128| WideMoney::from_wide(wide);
    let mut shown = Object::new()
        .text("user_id", &row.account.0.to_string())
        .text("exchange_id", &name.exchange)
        .text("instrument_id", &name.symbol);
    // Since the lots were opened, and since they were opened or last settled.
    let mut profits = [Some(0_i128); 2];
    let sides = [
        ("long", row.long_today, row.long_yesterday, row.long_frozen, (row.long_cost, row.long_settled), 1),
        (
            "short",
            row.short_today,
            row.short_yesterday,
            row.short_frozen,
            (row.short_cost, row.short_settled),
            -1,
        ),
    ];
    for (side, today, earlier, frozen, (cost, settled), sign) in sides {
        let lots = today + earlier;
        let average = |cost: i128| match i128::from(lots).saturating_mul(multiplier) {
            0 => Price::NONE,
            units => Price((cost / units) as i64),
        };
        let profit = |cost: i128| match (lots, mark) {
            (0, _) => Some(0),
            (_, None) => None,
            (_, Some(mark)) => {
                let worth = i128::from(mark.0).saturating_mul(i128::from(lots)).saturating_mul(multiplier);
                Some(sign * (worth - cost))
            }
        };
        let basis = cost + settled;
        let since = [profit(cost), profit(basis)];
        for (sum, profit) in profits.iter_mut().zip(since) {
            *sum = sum.zip(profit).map(|(sum, profit)| sum + profit);
        }
        shown = shown
            .raw(&format!("pos_{side}_today"), today)
            .raw(&format!("pos_{side}_his"), earlier)
            .raw(&format!("volume_{side}_today"), today)
            .raw(&format!("volume_{side}_his"), earlier)
            .raw(&format!("volume_{side}"), lots)
            .raw(&format!("volume_{side}_frozen"), frozen)
            .price(&format!("open_price_{side}"), average(cost))
            .raw(&format!("open_cost_{side}"), money(cost))
            .price(&format!("position_price_{side}"), average(basis))
            .raw(&format!("position_cost_{side}"), money(basis))
            .number(&format!("float_profit_{side}"), since[0].map(money))
            .number(&format!("position_profit_{side}"), since[1].map(money));
    }
    shown
        .price("last_price", row.mark)
        .raw("margin", money(row.margin))
        .number("float_profit", profits[0].map(money))
        .number("position_profit", profits[1].map(money))
        .end()
}

/// How an account stands, and what has moved its money today. `balance` is `static_balance` and what was gained and charged since;
/// `position_profit` counts from the last settlement, `float_profit` from when the lots were opened.
pub(crate) fn account(state: &AccountState, flows: &DayFlows) -> String {
    let money = WideMoney::from_wide;
    let (equity, day, open) = (state.equity.wide(), state.day_result.wide(), flows.unrealised);
    Object::new()
        .text("user_id", &state.account.0.to_string())
        .text("currency", &state.currency.to_string())
        .raw("pre_balance", money(equity - day - flows.deposits + flows.withdrawals))
        .raw("static_balance", money(equity - day))
        .raw("balance", money(equity))
        .raw("available", money(state.available.wide()))
        .raw("float_profit", money(open + flows.settled))
        .raw("position_profit", money(open))
        .raw("close_profit", money(day - open + flows.charges))
        .raw("margin", money(state.margin.wide()))
        .raw("frozen_margin", money(state.frozen.wide()))
        .raw("frozen_commission", 0)
        .raw("frozen_premium", 0)
        .raw("commission", money(flows.charges))
        .raw("premium", 0)
        .raw("deposit", money(flows.deposits))
        .raw("withdraw", money(flows.withdrawals))
        .raw("risk_ratio", Price(state.risk_ratio.min(i64::MAX as u64 - 1) as i64))
        .end()
}

/// An instrument, for the document of instruments.
pub(crate) fn instrument(name: &Name, view: &InstrumentView, multiplier: u64) -> String {
    let tick = view.tick.as_deref().unwrap_or("0.01");
    let places = tick.split_once('.').map_or(0, |(_, places)| places.len());
    let product: String = name.symbol.chars().take_while(|digit| !digit.is_ascii_digit()).collect();
    Object::new()
        .text("class", "FUTURE")
        .text("instrument_id", &name.full())
        .text("exchange_id", &name.exchange)
        .text("product_id", if product.is_empty() { &name.symbol } else { &product })
        .raw("price_tick", tick)
        .raw("price_decs", places)
        .raw("volume_multiple", multiplier)
        .raw("min_limit_order_volume", view.lot.max(1))
        .raw("min_market_order_volume", view.lot.max(1))
        .raw("max_limit_order_volume", i32::MAX)
        .raw("max_market_order_volume", i32::MAX)
        .raw("margin", 0)
        .raw("commission", 0)
        .raw("expired", false)
        // Of a market that is never closed.
        .raw("trading_time", r#"{"day":[["00:00:00","24:00:00"]],"night":[]}"#)
        // 2099-12-31.
        .raw("expire_datetime", 4_102_329_600_u64)
        .raw("delivery_year", 2_099)
        .raw("delivery_month", 12)
        .end()
}

/// Clients rename this one, and stumble where it is missing.
pub(crate) const INDEX: &str = r#""CSI.000300":{"class":"INDEX","instrument_id":"CSI.000300","exchange_id":"CSI","product_id":"000300","price_tick":0.01,"price_decs":2,"volume_multiple":1,"expired":true,"expire_datetime":4102329600,"trading_time":{"day":[],"night":[]}}"#;

/// An entry of an object.
pub(crate) fn entry(key: &str, row: &str) -> String {
    format!("{}:{row}", quoted(key))
}

#[cfg(test)]
mod tests {
    use wire::{Currency, InstrumentId};

    use super::*;

    fn number(text: &str, name: &str) -> String {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value[name].to_string()
    }

    /// Five lots of 10, bought at 101, settled at 105, at 104 now: 15 since they were opened, less by one since the settlement.
    #[test]
    fn a_settlement_parts_the_two_profits() {
        let unit = 1_000_000_000_i128;
        let row = PositionRow {
            day: 0,
            account: AccountId(10),
            owner: None,
            instrument: InstrumentId(1),
            long_today: 0,
            long_yesterday: 5,
            short_today: 0,
            short_yesterday: 0,
            long_frozen: 0,
            short_frozen: 0,
            long_cost: 5_050 * unit,
            short_cost: 0,
            long_settled: 200 * unit,
            short_settled: 0,
            realised: 0,
            unrealised: -50 * unit,
            charges: 0,
            margin: 0,
            mark: Price(104_000_000_000),
        };
        let contract = ContractView {
            symbol: wire::Symbol::new("SIM001").unwrap(),
            currency: Currency::cut("CNY"),
            multiplier: 10,
            mark: row.mark,
        };
        let name = Name { exchange: "COLO".to_owned(), symbol: "SIM001".to_owned() };
        let shown = position(&name, &row, Some(contract));
        for (field, value) in [
            ("open_price_long", "101.0"),
            ("position_price_long", "105.0"),
            ("position_cost_long", "5250.0"),
            ("float_profit_long", "150.0"),
            ("position_profit_long", "-50.0"),
            ("float_profit", "150.0"),
            ("position_profit", "-50.0"),
        ] {
            let found: f64 = number(&shown, field).parse().unwrap();
            assert_eq!(found, value.parse::<f64>().unwrap(), "{field}: {shown}");
        }
    }

    /// Orders with names and without: each has an `order_id` of its own, and that finds this order and no other.
    #[test]
    fn no_order_is_called_as_another_one() {
        let id = OrderId::new(wire::StrategyId(7), 1, 29);
        let names = ["7-1-29", "7-1-30", "+7-1-29", "07-1-29", "a", "7-1", "7-1-29-1", "x7-1-29"];
        let mut called_so = std::collections::BTreeSet::new();
        let order = |name: Option<&str>| OrderView {
            order_id: id.to_string(),
            client_order_id: name.map(str::to_owned),
            ..OrderView::default()
        };
        for name in names.into_iter().map(Some).chain([None]) {
            let order = order(name);
            let order_id = order_id(&order).into_owned();
            let expected = match name {
                Some(name) => OrderName::Client(AccountId(9), client_id(name).unwrap()),
                None => OrderName::Id(id),
            };
            assert_eq!(called(9, &order_id), Ok(expected), "{name:?} is called {order_id}");
            assert!(called_so.insert(order_id), "{name:?}");
        }
        assert_eq!(order_id(&order(Some("a"))), "a", "as its client calls it");
    }
}
