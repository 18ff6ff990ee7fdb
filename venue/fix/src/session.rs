//! A session of FIX 4.4, as the one who calls: connects, logs on, puts both sides in step, and again when the line breaks.
//!
//! ```text
//!   away ─► connecting ─► logging on ─► in step? (TestRequest ─► its Heartbeat) ─► up
//!    ▲                                                                             │ Logout, silence, an error
//!    └─────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Once the Heartbeat has come that answers our TestRequest, all that the market had sent before has come, and what it lacked of ours
//! is filled: then the driver asks for what it does not know.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use fix_codec::codec::{Decoder, Fields, Message, Step, message};
use fix_codec::sequence::{Verdict, judge};
use fix_codec::time::{read_utc_nanos, utc};
use venue::{Command, News, OrderState, Report, Says, Venue};
use wire::{Instrument, InstrumentId, Nanos, Quantity, Reason};

use crate::config::{Config, Reset};
use crate::exec_type::ExecType;
use crate::hear::{Instruments, business_reason, hear, is_execution};
use crate::numbers::{is_ambiguous, unreadable};
use crate::questions::{Pace, Questions};
use crate::reconcile::Reconcile;
use crate::say::{Symbols, Words, say};
use crate::store::Store;
use crate::theirs::Theirs;

const SECOND: u64 = 1_000_000_000;
/// Between two attempts to connect, in nanoseconds.
const PAUSE: u64 = SECOND / 2;
/// A Logon, or the way in step, may take so long.
const PATIENCE: u64 = 10 * SECOND;
/// Of so many messages it is known what they were, should the market reject them.
const REMEMBERED: usize = 65_536;
/// Between two attempts at most, in nanoseconds, while the market does not let us log on.
const LONGEST_PAUSE: u64 = 30 * SECOND;
const BEGIN: &str = "FIX.4.4";

enum Line {
    /// Until then.
    Away(u64),
    Connecting(Receiver<io::Result<TcpStream>>),
    Open(Open),
}

struct Open {
    stream: TcpStream,
    decoder: Decoder,
    /// What the socket did not take yet.
    unsent: VecDeque<u8>,
    phase: Phase,
    heard: u64,
    wrote: u64,
    /// A TestRequest is out because nothing is heard.
    is_tested: bool,
    /// Up to this number of the market's it is asked again.
    asked: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    LoggingOn(u64),
    /// Since when; the number of our TestRequest is its text.
    InStep(u64, u64),
    Up,
}

/// Why a line is left.
type End = String;

/// What was sent under a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    New,
    Change,
    Ask,
    Mass,
    Positions,
}

/// The session.
pub struct Session {
    config: Config,
    store: Store,
    line: Line,
    /// The names and lots of the instruments.
    symbols: HashMap<InstrumentId, (String, Quantity)>,
    instruments: BTreeMap<String, InstrumentId>,
    /// What was sent under each number, and the name that it is about.
    sent: VecDeque<(u64, String, Kind)>,
    /// The market's own name of each order (37): reports need not have ours.
    theirs: Theirs,
    reconcile: Reconcile,
    /// Logons in a row that came to nothing.
    failures: u32,
    questions: Questions,
    /// A reject named none of our messages: all that is open is asked for, and sent again.
    is_rejected: bool,
    rejects: Pace,
    /// A report could not be read: orders are asked for.
    is_unread: bool,
    unread: Pace,
    /// News that did not come over the line.
    own: Vec<News>,
    /// The driver has written down what was received before this number.
    noted: u64,
    /// The market has begun the numbers again on this line, and has sent nothing since.
    has_just_begun: bool,
    is_up: bool,
    now: u64,
    /// What went wrong last was said.
    said: String,
}

struct Known<'a>(&'a HashMap<InstrumentId, (String, Quantity)>);

impl Symbols for Known<'_> {
    fn symbol(&self, instrument: InstrumentId) -> Option<&str> {
        self.0.get(&instrument).map(|(symbol, _)| symbol.as_str())
    }

    fn lot(&self, instrument: InstrumentId) -> Quantity {
        self.0.get(&instrument).map_or(Quantity(1), |(_, lot)| *lot)
    }
}

struct Listed<'a>(&'a BTreeMap<String, InstrumentId>);

impl Instruments for Listed<'_> {
    fn instrument(&self, symbol: &str) -> Option<InstrumentId> {
        self.0.get(symbol).copied()
    }
}

impl Session {
    /// Not connected yet.
    ///
    /// # Errors
    /// The file of its numbers cannot be used.
    pub fn new(config: Config) -> Result<Session, String> {
        let store = Store::open(&config.state)?;
        let noted = store.next_in;
        Ok(Session {
            config,
            store,
            line: Line::Away(0),
            symbols: HashMap::new(),
            instruments: BTreeMap::new(),
            sent: VecDeque::new(),
            theirs: Theirs::default(),
            reconcile: Reconcile::default(),
            failures: 0,
            questions: Questions::default(),
            is_rejected: false,
            rejects: Pace::default(),
            is_unread: false,
            unread: Pace::default(),
            own: Vec::new(),
            noted,
            has_just_begun: false,
            is_up: false,
            now: 0,
            said: String::new(),
        })
    }

    fn connect(&mut self) {
        let (there, here) = channel();
        let address = self.config.connect.clone();
        // To look up a name and to connect may take long.
        std::thread::spawn(move || {
            let connected = TcpStream::connect(address).and_then(|stream| {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Ok(stream)
            });
            let _ = there.send(connected);
        });
        self.line = Line::Connecting(here);
    }

    /// Says it once.
    fn complain(&mut self, why: &str) {
        if self.said != why {
            log::warn!("{}: {why}", self.config.connect);
            why.clone_into(&mut self.said);
        }
    }

    fn leave(&mut self, why: &str) {
        self.complain(why);
        let is_refused = matches!(&self.line, Line::Open(Open { phase: Phase::LoggingOn(_), .. }));
        self.failures = if is_refused { self.failures.saturating_add(1) } else { 0 };
        // A market that says no is asked less and less often.
        let pause = (PAUSE << self.failures.min(8).saturating_sub(1)).min(LONGEST_PAUSE);
        self.line = Line::Away(self.now + pause);
        self.reconcile.forget();
        self.questions.forget();
        (self.is_rejected, self.is_unread) = (false, false);
    }

    /// Turns the line once.
    fn turn(&mut self, news: &mut Vec<News>) -> Result<(), End> {
        match &mut self.line {
            Line::Away(until) if *until <= self.now => {
                self.connect();
                Ok(())
            }
            Line::Away(_) => Ok(()),
            Line::Connecting(here) => match here.try_recv() {
                Ok(Ok(stream)) => {
                    self.line = Line::Open(Open {
                        stream,
                        decoder: Decoder::default(),
                        unsent: VecDeque::new(),
                        phase: Phase::LoggingOn(self.now),
                        heard: self.now,
                        wrote: self.now,
                        is_tested: false,
                        asked: 0,
                    });
                    self.log_on()
                }
                Ok(Err(error)) => Err(format!("cannot connect: {error}")),
                Err(TryRecvError::Empty) => Ok(()),
                Err(TryRecvError::Disconnected) => Err("cannot connect".to_owned()),
            },
            Line::Open(_) => self.go_on(news),
        }
    }

    fn log_on(&mut self) -> Result<(), End> {
        let is_new = self.store.is_new || self.config.reset == Reset::AtLogon;
        if is_new {
            self.store.reset().map_err(|error| self.lost(&error))?;
            self.noted = 1;
        }
        let fields = Fields::default()
            .with(98, 0)
            .with(108, self.config.heartbeat)
            .may(141, is_new.then_some('Y'))
            .may(554, self.config.password.as_deref());
        self.say("A", fields).map(drop)
    }

    fn lost(&self, error: &io::Error) -> End {
        format!("{} cannot be written: {error}", self.config.state.display())
    }

    fn go_on(&mut self, news: &mut Vec<News>) -> Result<(), End> {
        let mut bytes = [0; 16 << 10];
        loop {
            let Line::Open(open) = &mut self.line else { return Ok(()) };
            match open.stream.read(&mut bytes) {
                Ok(0) => return Err("the market has hung up".to_owned()),
                Ok(count) => {
                    (open.heard, open.is_tested) = (self.now, false);
                    open.decoder.add(&bytes[..count]);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
            loop {
                let Line::Open(open) = &mut self.line else { return Ok(()) };
                match open.decoder.next() {
                    Step::More => break,
                    Step::Garbled(why) => log::warn!("something is passed over: {why}"),
                    Step::Message(message) => self.hear(&message, news)?,
                }
            }
        }
        self.push()?;
        self.clocks()
    }

    fn clocks(&mut self) -> Result<(), End> {
        let heartbeat = self.config.heartbeat * SECOND;
        let Line::Open(open) = &mut self.line else { return Ok(()) };
        if let Phase::LoggingOn(since) | Phase::InStep(since, _) = open.phase
            && self.now.saturating_sub(since) > PATIENCE
        {
            return Err(format!("{:?} takes too long", open.phase));
        }
        let silent = self.now.saturating_sub(open.heard);
        if silent > heartbeat * 5 / 2 {
            return Err("no word for too long".to_owned());
        }
        let (is_quiet, is_due) =
            (silent > heartbeat * 6 / 5 && !open.is_tested, self.now.saturating_sub(open.wrote) >= heartbeat);
        if is_quiet {
            open.is_tested = true;
            let now = self.now;
            self.say("1", Fields::default().with(112, format!("t{now}")))?;
        } else if is_due && !matches!(open.phase, Phase::LoggingOn(_)) {
            self.say("0", Fields::default())?;
        }
        Ok(())
    }

    /// Sends a message under the next number.
    fn say(&mut self, kind: &str, body: Fields) -> Result<u64, End> {
        let number = self.store.out().map_err(|error| self.lost(&error))?;
        self.write(kind, number, body, false)?;
        Ok(number)
    }

    fn write(&mut self, kind: &str, number: u64, body: Fields, is_again: bool) -> Result<(), End> {
        let time = utc(self.now)[..21].to_owned();
        let head = Fields::default()
            .with(35, kind)
            .with(49, &self.config.sender)
            .with(56, &self.config.target)
            .with(34, number)
            .may(43, is_again.then_some('Y'))
            .with(52, &time)
            .may(122, is_again.then_some(&time));
        let Line::Open(open) = &mut self.line else { return Ok(()) };
        open.unsent.extend(message(BEGIN, &(head.0 + &body.0)));
        open.wrote = self.now;
        self.push()
    }

    /// What is not sent yet, as far as the socket takes it.
    fn push(&mut self) -> Result<(), End> {
        let Line::Open(open) = &mut self.line else { return Ok(()) };
        while !open.unsent.is_empty() {
            let (first, _) = open.unsent.as_slices();
            match open.stream.write(first) {
                Ok(0) => return Err("the market takes nothing more".to_owned()),
                Ok(count) => drop(open.unsent.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    fn hear(&mut self, message: &Message, news: &mut Vec<News>) -> Result<(), End> {
        let is_ours = message.get(8) == Some(BEGIN)
            && message.get(49) == Some(self.config.target.as_str())
            && message.get(56) == Some(self.config.sender.as_str());
        if !is_ours {
            return Err("a message is of another session".to_owned());
        }
        let text = message.get(58).unwrap_or("without a word");
        let Line::Open(open) = &mut self.line else { return Ok(()) };
        if let Phase::LoggingOn(_) = open.phase {
            return match message.kind() {
                "A" => self.logged_on(message),
                // Of no session: its number means nothing.
                "5" => {
                    self.follow(text);
                    Err(format!("the market does not let us log on: {text}"))
                }
                other => Err(format!("a message of type {other} before the Logon is answered")),
            };
        }
        if message.kind() == "A" && message.is(141) {
            return self.begun_again(message);
        }
        match judge(message, self.store.next_in) {
            Verdict::Take => {
                self.has_just_begun = false;
                self.store.next_in = message.sequence() + 1;
                self.obey(message, news)
            }
            Verdict::Ask => {
                match message.kind() {
                    "2" => self.fill(message)?,
                    "5" => return Err(format!("the market says goodbye: {text}")),
                    _ => {}
                }
                self.ask_again(message.sequence())
            }
            Verdict::Pass => Ok(()),
            Verdict::Jump(next) => {
                if next > self.store.next_in && self.is_up {
                    // What is left out may have been reports.
                    news.push(News::Gap);
                }
                self.store.next_in = next;
                Ok(())
            }
            Verdict::Refuse(tag, why) => {
                let fields = Fields::default()
                    .with(45, message.sequence())
                    .with(371, tag)
                    .with(372, message.kind())
                    .with(373, 5)
                    .with(58, why);
                self.say("3", fields).map(drop)
            }
            Verdict::End(why) => {
                let _ = self.say("5", Fields::default().with(58, &why));
                Err(why)
            }
        }
    }

    fn logged_on(&mut self, message: &Message) -> Result<(), End> {
        let has_begun = self.store.is_new || self.config.reset == Reset::AtLogon;
        let verdict = judge(message, self.store.next_in);
        let is_low = matches!(verdict, Verdict::End(_)) && message.sequence() > 0;
        if !has_begun && (is_low || message.is(141)) {
            return Err(self.new_day(message));
        }
        log::info!("logged on at {}", self.config.connect);
        self.said.clear();
        self.has_just_begun = false;
        self.store.is_new = false;
        match verdict {
            Verdict::Take => self.store.next_in = message.sequence() + 1,
            Verdict::Ask => self.ask_again(message.sequence())?,
            Verdict::End(why) => {
                let _ = self.say("5", Fields::default().with(58, &why));
                return Err(why);
            }
            Verdict::Pass | Verdict::Jump(_) | Verdict::Refuse(..) => {}
        }
        self.put_in_step()
    }

    /// The market has begun its numbers again, and we have not. What it sent under the old ones and we have not received does not come any more: on
    /// the next line the driver asks for every order, and for the positions where the market has them.
    fn new_day(&mut self, message: &Message) -> End {
        let (next, came) = (self.store.next_in, message.sequence());
        let what = format!("the market begins its numbers again: {came} where {next} was to come");
        let _ = self.say("5", Fields::default().with(58, &what));
        if self.config.reset == Reset::Never {
            return format!(
                "{what}; matching.params.reset is \"never\": look at the market, and move {} away, which begins those of both sides again",
                self.config.state.display()
            );
        }
        self.store.is_new = true;
        format!("{what}: the next Logon begins those of both sides again (ResetSeqNumFlag)")
    }

    /// On a line that is there the market begins the numbers of both sides again.
    fn begun_again(&mut self, message: &Message) -> Result<(), End> {
        if self.config.reset == Reset::Never || message.sequence() != 1 {
            return Err(self.new_day(message));
        }
        // Nothing has come since: the market answers our answer. An answer to that would be the next one's cause.
        if std::mem::replace(&mut self.has_just_begun, true) {
            return Ok(());
        }
        log::info!("the market begins the numbers of both sides again");
        self.store.reset().map_err(|error| self.lost(&error))?;
        (self.store.next_in, self.noted) = (2, 1);
        if let Line::Open(open) = &mut self.line {
            (open.phase, open.asked) = (Phase::InStep(self.now, 0), 0);
        }
        let fields = Fields::default().with(98, 0).with(108, self.config.heartbeat).with(141, 'Y');
        self.say("A", fields)?;
        self.put_in_step()
    }

    /// The market says which number it expects of us: ours are behind, as after a file that was put back. What lies between was sent before.
    fn follow(&mut self, text: &str) {
        let words: Vec<&str> = text.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
        let expected = words.iter().position(|word| word.eq_ignore_ascii_case("expecting"));
        let number = expected.and_then(|place| words.get(place + 1)?.parse::<u64>().ok());
        let (Some(number), true) = (number, text.contains("too low") && self.config.reset != Reset::Never)
        else {
            return;
        };
        if number > self.store.next_out {
            log::warn!(
                "the market expects number {number}, and {} is our next: it is {number} now",
                self.store.next_out
            );
            if let Err(error) = self.store.jump_out(number) {
                log::error!("{}", self.lost(&error));
            }
        }
    }

    fn put_in_step(&mut self) -> Result<(), End> {
        let number = self.store.next_out;
        let since = match &self.line {
            Line::Open(Open { phase: Phase::InStep(since, _), .. }) => *since,
            _ => self.now,
        };
        if let Line::Open(open) = &mut self.line {
            open.phase = Phase::InStep(since, number);
        }
        self.say("1", Fields::default().with(112, format!("s{number}"))).map(drop)
    }

    fn ask_again(&mut self, seen: u64) -> Result<(), End> {
        let next = self.store.next_in;
        let Line::Open(open) = &mut self.line else { return Ok(()) };
        // What comes meanwhile comes again behind what is missing.
        if open.asked >= next {
            return Ok(());
        }
        open.asked = seen;
        self.say("2", Fields::default().with(7, next).with(16, 0)).map(drop)
    }

    /// Nothing is sent again: an order that is late is no order that was wanted. The driver asks what there is of it.
    fn fill(&mut self, message: &Message) -> Result<(), End> {
        let Some(from) = message.number(7).filter(|from| *from > 0) else { return Ok(()) };
        let next = self.store.next_out;
        if from < next {
            log::info!("the market lacks our messages from {from} on: filled up to {next}");
            self.write("4", from, Fields::default().with(123, 'Y').with(36, next), true)?;
        }
        match &self.line {
            Line::Open(Open { phase: Phase::InStep(..), .. }) => self.put_in_step(),
            // It lost some of a line that is up: as if that had been cut.
            _ => Err("the market lacks messages of this line".to_owned()),
        }
    }

    fn obey(&mut self, message: &Message, news: &mut Vec<News>) -> Result<(), End> {
        let text = message.get(58).unwrap_or("without a word");
        match message.kind() {
            "0" => {
                let Line::Open(open) = &mut self.line else { return Ok(()) };
                if let Phase::InStep(_, number) = open.phase
                    && message.get(112) == Some(format!("s{number}").as_str())
                {
                    open.phase = Phase::Up;
                    self.is_up = true;
                    news.push(News::Up);
                }
                Ok(())
            }
            "1" => {
                let fields = Fields::default().may(112, message.get(112));
                self.say("0", fields).map(drop)
            }
            "2" => self.fill(message),
            "3" => {
                self.rejected(message, news);
                Ok(())
            }
            "5" => {
                let _ = self.say("5", Fields::default());
                Err(format!("the market says goodbye: {text}"))
            }
            "j" => {
                self.rejected(message, news);
                Ok(())
            }
            "8" | "AO" | "AP" if !self.is_readable(message)? => {
                // An execution counts, unless it is not known which. Nothing else is believed, and orders are asked for.
                self.is_unread |= message.kind() == "8";
                if is_execution(message) && !is_ambiguous(message) {
                    self.theirs.note(message);
                    hear(&self.theirs.complete(message), &Listed(&self.instruments), news);
                }
                Ok(())
            }
            "8" | "9" => {
                self.theirs.note(message);
                hear(&self.theirs.complete(message), &Listed(&self.instruments), news);
                if message.kind() == "8" && ExecType::of(message) == ExecType::OrderStatus {
                    self.questions.answered([11, 41].into_iter().filter_map(|tag| message.get(tag)));
                    self.reconcile.order(message, news);
                }
                Ok(())
            }
            "AO" => {
                let all = self.instruments.values().copied();
                if !self.reconcile.positions_follow(message, all, news) {
                    self.cannot(Kind::Positions, text);
                }
                Ok(())
            }
            "AP" => {
                let all = self.instruments.values().copied();
                self.reconcile.position(message, &Listed(&self.instruments), all, news);
                Ok(())
            }
            "A" => {
                log::warn!("a Logon on a line that is there is passed over");
                Ok(())
            }
            other => {
                log::warn!("a message of type {other} says nothing here: passed over");
                Ok(())
            }
        }
    }

    /// Whether each number of the message can be read. A message with another one is rejected.
    fn is_readable(&mut self, message: &Message) -> Result<bool, End> {
        let Some(fault) = unreadable(message) else { return Ok(true) };
        let (number, kind) = (message.sequence(), message.kind());
        log::error!(
            "message {number} of the market, type {kind}, tag {}: {}; it is rejected",
            fault.tag,
            fault.why
        );
        let fields = Fields::default()
            .with(45, number)
            .with(371, fault.tag)
            .with(372, kind)
            .with(373, fault.reason)
            .with(58, fault.why);
        self.say("3", fields)?;
        Ok(false)
    }

    /// The market did not take one of our messages: as a message (3), or for what it asks (j). What was asked for is answered by that.
    fn rejected(&mut self, message: &Message, news: &mut Vec<News>) {
        let number = message.number(45).unwrap_or_default();
        let text = message.get(58).unwrap_or("without a word");
        log::error!(
            "the market rejects message {number}, type {}: {text} (tag {}, reason {})",
            message.get(372).unwrap_or("-"),
            message.get(371).unwrap_or("-"),
            message.get(373).or(message.get(380)).unwrap_or("-")
        );
        let sent = self.sent.iter().find(|(sent, ..)| *sent == number);
        let found = sent.map(|(_, name, kind)| (name.clone(), *kind)).or_else(|| {
            // Sent by a process before this one: what it was stands in the message.
            let name = message.get(379).map(str::to_owned)?;
            Some((name, Kind::of(message.get(372)?)?))
        });
        if let Some((name, Kind::Ask)) = &found {
            self.questions.answered([name.as_str()]);
        }
        let reason = if message.kind() == "j" { business_reason(message) } else { Reason::Malformed };
        let time = message.get(52).and_then(read_utc_nanos).unwrap_or(0);
        let says = match &found {
            Some((_, Kind::New)) => Says::Rejected(reason),
            Some((_, Kind::Change)) => Says::Refused(reason),
            // The order itself is not known there.
            Some((_, Kind::Ask)) if message.kind() == "j" && message.get(380) == Some("1") => {
                Says::Status { state: OrderState::None, filled: None, average: None, terms: None }
            }
            Some((_, kind @ (Kind::Ask | Kind::Mass | Kind::Positions))) => {
                let is_known = matches!(message.get(380), Some("3" | "4" | "6"));
                if is_known || message.get(373) == Some("11") {
                    self.cannot(*kind, text);
                }
                return;
            }
            None => {
                // It names no message of ours: each order is asked for, and unanswered requests are sent again.
                self.is_rejected |= self.is_up;
                return;
            }
        };
        let name = found.map(|(name, _)| name).unwrap_or_default();
        let report = Report { name, original: None, of: None, time: Nanos(time), says };
        news.push(News::Report(report));
    }

    /// The market does not know such a question: it is not asked any more.
    fn cannot(&mut self, kind: Kind, text: &str) {
        let key = match kind {
            Kind::Ask => {
                self.config.order_status = false;
                "order_status"
            }
            Kind::Mass => {
                self.config.mass_status = false;
                self.reconcile.no_orders();
                "mass_status"
            }
            Kind::Positions => {
                self.config.positions = false;
                self.reconcile.no_positions();
                "positions"
            }
            Kind::New | Kind::Change => return,
        };
        log::error!(
            "the market does not answer what matching.params.{key} is for ({text}): it is not asked any more. What became of orders must be \
             looked up there by a person, unless another key of docs/adapters.md is there for it"
        );
    }

    /// Sends, and notes what it was.
    fn request(&mut self, kind: &str, fields: Fields, what: Kind, name: &str) {
        if !matches!(&self.line, Line::Open(Open { phase: Phase::Up, .. })) {
            return;
        }
        match self.say(kind, fields) {
            Ok(number) => {
                self.sent.push_back((number, name.to_owned(), what));
                if self.sent.len() > REMEMBERED {
                    self.sent.pop_front();
                }
            }
            Err(why) => self.leave(&why),
        }
    }

    /// Says it in FIX. What FIX cannot say is answered here.
    fn request_for(&mut self, command: &Command, name: &str, what: Kind) {
        let words = Words {
            account: self.config.account.as_deref(),
            close_today: self.config.close_today,
            close_yesterday: self.config.close_yesterday,
        };
        match say(command, &Known(&self.symbols), words, self.now) {
            Ok((kind, fields)) => self.request(kind, fields, what, name),
            Err(reason) => {
                let says = match what {
                    Kind::New => Says::Rejected(reason),
                    Kind::Change => Says::Refused(reason),
                    Kind::Ask | Kind::Mass | Kind::Positions => return,
                };
                let (name, time) = (name.to_owned(), Nanos(self.now));
                self.own.push(News::Report(Report { name, original: None, of: None, time, says }));
            }
        }
    }

    /// Sends the questions whose time has come.
    fn ask(&mut self) {
        if !matches!(&self.line, Line::Open(Open { phase: Phase::Up, .. })) {
            return;
        }
        while self.config.order_status
            && let Some(of) = self.questions.next(self.now)
        {
            let name = of.name.clone();
            self.request_for(&Command::Ask { of, can_wait: false }, &name, Kind::Ask);
        }
        if self.config.mass_status && self.reconcile.are_orders_due(self.now) {
            self.ask_orders();
        }
        if self.config.positions && self.reconcile.are_positions_due(self.now) {
            self.ask_positions();
        }
    }

    /// Asks for all orders together (AF).
    fn ask_orders(&mut self) {
        let id = self.reconcile.ask_orders(self.now);
        let fields = Fields::default().with(584, id).with(585, 7).may(1, self.config.account.as_deref());
        self.request("AF", fields, Kind::Mass, "");
    }

    /// Asks for the positions (AN).
    fn ask_positions(&mut self) {
        let id = self.reconcile.ask_positions(self.now);
        let time = utc(self.now)[..21].to_owned();
        let fields = Fields::default()
            .with(710, id)
            .with(724, 0)
            .with(263, 0)
            .may(1, self.config.account.as_deref())
            .with(581, 1)
            .with(715, &time[..8])
            .with(60, &time);
        self.request("AN", fields, Kind::Positions, "");
    }
}

impl Kind {
    /// By the type of a message (372).
    fn of(kind: &str) -> Option<Kind> {
        match kind {
            "D" => Some(Kind::New),
            "F" | "G" => Some(Kind::Change),
            "H" => Some(Kind::Ask),
            "AF" => Some(Kind::Mass),
            "AN" => Some(Kind::Positions),
            _ => None,
        }
    }
}

impl Venue for Session {
    fn list(&mut self, instrument: &Instrument) {
        self.symbols.insert(instrument.id, (instrument.symbol.to_string(), instrument.lot));
        self.instruments.insert(instrument.symbol.to_string(), instrument.id);
    }

    fn send(&mut self, command: &Command) {
        let (name, what) = match command {
            Command::New { name, .. } => (name, Kind::New),
            Command::Cancel { name, .. } | Command::Replace { name, .. } => (name, Kind::Change),
            Command::Ask { of, can_wait } => {
                if self.config.order_status {
                    self.questions.add(of, *can_wait);
                } else if self.config.mass_status {
                    self.reconcile.want(&of.name);
                }
                return self.ask();
            }
            Command::Reconcile => {
                self.reconcile.want_all();
                return self.ask();
            }
        };
        self.request_for(command, name, what);
    }

    fn poll(&mut self, now: Nanos, news: &mut Vec<News>) -> Result<(), String> {
        self.now = now.0;
        // The driver has written down what it was told the last time.
        if self.store.next_in != self.noted {
            let next = self.store.next_in;
            self.store.done_with(next).map_err(|error| self.lost(&error))?;
            self.noted = next;
        }
        news.append(&mut self.own);
        if let Err(why) = self.turn(news) {
            self.leave(&why);
        }
        if self.is_rejected && self.rejects.take(self.now) {
            self.is_rejected = false;
            news.push(News::Up);
        }
        if self.is_unread && self.is_up && self.unread.take(self.now) {
            self.is_unread = false;
            news.push(News::Gap);
        }
        self.ask();
        let is_up = matches!(&self.line, Line::Open(Open { phase: Phase::Up, .. }));
        if self.is_up && !is_up {
            self.is_up = false;
            news.push(News::Down);
        }
        Ok(())
    }

    fn stop(&mut self) {
        if self.store.next_in != self.noted {
            let next = self.store.next_in;
            let _ = self.store.done_with(next);
        }
        if matches!(&self.line, Line::Open(_)) {
            let _ = self.say("5", Fields::default().with(58, "the platform stops"));
        }
    }
}
