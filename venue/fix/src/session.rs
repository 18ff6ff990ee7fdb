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

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use fix_codec::codec::{Decoder, Fields, Message, Step, message};
use fix_codec::sequence::{Verdict, judge};
use fix_codec::time::utc;
use venue::{Command, News, Report, Says, Venue};
use wire::{Instrument, InstrumentId, Nanos, Reason};

use crate::config::Config;
use crate::store::Store;
use crate::words::{self, Symbols};

const SECOND: u64 = 1_000_000_000;
/// Between two attempts to connect, in nanoseconds.
const PAUSE: u64 = SECOND / 2;
/// A Logon, or the way in step, may take so long.
const PATIENCE: u64 = 10 * SECOND;
/// Of so many messages it is known what they were, should the market reject them.
const REMEMBERED: usize = 1_000;
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

/// The session.
pub(crate) struct Session {
    config: Config,
    store: Store,
    line: Line,
    symbols: HashMap<InstrumentId, String>,
    /// What was sent under each number: a name, and whether it was a new order.
    sent: VecDeque<(u64, String, bool)>,
    /// News that did not come over the line.
    own: Vec<News>,
    /// The driver has written down what was received before this number.
    noted: u64,
    is_up: bool,
    now: u64,
    /// What went wrong last was said.
    said: String,
}

struct Known<'a>(&'a HashMap<InstrumentId, String>);

impl Symbols for Known<'_> {
    fn symbol(&self, instrument: InstrumentId) -> Option<&str> {
        self.0.get(&instrument).map(String::as_str)
    }
}

impl Session {
    pub(crate) fn new(config: Config) -> Result<Session, String> {
        let store = Store::open(&config.state)?;
        let noted = store.next_in;
        Ok(Session {
            config,
            store,
            line: Line::Away(0),
            symbols: HashMap::new(),
            sent: VecDeque::new(),
            own: Vec::new(),
            noted,
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
        self.line = Line::Away(self.now + PAUSE);
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
        let is_new = self.store.is_new;
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
                "5" => Err(format!("the market does not let us log on: {text}")),
                other => Err(format!("a message of type {other} before the Logon is answered")),
            };
        }
        match judge(message, self.store.next_in) {
            Verdict::Take => {
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
        log::info!("logged on at {}", self.config.connect);
        self.said.clear();
        self.store.is_new = false;
        match judge(message, self.store.next_in) {
            Verdict::Take => self.store.next_in = message.sequence() + 1,
            Verdict::Ask => self.ask_again(message.sequence())?,
            Verdict::End(why) => {
                let _ = self.say("5", Fields::default().with(58, &why));
                return Err(format!("{why}: move {} away on this side", self.config.state.display()));
            }
            _ => {}
        }
        self.put_in_step()
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
                log::warn!("the market cannot say what became of a message: {text}");
                Ok(())
            }
            _ => {
                words::hear(message, news);
                Ok(())
            }
        }
    }

    /// The market did not take one of our messages for one.
    fn rejected(&mut self, message: &Message, news: &mut Vec<News>) {
        let number = message.number(45).unwrap_or_default();
        log::error!(
            "the market rejects message {number}: {} (tag {})",
            message.get(58).unwrap_or("without a word"),
            message.get(371).unwrap_or("-")
        );
        let Some((_, name, is_new)) = self.sent.iter().find(|(sent, ..)| *sent == number) else { return };
        let says = if *is_new { Says::Rejected(Reason::Malformed) } else { Says::Refused(Reason::Malformed) };
        news.push(News::Report(Report { name: name.clone(), time: Nanos(0), says }));
    }
}

impl Venue for Session {
    fn list(&mut self, instrument: &Instrument) {
        self.symbols.insert(instrument.id, instrument.symbol.to_string());
    }

    fn send(&mut self, command: &Command) {
        let (name, is_new) = match command {
            Command::New { name, .. } => (Some(name), true),
            Command::Cancel { name, .. } | Command::Replace { name, .. } => (Some(name), false),
            Command::Ask { .. } => (None, false),
        };
        let said = words::say(command, &Known(&self.symbols), self.config.account.as_deref(), self.now);
        let (kind, fields) = match said {
            Ok(said) => said,
            Err(reason) => {
                let says = if is_new { Says::Rejected(reason) } else { Says::Refused(reason) };
                let name = name.cloned().unwrap_or_default();
                self.own.push(News::Report(Report { name, time: Nanos(0), says }));
                return;
            }
        };
        if !matches!(&self.line, Line::Open(Open { phase: Phase::Up, .. })) {
            return;
        }
        match self.say(kind, fields) {
            Ok(number) => {
                if let Some(name) = name {
                    self.sent.push_back((number, name.clone(), is_new));
                    if self.sent.len() > REMEMBERED {
                        self.sent.pop_front();
                    }
                }
            }
            Err(why) => self.leave(&why),
        }
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
