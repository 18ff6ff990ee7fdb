//! A book as a table and as JSON.

use serde::Serialize;
use wire::{Price, Statistics};

use crate::output;

/// One level. Quantities and prices as text, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) price: String,
    pub(super) quantity: i64,
    /// Number of orders; absent where only quotes are known.
    pub(super) orders: Option<u32>,
}

/// What an auction would trade.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct IndicativeRow {
    /// Absent where nothing would trade.
    pub(super) price: Option<String>,
    pub(super) quantity: i64,
    pub(super) imbalance: i64,
}

/// What has traded on this day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct StatisticsRow {
    /// Absent, as all prices here, before the first trade.
    pub(super) open: Option<String>,
    pub(super) high: Option<String>,
    pub(super) low: Option<String>,
    pub(super) last: Option<String>,
    pub(super) volume: i64,
    /// What was paid, exactly.
    pub(super) turnover: String,
    pub(super) trades: u64,
}

impl StatisticsRow {
    pub(super) fn of(statistics: &Statistics) -> StatisticsRow {
        StatisticsRow {
            open: price(statistics.open),
            high: price(statistics.high),
            low: price(statistics.low),
            last: price(statistics.last),
            volume: statistics.volume.0,
            turnover: statistics.turnover.to_string(),
            trades: statistics.trades,
        }
    }

    fn text(&self) -> String {
        let of = |price: &Option<String>| price.clone().unwrap_or_else(|| "-".to_owned());
        format!(
            "open {}, high {}, low {}, last {}, volume {}, turnover {}, {}\n",
            of(&self.open),
            of(&self.high),
            of(&self.low),
            of(&self.last),
            self.volume,
            self.turnover,
            output::count(self.trades, "trade")
        )
    }
}

/// A book at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Ladder {
    pub(super) instrument: u32,
    pub(super) symbol: String,
    /// Absent where the market tells none.
    pub(super) phase: Option<&'static str>,
    /// Number of the last event.
    pub(super) sequence: u64,
    pub(super) event_time_ns: u64,
    pub(super) last_price: Option<String>,
    pub(super) indicative: Option<IndicativeRow>,
    /// Absent where the market tells none.
    pub(super) statistics: Option<StatisticsRow>,
    /// Best first.
    pub(super) bids: Vec<Row>,
    /// Best first.
    pub(super) asks: Vec<Row>,
}

/// A price, if there is one.
pub(super) fn price(price: Price) -> Option<String> {
    price.is_some().then(|| price.to_string())
}

impl Ladder {
    /// Asks above bids, the best prices in the middle.
    pub(super) fn text(&self) -> String {
        let mut text = format!("{} (instrument {})", self.symbol, self.instrument);
        if let Some(phase) = self.phase {
            text.push_str(&format!(", {phase}"));
        }
        if let Some(last) = &self.last_price {
            text.push_str(&format!(", last {last}"));
        }
        text.push_str(&format!(", event {}\n", output::number(self.sequence)));
        if let Some(statistics) = &self.statistics {
            text.push_str(&statistics.text());
        }
        if let Some(indicative) = &self.indicative {
            text.push_str(&match &indicative.price {
                Some(price) => format!(
                    "an auction now: {} at {price}, {} {} left over\n",
                    indicative.quantity,
                    indicative.imbalance.unsigned_abs(),
                    if indicative.imbalance < 0 { "for sale" } else { "wanted" },
                ),
                None => "an auction now: nothing trades\n".to_owned(),
            });
        }
        let orders = |row: &Row| row.orders.map_or(String::new(), |orders| orders.to_string());
        let asks = self.asks.iter().rev().map(|row| {
            vec![String::new(), String::new(), row.price.clone(), row.quantity.to_string(), orders(row)]
        });
        let bids = self.bids.iter().map(|row| {
            vec![orders(row), row.quantity.to_string(), row.price.clone(), String::new(), String::new()]
        });
        let head = ["orders", "bid", "price", "ask", "orders"];
        text + "\n" + &output::table(&head, 0, asks.chain(bids))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_stand_above_bids() {
        let row = |price: &str, quantity| Row { price: price.to_owned(), quantity, orders: Some(2) };
        let ladder = Ladder {
            instrument: 1,
            symbol: "SIM001".to_owned(),
            phase: Some("closing-auction"),
            sequence: 1_234,
            event_time_ns: 5,
            last_price: Some("10.02".to_owned()),
            indicative: Some(IndicativeRow { price: Some("10.02".to_owned()), quantity: 7, imbalance: -3 }),
            statistics: Some(StatisticsRow {
                open: Some("10".to_owned()),
                high: Some("10.03".to_owned()),
                low: Some("9.99".to_owned()),
                last: Some("10.02".to_owned()),
                volume: 120,
                turnover: "1202.4".to_owned(),
                trades: 1_030,
            }),
            bids: vec![row("10.01", 5), row("10", 6)],
            asks: vec![row("10.03", 7), row("10.04", 8)],
        };
        let text = ladder.text();
        let order: Vec<usize> =
            ["10.04", "10.03", "10.01"].iter().map(|price| text.rfind(price).unwrap()).collect();
        assert!(order.is_sorted(), "{text}");
        let traded = "open 10, high 10.03, low 9.99, last 10.02, volume 120, turnover 1202.4, 1,030 trades\n";
        assert!(text.contains(traded), "{text}");
        assert!(text.contains("an auction now: 7 at 10.02, 3 for sale left over"), "{text}");
        assert!(
            text.starts_with("SIM001 (instrument 1), closing-auction, last 10.02, event 1,234\n"),
            "{text}"
        );
    }
}
