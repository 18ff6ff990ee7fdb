//! A thread that pushes.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use node::{InstanceDir, NodeHandle};
use topology::config::GatewayConfig;
use wire::{AccountState, Message};

use super::client::{Client, End, GOING, OVERFLOW, REVOKED, SILENT, Symbols};
use super::event::{About, Channel, Event};
use super::history::History;
use super::hub::Known;
use super::mailbox::{Letters, Mailbox};
use super::queue::{Counts, Lost};
use super::table::Table;
use crate::core::ask::{Ask, Door};
use crate::http::account_view;
use crate::http::auth::Guard;
use crate::meter::{Meter, Pushed};

/// Between two looks at clocks, tokens and accounts.
const LOOK: Duration = Duration::from_millis(100);
/// Of more clients than this, some are looked at each time.
const AT_A_LOOK: usize = 500;
const MOST_PARTS: usize = 20;
/// Who is let go has so long to take its last word, and to say that it has heard it.
const FAREWELL: Duration = Duration::from_secs(1);
/// The bell's place among the clients'.
const BELL: u64 = u64::MAX;

pub(crate) struct Pusher {
    mailbox: Mailbox,
    node: NodeHandle,
    guard: Arc<Guard>,
    epoll: Epoll,
    clients: Table,
    /// Who wants what: by channel and key, and those who want all of a channel.
    by_key: HashMap<(Channel, u32), BTreeSet<u64>>,
    of_all: HashMap<Channel, BTreeSet<u64>>,
    history: History,
    /// The own orders that the core knows.
    known: Known,
    /// The latest quote of each instrument, for who subscribes later.
    latest: HashMap<u32, Arc<Event>>,
    symbols: Symbols,
    accounts: Option<InstanceDir>,
    /// How each account stood last, by its slot, and what was said of it.
    stood: HashMap<u32, (AccountState, Arc<Event>)>,
    most: usize,
    write_deadline: Duration,
    ping: Duration,
    looked: Instant,
    /// Where the next look begins.
    place: usize,
    /// Of clients that have gone.
    ended: Counts,
    number: usize,
    meter: Arc<Meter>,
    door: Option<Door>,
    /// Sessions that have ended, which the core has not heard yet.
    ended_sessions: Vec<u64>,
}

impl Pusher {
    pub(crate) fn new(
        (mailbox, known): (Mailbox, Known),
        node: NodeHandle,
        guard: Arc<Guard>,
        config: &GatewayConfig,
        accounts: Option<InstanceDir>,
    ) -> nix::Result<Pusher> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(mailbox.bell(), EpollEvent::new(EpollFlags::EPOLLIN, BELL))?;
        Ok(Pusher {
            mailbox,
            node,
            guard,
            epoll,
            clients: Table::default(),
            by_key: HashMap::new(),
            of_all: HashMap::new(),
            history: History::default(),
            known,
            latest: HashMap::new(),
            symbols: Symbols::default(),
            accounts,
            stood: HashMap::new(),
            most: usize::try_from(config.queue.0).unwrap_or(usize::MAX),
            write_deadline: config.write_deadline,
            ping: config.ping,
            looked: Instant::now(),
            place: 0,
            ended: Counts::default(),
            number: 0,
            meter: Arc::default(),
            door: None,
            ended_sessions: Vec::new(),
        })
    }

    /// It tells this meter how it stands, as thread `number`.
    pub(crate) fn counted(self, number: usize, meter: Arc<Meter>) -> Pusher {
        Pusher { number, meter, ..self }
    }

    /// The way to the core, for sessions.
    pub(crate) fn with_door(self, door: Door) -> Pusher {
        Pusher { door: Some(door), ..self }
    }

    /// A client wants its orders to end with it.
    fn begin_session(&mut self, number: u64) -> Result<(), End> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        let Some(id) = client.wants_session.take() else { return Ok(()) };
        // No two are the same, also of different threads and gateways.
        let session = (self.node.now() & !63) | self.number as u64 & 63;
        let begun =
            self.door.as_ref().is_some_and(|door| door.put(Ask::Begin(session, client.token.number())));
        client.session_begins(id.as_ref(), begun.then_some(session))
    }

    /// The core may be behind: then it is told at the next look.
    fn end_sessions(&mut self) {
        let Some(door) = &self.door else { return };
        self.ended_sessions.retain(|session| !door.put(Ask::End(*session)));
    }

    /// Until the core closes it.
    pub(crate) fn run(mut self) {
        let mut letters = Letters::default();
        let mut ready = vec![EpollEvent::empty(); 1_024];
        loop {
            let wants_latest = self.mailbox.take(&mut letters, !self.clients.is_empty());
            if wants_latest {
                // The core has them.
                self.node.wake();
            }
            let is_idle = letters.events.is_empty() && letters.arrivals.is_empty() && letters.lost.is_empty();
            let now = Instant::now();
            self.letters(&mut letters, now);
            if letters.is_closing {
                return self.close(now);
            }
            let timeout =
                if is_idle { EpollTimeout::from(self.pause().as_millis() as u8) } else { EpollTimeout::ZERO };
            let count = match self.epoll.wait(&mut ready, timeout) {
                Ok(count) => count,
                Err(nix::errno::Errno::EINTR) => 0,
                Err(error) => {
                    log::error!("a thread that pushes cannot wait: {error}");
                    return;
                }
            };
            let now = Instant::now();
            for event in ready.iter().take(count) {
                if event.data() != BELL {
                    self.ready(event.data(), event.events(), now);
                }
            }
            if now.duration_since(self.looked) >= self.pause() {
                self.looked = now;
                self.look(now);
            }
        }
    }

    /// Everybody is told that the gateway stops.
    fn close(mut self, now: Instant) {
        let numbers: Vec<u64> = self.clients.numbers().collect();
        for number in numbers {
            self.write(number, now);
            self.end(number, End::Close(GOING, "the gateway stops: come back in a moment"), now);
        }
        // Nobody answers it any more: it would end each wait at once.
        let _ = self.epoll.delete(self.mailbox.bell());
        let mut ready = vec![EpollEvent::empty(); 1_024];
        while !self.clients.is_empty() && now.elapsed() < FAREWELL {
            let Ok(count) = self.epoll.wait(&mut ready, EpollTimeout::from(10_u8)) else { continue };
            for event in ready.iter().take(count) {
                self.leaves(event.data(), Instant::now());
            }
        }
    }

    fn letters(&mut self, letters: &mut Letters, now: Instant) {
        letters.listed.drain(..).for_each(|(name, number)| self.symbols.add(name, number));
        for socket in letters.arrivals.drain(..) {
            socket.socket.limit(self.most);
            let number = self.clients.insert(Client::new(socket, self.known.positions(), self.most, now));
            let event = EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP, number);
            let Some(client) = self.clients.get_mut(number) else { continue };
            if let Err(error) = self.epoll.add(&client.socket, event) {
                log::warn!("a WebSocket cannot be watched: {error}");
                self.clients.remove(number);
                continue;
            }
            self.hear(number, now, true);
        }
        let mut dirty = Vec::new();
        let mut ends = Vec::new();
        let mut losses = letters.lost.drain(..).peekable();
        // The urgent ones of all, before any quote is written.
        for (index, event) in letters.events.drain(..).enumerate() {
            while let Some((_, lost)) = losses.next_if(|(before, _)| *before <= index) {
                self.lost(lost, &mut dirty);
            }
            self.publish(&event, &mut dirty, &mut ends, now);
            if event.channel == Channel::Quotes {
                self.latest.insert(event.key, event);
            } else if event.channel == Channel::Orders {
                self.history.add(event);
            }
        }
        losses.for_each(|(_, lost)| self.lost(lost, &mut dirty));
        for (number, end) in ends {
            self.end(number, end, now);
        }
        for number in dirty {
            self.write(number, now);
        }
    }

    fn lost(&mut self, lost: Lost, dirty: &mut Vec<u64>) {
        if lost.channel == Channel::Orders {
            self.history.lost(lost.to);
        }
        for (number, client) in self.clients.all_mut().filter(|(_, client)| client.leaving.is_none()) {
            if client.lost(lost) && !std::mem::replace(&mut client.is_dirty, true) {
                dirty.push(number);
            }
        }
    }

    fn publish(&mut self, event: &Event, dirty: &mut Vec<u64>, ends: &mut Vec<(u64, End)>, now: Instant) {
        let Pusher { by_key, of_all, clients, .. } = self;
        let by_key = by_key.get(&(event.channel, event.key)).into_iter().flatten();
        let of_all = of_all.get(&event.channel).into_iter().flatten();
        for number in by_key.chain(of_all) {
            let Some(client) = clients.get_mut(*number) else { continue };
            if !client.wants(event.channel, event.key) {
                continue;
            }
            match client.push(event, now) {
                Ok(()) if !std::mem::replace(&mut client.is_dirty, true) => dirty.push(*number),
                Ok(()) => {}
                Err(end) => ends.push((*number, end)),
            }
        }
    }

    fn ready(&mut self, number: u64, events: EpollFlags, now: Instant) {
        if self.clients.get_mut(number).is_some_and(|client| client.leaving.is_some()) {
            return self.leaves(number, now);
        }
        if events.intersects(
            EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR,
        ) {
            self.hear(number, now, false);
        }
        if events.contains(EpollFlags::EPOLLOUT) {
            self.write(number, now);
        }
    }

    fn hear(&mut self, number: u64, now: Instant, is_early: bool) {
        let Some(client) = self.clients.get_mut(number) else { return };
        let outcome = client.read(&self.symbols, now, is_early);
        let resumes = match outcome {
            Ok(resumes) => resumes,
            Err(end) => return self.end(number, end, now),
        };
        if self.index(number) {
            if let Some(client) = self.clients.get_mut(number) {
                self.history.recount(client);
            }
            if let Err(end) = self.show_latest(number, now) {
                return self.end(number, end, now);
            }
        }
        if let Err(end) = self.begin_session(number) {
            return self.end(number, end, now);
        }
        if let Some(client) = self.clients.get_mut(number) {
            let begun = resumes.iter().try_for_each(|wish| self.history.begins(client, wish, &self.known));
            if let Err(end) = begun {
                return self.end(number, end, now);
            }
        }
        self.write(number, now);
    }

    /// What stands, for who has just subscribed to quotes or accounts.
    fn show_latest(&mut self, number: u64, now: Instant) -> Result<(), End> {
        let Some(client) = self.clients.get_mut(number) else { return Ok(()) };
        let accounts = self.stood.values().map(|(_, event)| event);
        self.latest.values().chain(accounts).try_for_each(|event| {
            if client.wants(event.channel, event.key) { client.push(event, now) } else { Ok(()) }
        })
    }

    /// Notes what a client wants, if that has changed.
    fn index(&mut self, number: u64) -> bool {
        let Some(client) = self.clients.get_mut(number).filter(|client| client.is_changed) else {
            return false;
        };
        client.is_changed = false;
        let wanted = client.wanted();
        let before = std::mem::replace(&mut client.indexed, wanted.clone());
        self.unindex(number, &before);
        for place in wanted {
            match place {
                (channel, None) => self.of_all.entry(channel).or_default().insert(number),
                (channel, Some(key)) => self.by_key.entry((channel, key)).or_default().insert(number),
            };
        }
        true
    }

    fn unindex(&mut self, number: u64, places: &[(Channel, Option<u32>)]) {
        for place in places {
            match *place {
                (channel, None) => {
                    if let Some(numbers) = self.of_all.get_mut(&channel) {
                        numbers.remove(&number);
                    }
                }
                (channel, Some(key)) => {
                    let Some(numbers) = self.by_key.get_mut(&(channel, key)) else { continue };
                    numbers.remove(&number);
                    if numbers.is_empty() {
                        self.by_key.remove(&(channel, key));
                    }
                }
            }
        }
    }

    fn write(&mut self, number: u64, now: Instant) {
        let Some(client) = self.clients.get_mut(number).filter(|client| client.leaving.is_none()) else {
            return;
        };
        client.is_dirty = false;
        let written = client.write(now);
        if let Err(end) = written.and_then(|()| self.history.catch_up(client, now)) {
            return self.end(number, end, now);
        }
        self.watch(number);
    }

    /// The system says when it takes more from a client that waits for that, and from no other.
    fn watch(&mut self, number: u64) {
        let Some(client) = self.clients.get_mut(number) else { return };
        if client.is_watched != client.is_blocked {
            client.is_watched = client.is_blocked;
            let mut flags = EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP;
            flags.set(EpollFlags::EPOLLOUT, client.is_blocked);
            if let Err(error) = self.epoll.modify(&client.socket, &mut EpollEvent::new(flags, number)) {
                log::warn!("a WebSocket cannot be watched: {error}");
            }
        }
    }

    fn end(&mut self, number: u64, end: End, now: Instant) {
        let Some(client) = self.clients.get_mut(number).filter(|client| client.leaving.is_none()) else {
            return;
        };
        if let Some(session) = client.session {
            self.ended_sessions.push(session);
        }
        let indexed = std::mem::take(&mut client.indexed);
        match end {
            End::Close(code, reason) => {
                client.leave(code, reason, now);
                self.leaves(number, now);
            }
            End::Gone => self.remove(number),
        }
        self.end_sessions();
        self.unindex(number, &indexed);
    }

    /// One that is let go takes the rest of its last words, or has gone.
    fn leaves(&mut self, number: u64, now: Instant) {
        let Some(client) = self.clients.get_mut(number) else { return };
        if client.has_left(now) {
            return self.remove(number);
        }
        self.watch(number);
    }

    fn remove(&mut self, number: u64) {
        let Some(client) = self.clients.remove(number) else { return };
        self.ended.add(client.counts().ended());
        let _ = self.epoll.delete(&client.socket);
        if self.clients.is_empty() {
            // Without clients no quotes come, and these grow old.
            self.latest.clear();
        }
    }

    /// Between two looks: of many clients only some are looked at each time, so that nobody waits for long.
    fn pause(&self) -> Duration {
        LOOK / self.parts()
    }

    fn parts(&self) -> u32 {
        (self.clients.len() / AT_A_LOOK + 1).min(MOST_PARTS) as u32
    }

    /// Clocks, tokens, accounts.
    fn look(&mut self, now: Instant) {
        let parts = self.parts();
        if self.place == 0 {
            let mut counts = self.ended;
            self.clients.all().for_each(|client| counts.add(client.counts()));
            self.meter.pushed(self.number, Pushed { counts, clients: self.clients.len() as u64 });
        }
        let (mut ends, mut gone) = (Vec::new(), Vec::new());
        let mut pinged = Vec::new();
        let count = self.clients.places().div_ceil(parts as usize).max(1);
        let (some, end) = self.clients.some_mut(self.place, count);
        for (number, client) in some {
            let silent = now.duration_since(client.heard);
            if let Some(since) = client.leaving {
                if now.duration_since(since) > FAREWELL {
                    gone.push(number);
                }
            } else if !self.guard.is_good(&client.token.id) {
                ends.push((number, End::Close(REVOKED, "the token is not good any more")));
            } else if client.is_blocked && now.duration_since(client.wrote) > self.write_deadline {
                ends.push((number, End::Close(OVERFLOW, "you do not read")));
            } else if silent > self.ping * 2 {
                ends.push((number, End::Close(SILENT, "no answer to a ping")));
            } else if silent > self.ping && !client.pinged {
                match client.ping() {
                    Ok(()) => pinged.push(number),
                    Err(end) => ends.push((number, end)),
                }
            }
        }
        self.place = if end >= self.clients.places() { 0 } else { end };
        gone.into_iter().for_each(|number| self.remove(number));
        for (number, end) in ends {
            self.end(number, end, now);
        }
        for number in pinged {
            self.write(number, now);
        }
        self.end_sessions();
        if self.place == 0 {
            self.accounts(now);
        }
    }

    /// The accounts that have changed since the last look, for those who want them.
    fn accounts(&mut self, now: Instant) {
        let is_wanted = self.of_all.get(&Channel::Accounts).is_some_and(|all| !all.is_empty())
            || self.by_key.keys().any(|(channel, _)| *channel == Channel::Accounts);
        let Some(instance) = self.accounts.as_ref().filter(|_| is_wanted) else { return };
        let Ok(Some(accounts)) = node::Accounts::of(instance) else { return };
        let mut dirty = Vec::new();
        let mut ends = Vec::new();
        for (slot, state) in accounts.all() {
            // A strategy's own is not a client's.
            let is_new = self.stood.get(&slot).is_none_or(|(stood, _)| *stood != state);
            if state.owner != AccountState::NOBODY || !is_new {
                continue;
            }
            let about = About::Account(Box::new(account_view(&state)));
            let (key, sequence, time) = (state.account.0, state.drops, self.node.now());
            let event =
                Event::new(Channel::Accounts, key, sequence, time, AccountState::ID, state.bytes(), about);
            self.publish(&event, &mut dirty, &mut ends, now);
            self.stood.insert(slot, (state, Arc::new(event)));
        }
        for (number, end) in ends {
            self.end(number, end, now);
        }
        for number in dirty {
            self.write(number, now);
        }
    }
}
