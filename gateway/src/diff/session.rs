//! What one DIFF session has asked for, has seen, and is told next: pure.
//!
//! The client asks with `peek_message`, and is answered once there is something new for it, with all of it: what it does not
//! ask for does not pile up here.

use std::collections::{BTreeMap, BTreeSet};

use super::asked::{SetChart, WIDEST};
use super::board::Board;
use super::json::{Object, object, quoted};
use super::rows;
use crate::time::day;

/// Charts of a session at most.
const CHARTS: usize = 1_000;
/// Answers that may wait for a client that does not peek: errors, and orders that never were.
const PENDING: usize = 10_000;

#[derive(Debug)]
struct Chart {
    asked: SetChart,
    /// The request as it came.
    state: String,
    instruments: Vec<u32>,
    seen: u64,
    is_new: bool,
    last: Option<u64>,
}

#[derive(Debug)]
struct Account {
    seen: u64,
    is_new: bool,
}

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// It wants to hear of whatever is new.
    pub(crate) peeks: bool,
    /// It has heard that no older market data will come.
    is_greeted: bool,
    quotes: BTreeMap<u32, u64>,
    charts: BTreeMap<String, Chart>,
    accounts: BTreeMap<u32, Account>,
    /// Patches for it alone.
    pending: Vec<String>,
    notified: u64,
}

impl Session {
    /// Which accounts it trades for.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = u32> {
        self.accounts.keys().copied()
    }

    fn add(&mut self, patch: String) {
        if self.pending.len() < PENDING {
            self.pending.push(patch);
        }
    }

    /// Tells the client something in words.
    pub(crate) fn notify(&mut self, now_ns: u64, level: &str, content: &str) {
        self.notified += 1;
        let note = Object::new()
            .text("type", "MESSAGE")
            .text("level", level)
            .raw("code", if level == "INFO" { 0 } else { 1 })
            .text("content", content)
            .end();
        // Never the same twice, also over connections: clients show each once.
        let key = format!("{now_ns:x}-{}", self.notified);
        self.add(format!("{{\"notify\":{{{}}}}}", rows::entry(&key, &note)));
    }

    /// A row for it alone: `kind` of an account's objects.
    pub(crate) fn tell(&mut self, account: u32, kind: &str, entry: &str) {
        self.add(format!("{{\"trade\":{{\"{account}\":{{\"{kind}\":{{{entry}}}}}}}}}"));
    }

    /// Before market data is asked for, or where a client peeks without having logged in: there is no history to come.
    fn greet(&mut self) {
        if !self.is_greeted {
            self.is_greeted = true;
            self.add("{\"mdhis_more_data\":false,\"ins_list\":\"\"}".to_owned());
        }
    }

    pub(crate) fn peek(&mut self) {
        self.peeks = true;
        if self.accounts.is_empty() && self.pending.is_empty() {
            self.greet();
        }
    }

    /// The quotes that it wants from now on. Names that are not known.
    pub(crate) fn subscribe(&mut self, list: &str, board: &Board) -> Vec<String> {
        self.greet();
        let mut unknown = Vec::new();
        let mut wanted = BTreeMap::new();
        for name in list.split(',').filter(|name| !name.is_empty()) {
            match board.number(name) {
                Some(number) => {
                    wanted.insert(number, self.quotes.get(&number).copied().unwrap_or_default());
                }
                None => unknown.push(name.to_owned()),
            }
        }
        self.quotes = wanted;
        self.add(format!("{{\"ins_list\":{}}}", quoted(list)));
        unknown
    }

    /// Sets a chart, or ends it; what it has to be known for.
    pub(crate) fn chart(
        &mut self,
        asked: SetChart,
        state: &str,
        board: &Board,
    ) -> Result<Vec<(u32, u64)>, String> {
        self.greet();
        if asked.ins_list.is_empty() {
            self.charts.remove(&asked.chart_id);
            self.add(format!("{{\"charts\":{{{}:null}}}}", quoted(&asked.chart_id)));
            return Ok(Vec::new());
        }
        super::charts::source(asked.duration)?;
        if self.charts.len() >= CHARTS {
            return Err(format!("a session has up to {CHARTS} charts"));
        }
        let number =
            |name: &str| board.number(name).ok_or_else(|| format!("there is no instrument `{name}`"));
        let instruments: Vec<u32> = asked.ins_list.split(',').map(number).collect::<Result<_, _>>()?;
        let (id, duration) = (asked.chart_id.clone(), asked.duration);
        let state = state.to_owned();
        let needs = instruments.iter().map(|instrument| (*instrument, duration)).collect();
        let chart = Chart { asked, state, instruments, seen: 0, is_new: true, last: None };
        self.charts.insert(id, chart);
        Ok(needs)
    }

    /// The bars that its charts are made of.
    pub(crate) fn series(&self) -> impl Iterator<Item = (u32, u64)> {
        self.charts
            .values()
            .flat_map(|chart| chart.instruments.iter().map(|instrument| (*instrument, chart.asked.duration)))
    }

    /// It trades for this account from now on.
    pub(crate) fn login(&mut self, account: u32) {
        self.accounts.insert(account, Account { seen: 0, is_new: true });
    }

    /// Is there something for it?
    fn has_news(&self, board: &Board) -> bool {
        !self.pending.is_empty()
            || self.quotes.iter().any(|(number, seen)| board.quote_since(*number, *seen).is_some())
            || self.accounts.iter().any(|(number, account)| {
                account.is_new || board.accounts.get(number).is_some_and(|book| book.is_new(account.seen))
            })
            || self.charts.values().any(|chart| {
                chart.is_new
                    || chart.instruments.iter().any(|instrument| {
                        let series = board.series.get(&(*instrument, chart.asked.duration));
                        series.is_some_and(|series| series.is_new(chart.seen))
                    })
            })
    }

    /// The answer to its peek, if it has peeked and there is something new.
    pub(crate) fn answer(&mut self, board: &Board, now_ns: u64) -> Option<String> {
        if !self.peeks || !self.has_news(board) {
            return None;
        }
        self.peeks = false;
        let mut patches = std::mem::take(&mut self.pending);
        let mut quotes = Vec::new();
        for (number, seen) in &mut self.quotes {
            if let Some((text, version)) = board.quote_since(*number, *seen) {
                *seen = version;
                quotes.push(text);
            }
        }
        if !quotes.is_empty() {
            patches.push(format!("{{\"quotes\":{}}}", object(quotes.iter().map(|text| &**text))));
        }
        for (id, chart) in &mut self.charts {
            patches.extend(chart_patch(id, chart, board));
        }
        for (number, account) in &mut self.accounts {
            let book = board.accounts.get(number);
            if !account.is_new && !book.is_some_and(|book| book.is_new(account.seen)) {
                continue;
            }
            let mut patch = Object::new();
            if account.is_new {
                patch = patch.text("user_id", &number.to_string()).text("trading_day", &day(now_ns));
            }
            if let Some(book) = book {
                let seen = account.seen;
                patch = patch
                    .raw("accounts", object(book.money.since(seen)))
                    .raw("positions", object(book.positions.since(seen)))
                    .raw("orders", object(book.orders.since(seen)))
                    .raw("trades", object(book.trades.since(seen)));
            }
            // With the first one, everything is there.
            patch = patch.raw("trade_more_data", false);
            patches.push(format!("{{\"trade\":{{\"{number}\":{}}}}}", patch.end()));
            (account.seen, account.is_new) = (board.version, false);
        }
        Some(format!("{{\"aid\":\"rtn_data\",\"data\":[{}]}}", patches.join(",")))
    }
}

/// What is new of a chart: its place and its bars.
fn chart_patch(id: &str, chart: &mut Chart, board: &Board) -> Option<String> {
    let duration = chart.asked.duration;
    let all: Vec<_> = chart
        .instruments
        .iter()
        .map(|instrument| (*instrument, board.series.get(&(*instrument, duration))))
        .collect();
    let (_, main) = *all.first()?;
    if !chart.is_new && !all.iter().any(|(_, series)| series.is_some_and(|series| series.is_new(chart.seen)))
    {
        return None;
    }
    let width = chart.asked.view_width.clamp(1, WIDEST);
    let last = main.and_then(|series| series.last());
    let (left, right) = match last {
        None => (-1, -1),
        Some(last) => {
            let left = match chart.asked.left_kline_id {
                Some(left) if left >= 0 => left.unsigned_abs(),
                _ => (last + 1).saturating_sub(width),
            };
            (left as i64, last.min(left.saturating_add(width - 1)) as i64)
        }
    };
    let place = Object::new()
        .raw("left_id", left)
        .raw("right_id", right)
        .raw("more_data", false)
        .raw("ready", true)
        .raw("state", &chart.state)
        .end();
    let from = left.max(0) as u64;
    let mut klines = Vec::new();
    for (index, (instrument, series)) in all.iter().enumerate() {
        let name = board.name(*instrument).full();
        let mut row = Object::new()
            .raw("last_id", series.and_then(|series| series.last()).map_or(-1, |last| last as i64));
        if let Some(series) = series {
            row = row.raw("data", object(series.since(from, chart.seen)));
            if index == 0 && all.len() > 1 {
                row =
                    row.raw("binding", binding(series, &all[1..], board, from.max(chart.last.unwrap_or(0))));
            }
        }
        klines.push(rows::entry(&name, &format!("{{\"{duration}\":{}}}", row.end())));
    }
    (chart.seen, chart.is_new, chart.last) = (board.version, false, last);
    Some(format!(
        "{{\"charts\":{{{}}},\"klines\":{},\"mdhis_more_data\":false}}",
        rows::entry(id, &place),
        object(klines.iter().map(String::as_str))
    ))
}

/// Which bars of other instruments stand beside those of the first: the ones of the same number.
fn binding(
    main: &super::charts::Series,
    others: &[(u32, Option<&super::charts::Series>)],
    board: &Board,
    from: u64,
) -> String {
    let mut bound = Vec::new();
    let range = main.first().map_or(0, |first| first.max(from))..main.last().map_or(0, |last| last + 1);
    for (instrument, series) in others {
        let Some(series) = series else { continue };
        let pairs: Vec<String> =
            range.clone().filter(|key| series.has(*key)).map(|key| format!("\"{key}\":{key}")).collect();
        let name = board.name(*instrument).full();
        bound.push(rows::entry(&name, &object(pairs.iter().map(String::as_str))));
    }
    object(bound.iter().map(String::as_str))
}

/// The names that are not in the answer, for words.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: BTreeSet<&str> = names.iter().take(10).map(String::as_str).collect();
    shown.into_iter().collect::<Vec<_>>().join(", ")
}
