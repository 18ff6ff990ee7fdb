//! What the market says.

use std::collections::HashMap;

use hyper::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use wire::InstrumentId;

use super::Shared;
use super::answer::{Answered, ask, json};
use super::orders::number;
use super::problem::{Kind, Problem};
use crate::core::ask::Ask;
use crate::view::{Bar, BarSpan, InstrumentView, QuoteView, TradeView};

/// All instruments.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InstrumentsView {
    /// By number.
    instruments: Vec<InstrumentView>,
}

/// The latest trades.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TradesView {
    /// The oldest first.
    trades: Vec<TradeView>,
}

/// Bars of trades.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BarsView {
    /// The oldest first; spans without a trade have none.
    bars: Vec<Bar>,
}

pub(crate) async fn instrument(shared: &Shared, text: &str) -> Result<InstrumentId, Problem> {
    find(shared, text).await.map(|found| InstrumentId(found.instrument))
}

async fn find(shared: &Shared, text: &str) -> Result<InstrumentView, Problem> {
    let found = ask(shared, |reply| Ask::Find(text.to_owned(), reply)).await?;
    found.ok_or_else(|| Problem::new(Kind::NotFound, format!("there is no instrument `{text}`")))
}

/// All instruments.
#[utoipa::path(get, path = "/v1/instruments", tag = "market", security(("token" = [])),
    responses((status = 200, body = InstrumentsView), (status = "4XX", body = Problem)))]
pub(crate) async fn instruments(shared: &Shared) -> Answered {
    let instruments = ask(shared, Ask::Instruments).await?;
    json(StatusCode::OK, &InstrumentsView { instruments })
}

/// One instrument.
#[utoipa::path(get, path = "/v1/instruments/{symbol}", tag = "market", security(("token" = [])),
    params(("symbol" = String, Path, description = "Symbol or number")),
    responses((status = 200, body = InstrumentView), (status = "4XX", body = Problem)))]
pub(crate) async fn one(shared: &Shared, symbol: &str) -> Answered {
    json(StatusCode::OK, &find(shared, symbol).await?)
}

/// The latest quote, with all levels that are heard.
#[utoipa::path(get, path = "/v1/quotes/{symbol}", tag = "market", security(("token" = [])),
    params(("symbol" = String, Path, description = "Symbol or number")),
    responses((status = 200, body = QuoteView), (status = "4XX", body = Problem)))]
pub(crate) async fn quote(shared: &Shared, symbol: &str) -> Answered {
    let id = instrument(shared, symbol).await?;
    let quote = ask(shared, |reply| Ask::Quote(id, reply)).await?;
    let quote = quote
        .ok_or_else(|| Problem::new(Kind::NotFound, format!("nothing of `{symbol}` was published yet")))?;
    json(StatusCode::OK, &quote)
}

/// The book: up to ten levels a side.
#[utoipa::path(get, path = "/v1/book/{symbol}", tag = "market", security(("token" = [])),
    params(("symbol" = String, Path, description = "Symbol or number"),
        ("levels" = Option<u32>, Query, description = "As many a side at most; 10")),
    responses((status = 200, body = QuoteView), (status = "4XX", body = Problem)))]
pub(crate) async fn book(shared: &Shared, symbol: &str, query: &HashMap<String, String>) -> Answered {
    let levels = number::<usize>(query, "levels")?.unwrap_or(wire::LEVELS);
    let id = instrument(shared, symbol).await?;
    let quote = ask(shared, |reply| Ask::Quote(id, reply)).await?;
    let mut quote: QuoteView = match depth(shared, id) {
        // Where only the best is heard, md keeps the rest.
        Some(depth) => {
            let known = quote.ok_or_else(|| nothing(symbol))?;
            QuoteView {
                symbol: known.symbol.clone(),
                ..QuoteView::of(&depth, wire::Symbol::default(), known.published_ns)
            }
        }
        None => quote.ok_or_else(|| nothing(symbol))?,
    };
    quote.bids.truncate(levels);
    quote.asks.truncate(levels);
    json(StatusCode::OK, &quote)
}

fn nothing(symbol: &str) -> Problem {
    Problem::new(Kind::NotFound, format!("nothing of `{symbol}` was published yet"))
}

fn depth(shared: &Shared, instrument: InstrumentId) -> Option<wire::Quote> {
    if shared.config.data == topology::config::MarketData::Depth {
        return None;
    }
    node::Depths::of(&shared.instance).ok()??.get(instrument).ok()
}

/// The latest trades.
#[utoipa::path(get, path = "/v1/trades/{symbol}", tag = "market", security(("token" = [])),
    params(("symbol" = String, Path, description = "Symbol or number"),
        ("limit" = Option<u32>, Query, description = "As many at most; 100")),
    responses((status = 200, body = TradesView), (status = "4XX", body = Problem)))]
pub(crate) async fn trades(shared: &Shared, symbol: &str, query: &HashMap<String, String>) -> Answered {
    let limit = number::<usize>(query, "limit")?.unwrap_or(100);
    let id = instrument(shared, symbol).await?;
    let trades = ask(shared, |reply| Ask::Trades(id, limit, reply)).await?;
    json(StatusCode::OK, &TradesView { trades })
}

/// Bars of trades, of a second or of a minute.
#[utoipa::path(get, path = "/v1/bars/{symbol}", tag = "market", security(("token" = [])),
    params(("symbol" = String, Path, description = "Symbol or number"),
        ("span" = Option<String>, Query, description = "`1s` or `1m`; `1m`"),
        ("limit" = Option<u32>, Query, description = "As many at most; 100")),
    responses((status = 200, body = BarsView), (status = "4XX", body = Problem)))]
pub(crate) async fn bars(shared: &Shared, symbol: &str, query: &HashMap<String, String>) -> Answered {
    let span = match query.get("span").map(String::as_str) {
        None | Some("1m") => BarSpan::Minute,
        Some("1s") => BarSpan::Second,
        Some(other) => return Err(Problem::bad(format!("`span` is `{other}`; it must be 1s or 1m"))),
    };
    let limit = number::<usize>(query, "limit")?.unwrap_or(100);
    let id = instrument(shared, symbol).await?;
    let bars = ask(shared, |reply| Ask::Bars(id, span, limit, reply)).await?;
    json(StatusCode::OK, &BarsView { bars })
}
