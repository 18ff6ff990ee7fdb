//! Many sessions of DIFF: from a quote to the data of all who have peeked, and from a peek to its data where there is news.

use std::time::Duration;

use serde::Serialize;

use super::crowd::{Crowd, Member, connect, said, upgrade, upgrade_to};
use super::http::{Http, WATCHDOG};
use super::platform::Platform;
use super::{BenchError, Size, percentile, rounded};

/// What came of it. Times of a round count from the quote's frame in md's journal.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// Sessions, each with a quote subscribed.
    pub connections: usize,
    /// Quotes that all of them were waiting for.
    pub rounds: usize,
    /// Bytes of an answer.
    pub message_bytes: usize,
    /// When the first had its data: median of the rounds, as the others.
    pub first_us: f64,
    /// When half of them had it.
    pub p50_us: f64,
    /// When 99 of 100 had it.
    pub p99_us: f64,
    /// When all had it.
    pub last_us: f64,
    /// Sessions by the time until the last one had it.
    pub answers_per_s: f64,
    /// Peeks of one session at a time, with news waiting for it.
    pub peeks: usize,
    /// From before such a peek is sent until its data is read: median.
    pub peek_p50_us: f64,
    /// 99th percentile.
    pub peek_p99_us: f64,
}

const PEEK: &str = r#"{"aid":"peek_message"}"#;
/// As `gateway.diff_exchange` makes it of the bench's instrument.
const SUBSCRIBE: &str = r#"{"aid":"subscribe_quote","ins_list":"SHFE.SIM001"}"#;
/// The first rounds are for caches.
const UNCOUNTED: usize = 2;
/// Rounds of waiting for what was on its way, before something must be wrong.
const SETTLING: usize = 20;

pub(super) fn measure(platform: &mut Platform, size: Size) -> Result<Diff, BenchError> {
    platform.again_with_diff()?;
    let platform = &*platform;
    let mut all = Sessions::open(platform, size.subscribers)?;
    let (mut rounds, mut bytes) = (Vec::new(), 0);
    for round in 0..size.diff_rounds + UNCOUNTED {
        platform.goes_on()?;
        all.settle()?;
        let times = all.round(platform, &mut bytes)?;
        if round >= UNCOUNTED {
            rounds.push(times);
        }
    }
    let peeks = all.peeks(platform, size.diff_peeks)?;
    let middle = |place: usize| percentile(rounds.iter().map(|round| round[place]).collect(), 0.5);
    Ok(Diff {
        connections: size.subscribers,
        rounds: rounds.len(),
        message_bytes: bytes,
        first_us: rounded(middle(0), 1),
        p50_us: rounded(middle(1), 1),
        p99_us: rounded(middle(2), 1),
        last_us: rounded(middle(3), 1),
        answers_per_s: (size.subscribers as f64 / middle(3) * 1e6).round(),
        peeks: peeks.len(),
        peek_p50_us: rounded(percentile(peeks.clone(), 0.5), 1),
        peek_p99_us: rounded(percentile(peeks, 0.99), 1),
    })
}

struct Sessions {
    crowd: Crowd,
    /// Which of them have peeked, and have no answer yet.
    peeks: Vec<bool>,
    http: Http,
    /// Hears when the quotes were made.
    clock: Member,
    step: usize,
}

impl Sessions {
    fn open(platform: &Platform, count: usize) -> Result<Sessions, BenchError> {
        let members = connect(platform.port, count, Some(&upgrade_to("/diff", &platform.token)))?;
        let mut crowd = Crowd::new(members)?;
        let subscribe = said(SUBSCRIBE);
        for member in &mut crowd.members {
            std::io::Write::write_all(&mut member.stream, &subscribe)?;
        }
        let mut clock = connect(platform.port, 1, Some(&upgrade(&platform.token)))?;
        let mut clock = clock.pop().ok_or_else(|| BenchError::Failed("no connection".to_owned()))?;
        clock.say(r#"{"id":1,"subscribe":[{"channel":"quotes","symbols":["SIM001"]}]}"#)?;
        clock.until(|_, payload| payload.windows(6).any(|part| part == b"\"id\":1").then_some(()))?;
        let http = Http::connect(platform.port)?;
        Ok(Sessions { crowd, peeks: vec![false; count], http, clock, step: 0 })
    }

    /// Everybody has peeked, and nobody has anything to hear.
    fn settle(&mut self) -> Result<(), BenchError> {
        let peek = said(PEEK);
        for _ in 0..SETTLING {
            for (member, peeks) in self.crowd.members.iter_mut().zip(&mut self.peeks) {
                if !std::mem::replace(peeks, true) {
                    std::io::Write::write_all(&mut member.stream, &peek)?;
                }
            }
            let mut answers = 0;
            self.crowd.hear_until_quiet(|number, code| {
                if code == 1 {
                    (self.peeks[number], answers) = (false, answers + 1);
                }
            })?;
            if answers == 0 {
                return Ok(());
            }
        }
        Err(BenchError::Failed("DIFF goes on although nothing happens".to_owned()))
    }

    /// Changes the book's best; a time before that.
    fn quote(&mut self, platform: &Platform) -> Result<u64, BenchError> {
        let before = platform.clock.now();
        self.step += 1;
        let body = format!(
            r#"{{"account":9,"symbol":"SIM001","side":"buy","quantity":1,"price":"{}.{:02}","wait":"none"}}"#,
            92 + self.step / 100,
            self.step % 100
        );
        match self.http.ask(&platform.request("POST", "/v1/orders", &body))? {
            202 => Ok(before),
            status => Err(BenchError::Failed(format!("an order that moves the book was answered {status}"))),
        }
    }

    /// When the next quote behind this time was made.
    fn made(&mut self, since: u64) -> Result<u64, BenchError> {
        let made = self.clock.until(|_, payload| {
            let text = std::str::from_utf8(payload).ok()?;
            let digits = text.split("\"time_ns\":").nth(1)?;
            let time: u64 = digits.split(|end: char| !end.is_ascii_digit()).next()?.parse().ok()?;
            (time >= since).then_some(time)
        })?;
        Ok(made)
    }

    /// One quote for all: when the first, the middle one, 99 of 100, and the last had it, in microseconds.
    fn round(&mut self, platform: &Platform, bytes: &mut usize) -> Result<[f64; 4], BenchError> {
        let count = self.peeks.len();
        let since = self.quote(platform)?;
        let mut times = Vec::with_capacity(count);
        let (crowd, peeks) = (&mut self.crowd, &mut self.peeks);
        crowd.hear(WATCHDOG, |number, code, payload| {
            if code == 1 && std::mem::replace(&mut peeks[number], false) {
                times.push(platform.clock.now());
                *bytes = payload.len();
            }
            times.len() < count
        })?;
        let begin = self.made(since)?;
        let at = |place: usize| times.get(place).map_or(0.0, |time| time.saturating_sub(begin) as f64 / 1e3);
        Ok([at(0), at(count / 2), at(count * 99 / 100), at(count - 1)])
    }

    /// One at a time peeks, and there is news for it.
    fn peeks(&mut self, platform: &Platform, most: usize) -> Result<Vec<f64>, BenchError> {
        let mut times = Vec::with_capacity(most);
        let peek = said(PEEK);
        while times.len() < most {
            platform.goes_on()?;
            self.settle()?;
            let since = self.quote(platform)?;
            self.made(since)?;
            // All have their answers; with the next quote there is news that nobody has asked for yet.
            self.crowd.hear_until_quiet(|number, code| {
                if code == 1 {
                    self.peeks[number] = false;
                }
            })?;
            let since = self.quote(platform)?;
            self.made(since)?;
            std::thread::sleep(Duration::from_millis(20));
            for number in 0..self.peeks.len().min(most - times.len()) {
                let begin = platform.clock.now();
                std::io::Write::write_all(&mut self.crowd.members[number].stream, &peek)?;
                let mut end = 0;
                let mut has_quote = false;
                self.crowd.hear(WATCHDOG, |who, code, payload| {
                    if who == number && code == 1 {
                        end = platform.clock.now();
                        has_quote = payload.windows(8).any(|part| part == b"\"quotes\"");
                    }
                    end == 0
                })?;
                if !has_quote {
                    return Err(BenchError::Failed(
                        "a peek was answered with something else than news".to_owned(),
                    ));
                }
                times.push(end.saturating_sub(begin) as f64 / 1e3);
            }
        }
        Ok(times)
    }
}
