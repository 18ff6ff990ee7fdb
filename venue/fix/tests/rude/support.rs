//! A desk without processes, and an acceptor that says what the test wants: raw FIX, one thread.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fix_codec::codec::{Decoder, Message, Step, message};
use fix_codec::time::utc;
use venue::{Command, Driver, Effects, Input, News, Overdue, Venue};
use venue_fix::{Config, Session};
use wire::{
    CancelOrder, Execution, Instrument, InstrumentId, Nanos, NewOrder, OrderId, OrderStatus, OrderType,
    Price, Quantity, Reason, ReplaceOrder, Request, Side, StrategyId, TimeInForce,
};

/// Nothing here may take longer.
const WATCHDOG: Duration = Duration::from_secs(60);
/// One in 1e-9.
pub(crate) const LOT: i128 = 1_000_000_000;

fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// The acceptor.
pub(crate) struct Rude {
    listener: TcpListener,
    stream: Option<TcpStream>,
    /// A Logon came on this line: a further one is none to be answered.
    pub(crate) has_logged_on: bool,
    decoder: Decoder,
    /// Of its next message.
    pub(crate) number: u64,
    /// What it has received and the test has not looked at.
    pub(crate) heard: VecDeque<Message>,
    /// It answers a Logon with these fields, the number before it: `None`: as the standard says.
    pub(crate) logon: Option<(u64, &'static str)>,
    /// What it answers to an OrderStatusRequest of this name: the fields of the report behind the name.
    pub(crate) statuses: BTreeMap<String, String>,
    /// It refuses the next Logon with this text.
    pub(crate) refuse: Option<&'static str>,
    /// Its clock (52), which may stand or have whole seconds only.
    pub(crate) clock: fn(u64) -> u64,
    /// It rejects questions (H, AF) without a word about which message it rejects.
    pub(crate) rejects_questions: bool,
    /// Logons so far.
    pub(crate) logons: u32,
}

impl Rude {
    /// On a port of its own.
    pub(crate) fn listen() -> Rude {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Rude {
            listener,
            stream: None,
            has_logged_on: false,
            decoder: Decoder::default(),
            number: 1,
            heard: VecDeque::new(),
            logon: None,
            statuses: BTreeMap::new(),
            refuse: None,
            clock: |now| now,
            rejects_questions: false,
            logons: 0,
        }
    }

    /// Host and port.
    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    /// Takes what has come.
    pub(crate) fn read(&mut self) {
        if let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true).unwrap();
            (self.stream, self.decoder, self.has_logged_on) = (Some(stream), Decoder::default(), false);
        }
        let mut bytes = [0; 4096];
        let mut all = Vec::new();
        while let Some(stream) = &mut self.stream {
            match stream.read(&mut bytes) {
                Ok(0) => self.stream = None,
                Ok(count) => all.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => self.stream = None,
            }
        }
        self.decoder.add(&all);
        while let Step::Message(message) = self.decoder.next() {
            self.take(message);
        }
    }

    fn take(&mut self, message: Message) {
        match message.kind() {
            "A" if !std::mem::replace(&mut self.has_logged_on, true) => {
                self.logons += 1;
                if let Some(text) = self.refuse.take() {
                    self.say_as(self.number, "5", &format!("58={text}|"));
                    self.stream = None;
                } else if let Some((number, fields)) = self.logon.take() {
                    self.number = number;
                    self.say("A", &format!("98=0|108=10|{fields}"));
                } else if message.is(141) {
                    self.number = 1;
                    self.say("A", "98=0|108=10|141=Y|");
                } else {
                    self.say("A", "98=0|108=10|");
                }
            }
            "1" => {
                let id = message.get(112).unwrap_or_default().to_owned();
                self.say("0", &format!("112={id}|"));
            }
            "H" | "AF" if self.rejects_questions => self.say("3", "58=not now|"),
            "AF" => {
                let (id, total) = (message.get(584).unwrap_or_default().to_owned(), self.statuses.len());
                for (name, fields) in self.statuses.clone() {
                    self.say("8", &format!("11={name}|37=O1|17=0|150=I|584={id}|911={total}|{fields}"));
                }
            }
            "H" => {
                let name = message.get(11).unwrap_or_default().to_owned();
                if let Some(fields) = self.statuses.get(&name) {
                    let body = format!("11={name}|37=O1|17=0|150=I|{fields}");
                    self.say("8", &body);
                }
            }
            _ => {}
        }
        self.heard.push_back(message);
    }

    /// Says a message under its next number; `|` ends a field.
    pub(crate) fn say(&mut self, kind: &str, body: &str) {
        let number = self.number;
        self.number += 1;
        self.say_as(number, kind, body);
    }

    /// Says a message under a number.
    pub(crate) fn say_as(&mut self, number: u64, kind: &str, body: &str) {
        let time = &utc((self.clock)(now()))[..21];
        let body = format!("35={kind}|49=RUDE|56=DESK|34={number}|52={time}|{body}").replace('|', "\x01");
        if let Some(stream) = &mut self.stream {
            stream.set_nonblocking(false).unwrap();
            let _ = stream.write_all(&message("FIX.4.4", &body));
            stream.set_nonblocking(true).unwrap();
        }
    }

    /// Hangs up.
    pub(crate) fn hang_up(&mut self) {
        self.stream = None;
    }
}

/// The desk and the acceptor.
pub(crate) struct Floor {
    pub(crate) rude: Rude,
    /// `None`: its process is dead.
    session: Option<Session>,
    pub(crate) driver: Driver,
    /// What was written to `matching.executions`.
    pub(crate) executions: Vec<Execution>,
    /// What the log says of executions that are not booked, and else.
    pub(crate) alarms: Vec<String>,
    pub(crate) notes: Vec<String>,
    names: BTreeMap<OrderId, Vec<String>>,
    position: u64,
    sequence: u32,
    params: serde_json::Value,
}

impl Floor {
    /// A desk that has logged on; `more` are params beside those that it needs.
    pub(crate) fn open(folder: &Path, more: serde_json::Value) -> Floor {
        let mut floor = Floor::closed(folder, more);
        floor.until("the line", |floor| floor.driver.is_up());
        floor
    }

    /// A desk that has not.
    pub(crate) fn closed(folder: &Path, more: serde_json::Value) -> Floor {
        let rude = Rude::listen();
        let mut params = serde_json::json!({
            "connect": rude.address(), "sender": "DESK", "target": "RUDE", "account": "9",
            "state": folder.join("desk.fix"),
        });
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        Floor {
            rude,
            session: Some(session(&params)),
            driver: Driver::new("desk"),
            executions: Vec::new(),
            alarms: Vec::new(),
            notes: Vec::new(),
            names: BTreeMap::new(),
            position: 0,
            sequence: 0,
            params,
        }
    }

    /// The session of a new process, without what the last one kept in memory.
    pub(crate) fn restart(&mut self) {
        // What it was given is noted.
        self.turn();
        self.session = None;
        self.session = Some(session(&self.params));
        self.take(&Input::News(News::Down));
    }

    /// As the process does it.
    pub(crate) fn take(&mut self, input: &Input) {
        let mut effects = Effects::default();
        self.driver.take(input, &mut effects);
        for command in &effects.commands {
            if let Command::New { name, order } = command {
                self.names.entry(order.order_id).or_default().push(name.clone());
            }
            if let Command::Cancel { name, of } | Command::Replace { name, of, .. } = command {
                self.names.entry(of.order.order_id).or_default().push(name.clone());
            }
            self.session.as_mut().unwrap().send(command);
        }
        self.executions.append(&mut effects.executions);
        self.alarms.append(&mut effects.alarms);
        self.notes.append(&mut effects.notes);
    }

    pub(crate) fn turn(&mut self) {
        self.rude.read();
        let mut news = Vec::new();
        self.session.as_mut().unwrap().poll(Nanos(now()), &mut news).unwrap();
        for piece in news {
            if piece != News::Down || self.driver.is_up() {
                self.take(&Input::News(piece));
            }
        }
    }

    pub(crate) fn until(&mut self, what: &str, is_there: impl Fn(&Floor) -> bool) {
        let end = Instant::now() + WATCHDOG;
        while !is_there(self) {
            assert!(
                Instant::now() < end,
                "no {what}: {:?}\n{:?}\n{:?}",
                self.executions,
                self.notes,
                self.rude.heard
            );
            self.turn();
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Waits until the desk has answered a TestRequest behind all messages so far.
    pub(crate) fn settle(&mut self) {
        for _ in 0..3 {
            self.rude.say("1", "112=settle|");
            let answered = |message: &Message| message.kind() == "0" && message.get(112) == Some("settle");
            self.until("heartbeat", |floor| floor.rude.heard.iter().any(answered));
            self.rude.heard.retain(|message| !answered(message));
        }
    }

    /// The acceptor says something, and all of it has come.
    pub(crate) fn said(&mut self, kind: &str, body: &str) {
        self.rude.say(kind, body);
        self.settle();
    }

    /// How many messages of this type the acceptor received that the test has not looked at.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.rude.heard.iter().filter(|message| message.kind() == kind).count()
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.until("time", |_| Instant::now() >= end);
    }

    /// The next message of this type that the acceptor received.
    pub(crate) fn next(&mut self, kind: &str) -> Message {
        self.until(kind, |floor| floor.rude.heard.iter().any(|message| message.kind() == kind));
        let place = self.rude.heard.iter().position(|message| message.kind() == kind).unwrap();
        self.rude.heard.remove(place).unwrap()
    }

    /// Sends an order of ten lots at 100, and returns its id and its name.
    pub(crate) fn order(&mut self, side: Side, life: TimeInForce) -> (OrderId, String) {
        self.sequence += 1;
        let id = OrderId::new(StrategyId(5), 1, self.sequence);
        let (price, quantity) = (Price(100 * Price::ONE), Quantity(10));
        let order = NewOrder::plain(id, InstrumentId(1), side, OrderType::Limit, life, price, quantity);
        self.request(Request::New(order));
        let name = self.names.get(&id).map_or(String::new(), |names| names[0].clone());
        (id, name)
    }

    /// An order that the acceptor has accepted.
    pub(crate) fn working(&mut self, side: Side, life: TimeInForce) -> (OrderId, String) {
        let (id, name) = self.order(side, life);
        self.next("D");
        self.said("8", &format!("11={name}|37=O1|17=n{name}|150=0|39=0|55=SIM001|54=1|38=10|44=100|14=0|"));
        (id, name)
    }

    pub(crate) fn cancel(&mut self, id: OrderId) -> String {
        self.request(Request::Cancel(CancelOrder::new(id, InstrumentId(1))));
        self.last_name(id)
    }

    pub(crate) fn replace(&mut self, id: OrderId, price: i64, quantity: i64) -> String {
        let (price, quantity) = (Price(price * Price::ONE), Quantity(quantity));
        let replace = ReplaceOrder { order_id: id, instrument: InstrumentId(1), source: 0, price, quantity };
        self.request(Request::Replace(replace));
        self.last_name(id)
    }

    /// What was sent last for an order.
    pub(crate) fn last_name(&self, id: OrderId) -> String {
        self.names[&id].last().unwrap().clone()
    }

    fn request(&mut self, request: Request) {
        self.position += 64;
        let position = self.position;
        self.take(&Input::Request(position, request));
    }

    /// The patience for answers is over.
    pub(crate) fn overdue(&mut self) {
        let waiting: Vec<Overdue> = self.driver.waiting();
        waiting.into_iter().for_each(|overdue| self.take(&Input::Overdue(overdue)));
    }

    /// How an order stands: its last update that is not a refusal of a change.
    pub(crate) fn last(&self, id: OrderId) -> Option<(OrderStatus, Reason)> {
        let mut last = None;
        for execution in &self.executions {
            if let Execution::Update(update) = execution
                && update.order_id == id
                && !update.status.is_refusal()
            {
                last = Some((update.status, update.reason));
            }
        }
        last
    }

    /// Purchases less sales by fills.
    pub(crate) fn booked(&self) -> i128 {
        let fills = self.executions.iter().filter_map(|execution| match execution {
            Execution::Fill(fill) => Some(fill.side.sign() * fill.quantity.0),
            Execution::Update(_) => None,
        });
        i128::from(fills.sum::<i64>()) * LOT
    }

    /// What is listed as not booked.
    pub(crate) fn listed(&self) -> i128 {
        self.driver.unbooked().map(|what| what.lots).sum()
    }

    /// Holds booked, not booked, and their sum.
    #[track_caller]
    pub(crate) fn hold(&self, booked: i128, open: i128) {
        assert_eq!((self.booked(), self.listed()), (booked * LOT, open * LOT), "{:?}", self.alarms);
    }
}

fn session(params: &serde_json::Value) -> Session {
    let mut session = Session::new(Config::read(params).unwrap()).unwrap();
    session.list(&instrument());
    session
}

pub(crate) fn instrument() -> Instrument {
    Instrument {
        id: InstrumentId(1),
        reserved: 0,
        symbol: wire::Symbol::new("SIM001").unwrap(),
        tick: Price(1),
        lot: Quantity(1),
        price_low: Price::NONE,
        price_high: Price::NONE,
        reference_price: Price::NONE,
        max_quantity: Quantity(0),
        multiplier: 0,
        currency: wire::Currency::EMPTY,
    }
}
