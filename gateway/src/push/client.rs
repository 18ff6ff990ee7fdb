//! One WebSocket: what it has asked for, and what it is told.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Instant;

use gateway_tokens::Token;
use serde::{Deserialize, Serialize};

use super::event::{Channel, Encoding, Event};
use super::frame::{Decoder, Incoming, Kind, close, frame};
use super::mailbox::{NewSocket, Permit, Positions, Socket};
use super::queue::{Counts, Lost, Next, Overflow, Queue, Shared};

/// A client's message may have so many bytes.
const LONGEST: usize = 64 << 10;
/// As much is given to the system at a time, so that what is urgent waits for no more than that.
const AT_A_TIME: usize = 64 << 10;
const SLICES: usize = 32;

/// Codes of our own.
pub(crate) const OVERFLOW: u16 = 4001;
pub(crate) const REVOKED: u16 = 4003;
pub(crate) const SILENT: u16 = 4002;
pub(crate) const GOING: u16 = 1001;
const BAD_MESSAGE: u16 = 1008;

/// What a client may say.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    #[serde(default)]
    encoding: Option<String>,
    #[serde(default)]
    subscribe: Vec<Wish>,
    #[serde(default)]
    unsubscribe: Vec<Wish>,
    #[serde(default)]
    stats: bool,
    /// Orders that name this connection's session are cancelled when it ends.
    #[serde(default)]
    cancel_on_disconnect: bool,
    /// Comes back with the answer.
    #[serde(default)]
    id: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    channel: String,
    /// Of market data: these; none: all.
    #[serde(default)]
    symbols: Option<Vec<String>>,
    /// Of orders and accounts: these; none: all that the token is for.
    #[serde(default)]
    accounts: Option<Vec<u32>>,
    /// Of orders: what came after this sequence.
    #[serde(default)]
    from: Option<u64>,
    /// The stream that this sequence is of.
    #[serde(default)]
    stream: Option<String>,
}

#[derive(Debug, Serialize)]
struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribed: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> Said<'a> {
    fn of(id: Option<&'a serde_json::Value>) -> Said<'a> {
        Said { id, subscribed: None, stream: None, stats: None, session: None, error: None }
    }
}

#[derive(Debug, Serialize)]
struct Gap {
    gap: GapOf,
}

#[derive(Debug, Serialize)]
struct Reset {
    reset: ResetOf,
}

#[derive(Debug, Serialize)]
struct ResetOf {
    channel: &'static str,
    stream: String,
}

#[derive(Debug, Serialize)]
struct GapOf {
    channel: &'static str,
    from: u64,
    to: u64,
}

/// Is this a message of a client's? For fuzzers.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn message(text: &str) -> bool {
    serde_json::from_str::<Message>(text).is_ok()
}

/// The instruments, by their names and by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    by_name: HashMap<String, u32>,
    numbers: HashSet<u32>,
}

impl Symbols {
    pub(crate) fn add(&mut self, name: String, number: u32) {
        self.by_name.insert(name, number);
        self.numbers.insert(number);
    }

    /// The instrument of this name, or with this number.
    fn find(&self, text: &str) -> Option<u32> {
        let by_number = || text.parse().ok().filter(|number| self.numbers.contains(number));
        self.by_name.get(text).copied().or_else(by_number)
    }
}

/// Which keys of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Keys {
    All,
    These(BTreeSet<u32>),
}

impl Keys {
    fn has(&self, key: u32) -> bool {
        match self {
            Keys::All => true,
            Keys::These(keys) => keys.contains(&key),
        }
    }
}

/// Why a client is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a last word.
    Close(u16, &'static str),
    /// It is gone.
    Gone,
}

/// A client's wish for its orders.
pub(crate) struct Resume {
    /// For what came after this sequence; none: for what is still to come.
    pub(crate) from: Option<u64>,
    /// The stream that this sequence is of.
    pub(crate) stream: Option<String>,
    /// It has not had this wish before.
    pub(crate) is_new: bool,
}

pub(crate) struct Client {
    pub(crate) socket: Socket,
    pub(crate) token: Arc<Token>,
    /// The stream that its sequences are of.
    stream: Positions,
    _permit: Permit,
    decoder: Decoder,
    queue: Queue,
    encoding: Encoding,
    wishes: HashMap<Channel, Keys>,
    /// Its wishes are others than those that it was last indexed by.
    pub(crate) is_changed: bool,
    /// Where it stands in the index; no key: among those who want all.
    pub(crate) indexed: Vec<(Channel, Option<u32>)>,
    /// Given to the system in part, or next.
    out: VecDeque<(Shared, bool)>,
    out_bytes: usize,
    /// Bytes of the first that are gone.
    written: usize,
    pub(crate) is_blocked: bool,
    /// It is told when the system takes more.
    pub(crate) is_watched: bool,
    /// Own orders up to this sequence are delivered, queued or announced as lost, or the client does not ask for them. They are
    /// not delivered again.
    pub(crate) reached: u64,
    /// Own orders up to this sequence are queued or gone: the later ones wait in the history, so many of them.
    pub(crate) behind: Option<u64>,
    waiting: u64,
    /// It is being let go since: it has its last word, or will have.
    pub(crate) leaving: Option<Instant>,
    /// Something waits that this turn has brought.
    pub(crate) is_dirty: bool,
    pub(crate) heard: Instant,
    pub(crate) wrote: Instant,
    pub(crate) pinged: bool,
    /// Its session, once it has asked for one.
    pub(crate) session: Option<u64>,
    /// It has just asked for one, with this id of its message.
    pub(crate) wants_session: Option<Option<serde_json::Value>>,
}

impl Client {
    pub(crate) fn new(new: NewSocket, stream: Positions, most: usize, now: Instant) -> Client {
        let mut decoder = Decoder::new(LONGEST);
        decoder.add(&new.early);
        Client {
            socket: new.socket,
            token: new.token,
            stream,
            _permit: new.permit,
            decoder,
            queue: Queue::new(most),
            encoding: Encoding::Json,
            wishes: HashMap::new(),
            is_changed: false,
            indexed: Vec::new(),
            out: VecDeque::new(),
            out_bytes: 0,
            written: 0,
            is_blocked: false,
            is_watched: false,
            reached: 0,
            behind: None,
            waiting: 0,
            leaving: None,
            is_dirty: false,
            heard: now,
            wrote: now,
            pinged: false,
            session: None,
            wants_session: None,
        }
    }

    /// What it has asked for is there; `None`: it cannot be had now.
    pub(crate) fn session_begins(
        &mut self,
        id: Option<&serde_json::Value>,
        session: Option<u64>,
    ) -> Result<(), End> {
        self.session = session;
        match session {
            Some(session) => {
                self.say(&Said { session: Some(format!("{session:016x}")), ..self.subscribed(id) })
            }
            None => self.fail(id, "the gateway is behind: ask for the session again".to_owned()),
        }
    }

    /// Does it want this event?
    pub(crate) fn wants(&self, channel: Channel, key: u32) -> bool {
        self.wishes.get(&channel).is_some_and(|keys| keys.has(key)) && self.may(channel, key)
    }

    /// All that it wants, for the index.
    pub(crate) fn wanted(&self) -> Vec<(Channel, Option<u32>)> {
        let each = |(channel, keys): (&Channel, &Keys)| match keys {
            Keys::All => vec![(*channel, None)],
            Keys::These(keys) => keys.iter().map(|key| (*channel, Some(*key))).collect(),
        };
        self.wishes.iter().flat_map(each).collect()
    }

    fn may(&self, channel: Channel, key: u32) -> bool {
        !matches!(channel, Channel::Orders | Channel::Accounts) || self.token.covers(key)
    }

    pub(crate) fn counts(&self) -> Counts {
        self.queue.counts
    }

    pub(crate) fn push(&mut self, event: &Event, now: Instant) -> Result<(), End> {
        let shared = event.frame(self.encoding);
        let is_order = event.channel == Channel::Orders;
        // Reports that were there before this gateway are read again.
        if is_order && event.sequence <= self.reached {
            return Ok(());
        }
        if is_order && self.behind.is_some() {
            self.waits(1);
            return Ok(());
        }
        // A turn may bring more than may wait, to a client that is not slow at all.
        if !self.queue.fits(event.channel, shared.len()) && !self.is_blocked {
            self.write(now)?;
        }
        if is_order && !self.queue.fits(event.channel, shared.len()) {
            self.behind = Some(event.sequence - 1);
            self.waits(1);
            return Ok(());
        }
        if is_order {
            self.reached = event.sequence;
        }
        self.queue.push(event.channel, event.key, event.sequence, shared).map_err(overflow)
    }

    fn waits(&mut self, count: u64) {
        self.waiting += count;
        self.queue.waits(count);
    }

    /// The sequence behind which it resumes is none of this stream: all reports of this stream come.
    pub(crate) fn resets(&mut self) -> Result<(), End> {
        let (channel, stream) = (Channel::Orders.as_str(), self.stream.to_string());
        self.say(&Reset { reset: ResetOf { channel, stream } })
    }

    /// Own orders behind this sequence are to come again: so many of the history.
    pub(crate) fn resumes(&mut self, from: u64, count: u64) {
        self.behind = Some(self.behind.map_or(from, |behind| behind.min(from)));
        self.waits(count);
    }

    /// As many wait in the history, now that it wants others than before.
    pub(crate) fn recounts(&mut self, count: u64) {
        if count >= self.waiting {
            self.waits(count - self.waiting);
        } else {
            self.queue.unwanted(self.waiting - count);
            self.waiting = count;
        }
    }

    /// Takes one out of the history. False: there is no room yet.
    pub(crate) fn fetch(&mut self, event: &Event) -> bool {
        let shared = event.frame(self.encoding);
        // One that is longer than the room comes alone.
        if !self.queue.fits(Channel::Orders, shared.len()) && self.queue.has_urgent() {
            return false;
        }
        self.waiting = self.waiting.saturating_sub(1);
        self.reached = self.reached.max(event.sequence);
        self.queue.fetched(shared);
        true
    }

    /// What came before it could be counted. False: it has not asked for this channel.
    pub(crate) fn lost(&mut self, lost: Lost) -> bool {
        let is_order = lost.channel == Channel::Orders;
        // Who waits for earlier ones meets it in the history, where it happened.
        if !self.wishes.contains_key(&lost.channel) || is_order && self.behind.is_some() {
            return false;
        }
        self.announce(lost);
        true
    }

    /// Announces a loss, as far as it lies behind what the client has.
    pub(crate) fn announce(&mut self, lost: Lost) {
        if lost.channel != Channel::Orders {
            return self.queue.announce(lost);
        }
        let from = lost.from.max(self.reached.saturating_add(1));
        if from <= lost.to {
            self.reached = lost.to;
            self.queue.announce(Lost { from, ..lost });
        }
    }

    pub(crate) fn ping(&mut self) -> Result<(), End> {
        self.pinged = true;
        self.queue.answer(frame(Kind::Ping, b"").into()).map_err(overflow)
    }

    /// Reads what is there. The wishes to resume that it holds are for the caller, who has the history.
    pub(crate) fn read(
        &mut self,
        symbols: &Symbols,
        now: Instant,
        is_early: bool,
    ) -> Result<Vec<Resume>, End> {
        let mut buffer = [0; 16 << 10];
        let mut resumes = Vec::new();
        // A client that talks without pause gets its turn again.
        for _ in 0..4 {
            if !is_early {
                match self.socket.read(&mut buffer) {
                    Ok(0) => return Err(End::Gone),
                    Ok(count) => self.decoder.add(&buffer[..count]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => return Err(End::Gone),
                }
            }
            (self.heard, self.pinged) = (now, false);
            loop {
                match self.decoder.next() {
                    Ok(None) => break,
                    Ok(Some(message)) => self.hear(message, symbols, &mut resumes)?,
                    Err(broken) => return Err(End::Close(broken.0, broken.1)),
                }
            }
            if is_early {
                break;
            }
        }
        Ok(resumes)
    }

    pub(super) fn hear(
        &mut self,
        message: Incoming,
        symbols: &Symbols,
        resumes: &mut Vec<Resume>,
    ) -> Result<(), End> {
        match message {
            Incoming::Ping(payload) => {
                self.queue.answer(frame(Kind::Pong, &payload).into()).map_err(overflow)
            }
            Incoming::Pong => Ok(()),
            Incoming::Close(code) => Err(End::Close(code.unwrap_or(1000), "")),
            Incoming::Binary(_) => Err(End::Close(1003, "say it as text")),
            Incoming::Text(text) => {
                if !text.trim_start().starts_with('{') {
                    return self.fail(None, "this is no message: it must be a JSON object".to_owned());
                }
                let message: Message = match serde_json::from_str(&text) {
                    Ok(message) => message,
                    Err(error) => return self.fail(None, format!("this is no message: {error}")),
                };
                self.obey(message, symbols, resumes)
            }
        }
    }

    fn fail(&mut self, id: Option<&serde_json::Value>, error: String) -> Result<(), End> {
        self.say(&Said { error: Some(error), ..Said::of(id) })
    }

    fn say(&mut self, said: &impl Serialize) -> Result<(), End> {
        let text =
            serde_json::to_vec(said).map_err(|_| End::Close(BAD_MESSAGE, "no answer can be written"))?;
        self.queue.answer(frame(Kind::Text, &text).into()).map_err(overflow)
    }

    fn obey(&mut self, message: Message, symbols: &Symbols, resumes: &mut Vec<Resume>) -> Result<(), End> {
        let id = message.id.as_ref();
        if let Some(encoding) = &message.encoding {
            self.encoding = match encoding.as_str() {
                "json" => Encoding::Json,
                "binary" => Encoding::Binary,
                other => return self.fail(id, format!("`encoding` is `{other}`; it must be json or binary")),
            };
        }
        self.is_changed |= !message.subscribe.is_empty() || !message.unsubscribe.is_empty();
        for wish in &message.unsubscribe {
            match self.meant(wish, symbols) {
                Ok((channel, keys)) => self.forget(channel, &keys),
                Err(error) => return self.fail(id, error),
            }
        }
        for wish in &message.subscribe {
            match self.meant(wish, symbols) {
                Ok((channel, keys)) => {
                    let known = self.wishes.remove(&channel);
                    let is_new = known.is_none();
                    let both = match (known, keys) {
                        (Some(Keys::These(mut mine)), Keys::These(new)) => {
                            mine.extend(new);
                            Keys::These(mine)
                        }
                        (Some(Keys::All), _) | (_, Keys::All) => Keys::All,
                        (None, keys) => keys,
                    };
                    self.wishes.insert(channel, both);
                    if channel == Channel::Orders {
                        resumes.push(Resume { from: wish.from, stream: wish.stream.clone(), is_new });
                    }
                }
                Err(error) => return self.fail(id, error),
            }
        }
        let stats = message.stats.then_some(self.queue.counts);
        if message.cancel_on_disconnect && !self.token.role.trades() {
            let role = self.token.role.as_str();
            return self
                .fail(id, format!("a token of role {role} sends no orders: there is nothing to cancel"));
        }
        if message.cancel_on_disconnect && self.session.is_none() {
            // Its answer is the session's, which the core hears of first.
            self.wants_session = Some(message.id);
            return Ok(());
        }
        let session = self.session.filter(|_| message.cancel_on_disconnect);
        let session = session.map(|session| format!("{session:016x}"));
        self.say(&Said { stats, session, ..self.subscribed(id) })
    }

    /// The answer to a message that holds: what it is subscribed to.
    fn subscribed<'a>(&self, id: Option<&'a serde_json::Value>) -> Said<'a> {
        let mut subscribed: Vec<Channel> = self.wishes.keys().copied().collect();
        subscribed.sort_unstable();
        let subscribed = Some(subscribed.into_iter().map(Channel::as_str).collect());
        Said { subscribed, stream: Some(self.stream.to_string()), ..Said::of(id) }
    }

    fn meant(&self, wish: &Wish, symbols: &Symbols) -> Result<(Channel, Keys), String> {
        let channel = Channel::of(&wish.channel).ok_or_else(|| {
            let all: Vec<&str> = Channel::ALL.map(Channel::as_str).to_vec();
            format!("there is no channel `{}`; there are {}", wish.channel, all.join(", "))
        })?;
        let keys = match (channel, &wish.symbols, &wish.accounts) {
            (Channel::Quotes | Channel::Trades, Some(names), None) => {
                let number = |name: &String| {
                    symbols.find(name).ok_or_else(|| format!("there is no instrument `{name}`"))
                };
                Keys::These(names.iter().map(number).collect::<Result<_, _>>()?)
            }
            (Channel::Orders | Channel::Accounts, None, Some(accounts)) => {
                if let Some(other) = accounts.iter().find(|account| !self.token.covers(**account)) {
                    return Err(format!("this token is not for account {other}"));
                }
                Keys::These(accounts.iter().copied().collect())
            }
            (_, None, None) => Keys::All,
            _ => return Err("`symbols` are for market data, `accounts` for orders and accounts".to_owned()),
        };
        if wish.from.is_some() && channel != Channel::Orders {
            return Err("`from` is for orders: nothing else is kept".to_owned());
        }
        // Another run of the platform has other reports at the same sequences.
        match (wish.from, &wish.stream) {
            (Some(1..), None) => {
                return Err("`from` needs `stream`: that of the answer to the subscription in which \
                            the sequence came; `\"from\": 0` asks for all"
                    .to_owned());
            }
            (None, Some(_)) => return Err("`stream` is for `from`: the stream of that sequence".to_owned()),
            (None, None) | (Some(_), Some(_)) | (Some(0), None) => {}
        }
        Ok((channel, keys))
    }

    fn forget(&mut self, channel: Channel, keys: &Keys) {
        match (self.wishes.get_mut(&channel), keys) {
            (Some(Keys::These(mine)), Keys::These(gone)) => mine.retain(|key| !gone.contains(key)),
            (_, Keys::All) => {
                self.wishes.remove(&channel);
            }
            _ => {}
        }
    }

    /// Gives the system what it takes.
    pub(crate) fn write(&mut self, now: Instant) -> Result<(), End> {
        loop {
            self.fill();
            if self.out.is_empty() {
                self.is_blocked = false;
                return Ok(());
            }
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, (index, (bytes, _))) in slices.iter_mut().zip(self.out.iter().enumerate()) {
                *slice = IoSlice::new(if index == 0 { &bytes[self.written..] } else { bytes });
                count += 1;
            }
            match self.socket.write(&slices[..count]) {
                Ok(0) => return Err(End::Gone),
                Ok(gone) => {
                    self.wrote = now;
                    self.gone(gone);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.is_blocked {
                        (self.is_blocked, self.wrote) = (true, now);
                    }
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(End::Gone),
            }
        }
    }

    /// Chooses what goes next.
    fn fill(&mut self) {
        while self.out_bytes < AT_A_TIME
            && let Some(next) = self.queue.pop()
        {
            let (bytes, counts) = match next {
                Next::Frame(bytes, counts) => (bytes, counts),
                Next::Lost(lost) => {
                    let channel = lost.channel.as_str();
                    let text =
                        serde_json::to_vec(&Gap { gap: GapOf { channel, from: lost.from, to: lost.to } });
                    (frame(Kind::Text, &text.unwrap_or_default()).into(), false)
                }
            };
            self.out_bytes += bytes.len();
            self.out.push_back((bytes, counts));
        }
    }

    fn gone(&mut self, mut bytes: usize) {
        while let Some((first, counts)) = self.out.front() {
            let left = first.len() - self.written;
            if bytes < left {
                self.written += bytes;
                return;
            }
            bytes -= left;
            self.written = 0;
            self.out_bytes -= first.len();
            if *counts {
                self.queue.delivered();
            }
            self.out.pop_front();
        }
    }

    /// A last word, behind the frame that is under way; nothing else is told.
    pub(crate) fn leave(&mut self, code: u16, reason: &str, now: Instant) {
        log::debug!("a client of token {} is let go with {code}: {reason}", self.token.number());
        self.queue.clear();
        (self.behind, self.waiting) = (None, 0);
        self.out.truncate(usize::from(self.written > 0));
        // Counted as left out, whatever becomes of its rest.
        self.out.iter_mut().for_each(|(_, counts)| *counts = false);
        let last: Shared = close(code, reason).into();
        self.out.push_back((last, false));
        self.out_bytes = self.out.iter().map(|(bytes, _)| bytes.len()).sum();
        self.leaving = Some(now);
    }

    /// Writes the rest of what it is told last, and hears no more. True when it can go: the other end has closed, or is broken.
    pub(crate) fn has_left(&mut self, now: Instant) -> bool {
        if !self.out.is_empty() {
            if self.write(now).is_err() {
                return true;
            }
            if self.out.is_empty() {
                // What the other end still sends would make the system break the connection, and drop what is under way.
                self.socket.finish();
            }
        }
        let mut buffer = [0; 16 << 10];
        for _ in 0..64 {
            match self.socket.read(&mut buffer) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
        false
    }
}

fn overflow(_: Overflow) -> End {
    End::Close(OVERFLOW, "you read too slowly: resume by the last sequence of your orders")
}
