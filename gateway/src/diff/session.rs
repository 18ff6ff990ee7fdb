//! What one DIFF session has asked for, has seen, and is told next: pure.
//!
//! The client asks with `peek_message`, and is answered once there is something new for it, with all of it: what it does not
//! ask for does not pile up here.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::asked::{SetChart, WIDEST};
use super::board::{self, Board};
use super::json::{Object, object, quoted};
use super::rows;
use crate::time::day;

/// Charts of a session at most.
const CHARTS: usize = 1_000;
/// Characters of a notification at most.
const WORDS: usize = 1_000;
/// Bars of all instruments of a chart at most.
const ROWS: u64 = 4 * WIDEST;
/// Bytes that are kept for a session at most: its requests that come back, errors, and orders that never were.
pub(crate) const KEPT: usize = 2 << 20;
/// An answer is cut behind the part with which it has so many bytes; the rest comes with the next one.
pub(crate) const ANSWER: usize = 1 << 20;

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

impl Chart {
    /// Bytes that are kept for it.
    fn bytes(&self) -> usize {
        let SetChart { chart_id, ins_list, .. } = &self.asked;
        2 * chart_id.len() + ins_list.len() + self.state.len() + self.instruments.len() * 4
    }
}

/// What a session has seen of an account.
#[derive(Debug)]
struct Account {
    /// Of money and positions.
    seen: u64,
    orders: u64,
    trades: u64,
    is_new: bool,
}

impl Account {
    fn has_news(&self, book: Option<&board::Account>) -> bool {
        self.is_new
            || book.is_some_and(|book| {
                book.money.is_new(self.seen)
                    || book.positions.is_new(self.seen)
                    || book.orders.is_new(self.orders)
                    || book.trades.is_new(self.trades)
            })
    }

    /// News, in up to about `most` bytes.
    fn patch(
        &mut self,
        number: u32,
        book: Option<&board::Account>,
        version: u64,
        now_ns: u64,
        most: usize,
    ) -> String {
        let mut patch = Object::new();
        if self.is_new {
            patch = patch.text("user_id", &number.to_string()).text("trading_day", &day(now_ns));
        }
        let mut is_cut = false;
        if let Some(book) = book {
            let (orders, trades);
            let (money, positions) =
                (object(book.money.since(self.seen)), object(book.positions.since(self.seen)));
            let most = most.saturating_sub(positions.len());
            (orders, self.orders) = book.orders.part(self.orders, version, most);
            let most = most.saturating_sub(orders.iter().map(|row| row.len()).sum());
            (trades, self.trades) = book.trades.part(self.trades, version, most);
            is_cut = book.orders.is_new(self.orders) || book.trades.is_new(self.trades);
            patch = patch
                .raw("accounts", money)
                .raw("positions", positions)
                .raw("orders", object(orders.into_iter()))
                .raw("trades", object(trades.into_iter()));
        }
        (self.seen, self.is_new) = (version, false);
        // Without it, everything is there.
        patch.raw("trade_more_data", is_cut).end()
    }
}

/// One session.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// It wants to hear of whatever is new.
    pub(crate) peeks: bool,
    /// It has heard that no older market data will come.
    is_greeted: bool,
    quotes: BTreeMap<u32, u64>,
    /// The quote that the next answer begins with: of many, each has its turn.
    first_quote: u32,
    charts: BTreeMap<String, Chart>,
    chart_bytes: usize,
    accounts: BTreeMap<u32, Account>,
    /// The last list of quotes that was asked for, which comes back.
    list: Option<String>,
    /// Patches for it alone.
    pending: Vec<String>,
    pending_bytes: usize,
    notified: u64,
}

impl Session {
    /// Which accounts it trades for.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = u32> {
        self.accounts.keys().copied()
    }

    /// Bytes that are kept for it. Beyond [`KEPT`] it is to end: none of its errors is left out.
    pub(crate) fn bytes(&self) -> usize {
        self.chart_bytes
            + self.pending_bytes
            + self.list.as_ref().map_or(0, String::len)
            + 16 * self.quotes.len()
    }

    fn add(&mut self, patch: String) {
        self.pending_bytes += patch.len() + size_of::<String>();
        self.pending.push(patch);
    }

    /// Tells the client something in words.
    pub(crate) fn notify(&mut self, now_ns: u64, level: &str, content: &str) {
        self.notified += 1;
        let note = Object::new()
            .text("type", "MESSAGE")
            .text("level", level)
            .raw("code", if level == "INFO" { 0 } else { 1 })
            .text("content", cut(content))
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
        self.list = Some(list.to_owned());
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
            if let Some(ended) = self.charts.remove(&asked.chart_id) {
                self.chart_bytes -= ended.bytes();
            }
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
        let different: BTreeSet<&u32> = instruments.iter().collect();
        if different.len() < instruments.len() {
            return Err("`ins_list` has an instrument twice".to_owned());
        }
        let rows = asked.view_width.clamp(1, WIDEST).saturating_mul(instruments.len() as u64);
        if rows > ROWS {
            return Err(format!(
                "a chart has up to {ROWS} bars: `view_width` for each instrument of `ins_list`"
            ));
        }
        let (id, duration) = (asked.chart_id.clone(), asked.duration);
        let state = state.to_owned();
        let needs = instruments.iter().map(|instrument| (*instrument, duration)).collect();
        let chart = Chart { asked, state, instruments, seen: 0, is_new: true, last: None };
        self.chart_bytes += chart.bytes();
        if let Some(before) = self.charts.insert(id, chart) {
            self.chart_bytes -= before.bytes();
        }
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
        self.accounts.insert(account, Account { seen: 0, orders: 0, trades: 0, is_new: true });
    }

    /// Is there something for it?
    fn has_news(&self, board: &Board) -> bool {
        !self.pending.is_empty()
            || self.list.is_some()
            || self.quotes.iter().any(|(number, seen)| board.quote_since(*number, *seen).is_some())
            || self.accounts.iter().any(|(number, account)| account.has_news(board.accounts.get(number)))
            || self.charts.values().any(|chart| {
                chart.is_new
                    || chart.instruments.iter().any(|instrument| {
                        let series = board.series.get(&(*instrument, chart.asked.duration));
                        series.is_some_and(|series| series.is_new(chart.seen))
                    })
            })
    }

    /// Quotes that are new, up to the bytes of an answer.
    fn new_quotes(&mut self, board: &Board, bytes: &mut usize) -> Vec<Rc<str>> {
        let mut quotes = Vec::new();
        let first = self.first_quote;
        // From the one where the last answer was cut, once around.
        for part in [first..=u32::MAX, 0..=first.saturating_sub(1)] {
            for (number, seen) in self.quotes.range_mut(part) {
                if *bytes >= ANSWER {
                    self.first_quote = *number;
                    return quotes;
                }
                if let Some((text, version)) = board.quote_since(*number, *seen) {
                    *seen = version;
                    *bytes += text.len();
                    quotes.push(text);
                }
            }
        }
        quotes
    }

    /// The answer to its peek, if it has peeked and there is something new.
    pub(crate) fn answer(&mut self, board: &Board, now_ns: u64) -> Option<String> {
        if !self.peeks || !self.has_news(board) {
            return None;
        }
        self.peeks = false;
        let mut patches = std::mem::take(&mut self.pending);
        let mut bytes = std::mem::take(&mut self.pending_bytes);
        if let Some(list) = self.list.take() {
            patches.push(format!("{{\"ins_list\":{}}}", quoted(&list)));
            bytes += list.len();
        }
        let quotes = self.new_quotes(board, &mut bytes);
        if !quotes.is_empty() {
            patches.push(format!("{{\"quotes\":{}}}", object(quotes.iter().map(|text| &**text))));
        }
        for (id, chart) in &mut self.charts {
            if bytes >= ANSWER {
                break;
            }
            if let Some(patch) = chart_patch(id, chart, board) {
                bytes += patch.len();
                patches.push(patch);
            }
        }
        for (number, account) in &mut self.accounts {
            let book = board.accounts.get(number);
            if bytes >= ANSWER || !account.has_news(book) {
                continue;
            }
            let patch = account.patch(*number, book, board.version, now_ns, ANSWER - bytes);
            bytes += patch.len();
            patches.push(format!("{{\"trade\":{{\"{number}\":{patch}}}}}"));
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

/// Words for people repeat what the client has sent only up to some length.
fn cut(text: &str) -> &str {
    text.char_indices().nth(WORDS).map_or(text, |(end, _)| &text[..end])
}

/// The names that are not in the answer, for words.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: BTreeSet<&str> = names.iter().take(10).map(String::as_str).collect();
    shown.into_iter().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::view::{InstrumentView, OrderView};

    fn board(instruments: u32) -> Board {
        let mut board = Board::new("SHFE".to_owned());
        let one = |instrument: u32| InstrumentView {
            instrument,
            symbol: format!("S{instrument}"),
            tick: Some("0.01".to_owned()),
            lot: 1,
            price_low: None,
            price_high: None,
            reference_price: None,
        };
        board.list((1..=instruments).map(one).collect(), 1);
        board
    }

    fn order(number: u64) -> OrderView {
        OrderView {
            order_id: format!("9-1-{number}"),
            client_order_id: Some(format!("order-{number}")),
            account: 9,
            instrument: 1,
            side: "buy",
            order_type: "limit",
            time_in_force: "day",
            price: Some("95".to_owned()),
            quantity: 1,
            filled: 0,
            remaining: 1,
            status: "accepted",
            working: true,
            reason: None,
            reason_code: None,
            token: "1".to_owned(),
            sent_ns: 1,
            sequence: number,
            terms: crate::terms::Terms::default(),
        }
    }

    fn chart(list: &str, width: u64) -> SetChart {
        SetChart {
            chart_id: "c".to_owned(),
            ins_list: list.to_owned(),
            duration: 1_000_000_000,
            view_width: width,
            left_kline_id: None,
        }
    }

    /// Answers until there is nothing new.
    fn answers(session: &mut Session, board: &Board) -> Vec<String> {
        std::iter::from_fn(|| {
            session.peek();
            session.answer(board, 1)
        })
        .collect()
    }

    #[test]
    fn many_orders_come_in_parts_each_once_and_the_last_part_says_so() {
        let mut board = board(1);
        for number in 1..=10_000 {
            board.order(&order(number));
        }
        let mut session = Session::default();
        session.login(9);
        let all = answers(&mut session, &board);
        assert!(all.len() > 2, "{} answers", all.len());
        let mut seen = BTreeSet::new();
        for (index, answer) in all.iter().enumerate() {
            assert!(answer.len() < ANSWER + ANSWER / 16, "{} bytes", answer.len());
            let read: Value = serde_json::from_str(answer).unwrap();
            let parts = read["data"].as_array().unwrap();
            let account = parts.iter().find_map(|part| part.get("trade")).map(|trade| &trade["9"]).unwrap();
            for name in account["orders"].as_object().unwrap().keys() {
                assert!(seen.insert(name.clone()), "{name} comes twice");
            }
            assert_eq!(account["trade_more_data"], index + 1 < all.len(), "part {index}");
        }
        assert_eq!(seen.len(), 10_000);
        // What changes later comes alone.
        board.order(&OrderView { status: "cancelled", working: false, sequence: 20_000, ..order(5) });
        assert_eq!(answers(&mut session, &board).len(), 1);
    }

    #[test]
    fn of_many_quotes_each_has_its_turn() {
        let mut board = board(10_000);
        let names: Vec<String> = (1..=10_000).map(|number| format!("SHFE.S{number}")).collect();
        let mut session = Session::default();
        assert!(session.subscribe(&names.join(","), &board).is_empty());
        let mut seen = BTreeSet::new();
        // All of them change before each answer.
        for _ in 0..100 {
            board.touch_quotes();
            session.peek();
            let answer = session.answer(&board, 1).unwrap();
            assert!(answer.len() < 2 * ANSWER, "{} bytes", answer.len());
            let read: Value = serde_json::from_str(&answer).unwrap();
            let quotes = read["data"].as_array().unwrap().iter().find_map(|part| part.get("quotes"));
            seen.extend(quotes.unwrap().as_object().unwrap().keys().cloned());
        }
        assert_eq!(seen.len(), 10_000);
    }

    /// A chart of one instrument thirty thousand times made an answer of a hundred megabytes.
    #[test]
    fn no_request_makes_an_answer_that_is_many_times_as_long() {
        let board = board(100);
        let mut session = Session::default();
        let twice = vec!["SHFE.S1"; 30_000].join(",");
        assert!(session.chart(chart(&twice, 10_000), "{}", &board).is_err());
        let many: Vec<String> = (1..=100).map(|number| format!("SHFE.S{number}")).collect();
        assert!(session.chart(chart(&many.join(","), 10_000), "{}", &board).is_err());
        assert!(session.chart(chart(&many.join(","), 400), "{}", &board).is_ok());
        session.notify(1, "ERROR", &"x".repeat(500_000));
        assert!(session.bytes() < 100_000, "{}", session.bytes());
    }

    /// For each kind of request of a client that does not peek: the bytes kept count, so that the session can be ended.
    #[test]
    fn all_that_is_kept_for_a_session_counts() {
        let board = board(1);
        let long = "x".repeat(100_000);
        type Request = fn(&mut Session, &Board, &str, usize);
        let requests: [(&str, Request); 3] = [
            ("orders that never were", |session, _, long, _| session.tell(9, "orders", long)),
            ("charts", |session, board, long, number| {
                let id = format!("c{number}");
                let asked = SetChart { chart_id: id, ..chart("SHFE.S1", 10) };
                drop(session.chart(asked, &format!("\"{long}\""), board));
            }),
            ("charts that end", |session, board, long, _| {
                let asked = SetChart { chart_id: long.to_owned(), ..chart("", 10) };
                drop(session.chart(asked, "{}", board));
            }),
        ];
        for (what, request) in requests {
            let mut session = Session::default();
            for number in 0..40 {
                request(&mut session, &board, &long, number);
            }
            assert!(session.bytes() >= 40 * 100_000, "{what}: {}", session.bytes());
        }
        // The same chart, or the same list, again and again is kept once; an answer ends what it contains.
        let mut session = Session::default();
        for _ in 0..40 {
            drop(session.chart(chart("SHFE.S1", 10), &format!("\"{long}\""), &board));
            session.subscribe(&format!("SHFE.S1,{long}"), &board);
        }
        assert!(session.bytes() < 3 * 100_000, "{}", session.bytes());
        session.tell(9, "orders", "\"a\":{}");
        answers(&mut session, &board);
        assert!(session.bytes() < 2 * 100_000, "{}", session.bytes());
    }
}
