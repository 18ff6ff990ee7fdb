//! A connection of a session that has logged on.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use wire::Execution;

use super::Live;
pub(super) use super::Place;
use super::codec::{self, Decoder, Fields, Message, Step};
use super::market::{Refused, Subscription, Wish};
use super::sequence::{Verdict, judge};
use super::sessions::Entry;
use super::status::{self, Answer, Traded};
use super::store::{Outgoing, Store};
use super::trading;
use super::words::{self, Says, Wrong};
use crate::http::Stream;
use crate::http::auth::{Identity, Peer};
use crate::push::{About, Event, Positions};
use crate::time::utc;
use crate::view::OrderView;

/// Sums of as many orders that have ended are kept: the core remembers no more.
const ENDED: usize = 100_000;
/// Subscriptions of a session at most.
const SUBSCRIPTIONS: usize = 100;

/// Why a session goes on no more: with a last word, or the connection is gone.
pub(super) type End = Option<String>;

pub(super) struct Link {
    pub(super) place: Rc<Place>,
    bell: Rc<Notify>,
    reader: ReadHalf<Stream>,
    writer: WriteHalf<Stream>,
    decoder: Decoder,
    begin: &'static str,
    pub(super) entry: Entry,
    pub(super) identity: Identity,
    pub(super) peer: Peer,
    pub(super) store: Store,
    heartbeat: Duration,
    heard: Instant,
    /// Since when a part of a message is there without its rest.
    part: Option<Instant>,
    wrote: Instant,
    /// A TestRequest is out.
    tested: bool,
    /// Numbers up to this one are asked for again, since when.
    asked: (u64, Instant),
    /// We have said goodbye.
    leaving: bool,
    /// What came of asks of the core.
    pub(super) answers: UnboundedSender<Answer>,
    coming: UnboundedReceiver<Answer>,
    /// What waits for reports.
    held: VecDeque<Answer>,
    subscriptions: Vec<(String, Subscription)>,
    /// What has traded, by order.
    traded: HashMap<String, Traded>,
    /// Orders that have ended and are in `traded`.
    ended: VecDeque<String>,
    /// The last report that was looked at.
    looked: u64,
    positions: Positions,
    /// The last statement of the ledger that was looked at.
    resolved: u64,
    looked_at_token: Instant,
}

impl Link {
    pub(super) fn new(
        place: &Rc<Place>,
        bell: &Rc<Notify>,
        stream: Stream,
        decoder: Decoder,
        (begin, entry, identity, peer): (&'static str, Entry, Identity, Peer),
        (store, positions): (Store, Positions),
        heartbeat: Duration,
    ) -> Link {
        let (reader, writer) = tokio::io::split(stream);
        let (answers, coming) = unbounded_channel();
        let now = Instant::now();
        let looked = store.goes_on_at(positions, place.last(), |noted| place.last_before(noted));
        Link {
            place: Rc::clone(place),
            bell: Rc::clone(bell),
            reader,
            writer,
            decoder,
            begin,
            entry,
            identity,
            peer,
            store,
            heartbeat,
            heard: now,
            part: None,
            wrote: now,
            tested: false,
            asked: (0, now),
            leaving: false,
            answers,
            coming,
            held: VecDeque::new(),
            subscriptions: Vec::new(),
            traded: HashMap::new(),
            ended: VecDeque::new(),
            looked,
            positions,
            resolved: place.resolved.borrow().back().map_or(0, |(number, _)| *number),
            looked_at_token: now,
        }
    }

    /// FIX 5.0 SP2, and not 4.4.
    pub(super) fn is_fixt(&self) -> bool {
        self.begin == "FIXT.1.1"
    }

    fn failed(&self, error: &io::Error) -> End {
        log::error!(
            "FIX: the state of {}/{} cannot be written: {error}",
            self.entry.client,
            self.entry.gateway
        );
        None
    }

    /// Answers the Logon.
    pub(super) async fn begin(&mut self, answer: Fields, has_gap: bool, sequence: u64) -> Result<(), End> {
        // Averages go on from the reports that were passed on before.
        let mut passed_on_ns = 0;
        for event in self.place.reports_after(0) {
            if event.sequence > self.looked {
                break;
            }
            passed_on_ns = event.time_ns;
            self.note(&event);
        }
        let at = match self.store.reported {
            Some(reported) if reported.1 == self.looked => reported,
            _ => (passed_on_ns, self.looked),
        };
        self.store.at(self.positions, at).map_err(|error| self.failed(&error))?;
        if !has_gap {
            self.store.expect(sequence + 1).map_err(|error| self.failed(&error))?;
        }
        self.send("A", answer).await?;
        if has_gap {
            self.ask_again(sequence).await?;
        }
        Ok(())
    }

    /// Until it ends.
    pub(super) async fn run(&mut self, begun: Result<(), End>, live: &Live) {
        let ended = match begun {
            Ok(()) => self.go_on(live).await,
            Err(end) => Err(end),
        };
        if let Err(Some(why)) = ended {
            log::info!("FIX: {}/{}: {why}", self.entry.client, self.entry.gateway);
            if !self.leaving {
                let _ = self.send("5", Fields::default().with(58, why)).await;
            }
        }
        let _ = self.writer.shutdown().await;
    }

    async fn go_on(&mut self, live: &Live) -> Result<(), End> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            loop {
                match self.decoder.next() {
                    Step::More => break,
                    Step::Garbled(why) => {
                        self.part = None;
                        log::warn!("FIX: {}: something is passed over: {why}", self.entry.client)
                    }
                    Step::Message(message) => {
                        self.part = None;
                        self.hear(&message).await?;
                    }
                }
            }
            live.next_in.set(self.store.next_in);
            match self.decoder.has_part() {
                true => drop(self.part.get_or_insert_with(Instant::now)),
                false => self.part = None,
            }
            self.reports().await?;
            self.resolved();
            while let Ok(answer) = self.coming.try_recv() {
                self.held.push_back(answer);
            }
            self.answer_held().await?;
            self.market().await?;
            if self.place.is_closing.get() {
                return Err(Some("the gateway stops: come back in a moment".to_owned()));
            }
            self.clocks().await?;
            let wait = (self.wrote + self.heartbeat).min(self.heard + self.heartbeat).max(Instant::now());
            let wait = wait.min(Instant::now() + Duration::from_millis(200)) + Duration::from_millis(1);
            tokio::select! {
                read = self.reader.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => return Err(None),
                    Ok(count) => {
                        (self.heard, self.tested) = (Instant::now(), false);
                        self.decoder.add(&buffer[..count]);
                    }
                },
                answer = self.coming.recv() => self.held.extend(answer),
                () = self.bell.notified() => {}
                () = tokio::time::sleep_until(wait) => {}
            }
        }
    }

    async fn clocks(&mut self) -> Result<(), End> {
        let now = Instant::now();
        if now.duration_since(self.looked_at_token) > Duration::from_millis(200) {
            self.looked_at_token = now;
            if !self.place.shared.guard.is_good(&self.identity.token.id) {
                return Err(Some("the token is not good any more".to_owned()));
            }
        }
        // What a wrong length keeps back is never acted upon later: the client sends it again.
        let head = self.place.shared.config.head;
        if self.part.is_some_and(|since| now.duration_since(since) > head) {
            return Err(Some(format!("a message is not whole after {} s", head.as_secs_f64())));
        }
        let silent = now.duration_since(self.heard);
        if silent > self.heartbeat * 5 / 2 {
            return Err(Some("no word for too long".to_owned()));
        }
        if silent > self.heartbeat * 6 / 5 && !self.tested {
            self.tested = true;
            self.send("1", Fields::default().with(112, utc(self.place.sending_time()))).await?;
        }
        if now.duration_since(self.wrote) >= self.heartbeat {
            self.send("0", Fields::default()).await?;
        }
        Ok(())
    }

    fn header(&self, kind: &str, sequence: u64, time: &str, first: Option<&str>) -> Fields {
        Fields::default()
            .with(35, kind)
            .with(49, &self.entry.gateway)
            .with(56, &self.entry.client)
            .with(34, sequence)
            .may(43, first.map(|_| 'Y'))
            .with(52, time)
            .may(122, first)
    }

    /// Notes a message, and sends it.
    pub(super) async fn send(&mut self, kind: &str, body: Fields) -> Result<(), End> {
        self.send_about(kind, body, None, None).await
    }

    async fn send_about(
        &mut self,
        kind: &str,
        body: Fields,
        report: Option<(u64, u64)>,
        answers: Option<(String, bool)>,
    ) -> Result<(), End> {
        // To the millisecond, as all versions have it.
        let time = utc(self.place.sending_time())[..21].to_owned();
        // What keeps the session going, and prices that have passed, are not sent again.
        let is_kept = !matches!(kind, "0" | "1" | "2" | "4" | "5" | "A" | "W" | "X");
        let message = is_kept.then(|| (kind.to_owned(), body.0.clone(), time.clone()));
        let sequence =
            self.store.out(Outgoing { message, report, answers }).map_err(|error| self.failed(&error))?;
        let header = self.header(kind, sequence, &time, None);
        let bytes = codec::message(self.begin, &(header.0 + &body.0));
        self.write(&bytes).await
    }

    /// One that takes nothing for so long is let go.
    async fn write(&mut self, bytes: &[u8]) -> Result<(), End> {
        let all = async {
            self.writer.write_all(bytes).await?;
            self.writer.flush().await
        };
        match tokio::time::timeout(self.place.shared.config.write_deadline, all).await {
            Ok(Ok(())) => {
                self.wrote = Instant::now();
                Ok(())
            }
            _ => Err(None),
        }
    }

    async fn ask_again(&mut self, seen: u64) -> Result<(), End> {
        // All that comes meanwhile comes again behind what is missing; who does not answer is asked again later.
        let (asked, since) = self.asked;
        if asked >= self.store.next_in && since.elapsed() < self.heartbeat {
            return Ok(());
        }
        self.asked = (seen, Instant::now());
        let body = Fields::default().with(7, self.store.next_in).with(16, 0);
        self.send("2", body).await
    }

    async fn reject(&mut self, message: &Message, wrong: &Wrong) -> Result<(), End> {
        let body = Fields::default()
            .with(45, message.sequence())
            .may(371, (wrong.tag != 0).then_some(wrong.tag))
            .with(372, message.kind())
            .with(373, wrong.reason)
            .with(58, &wrong.text);
        self.send("3", body).await
    }

    async fn hear(&mut self, message: &Message) -> Result<(), End> {
        let is_ours = message.get(8) == Some(self.begin)
            && message.get(49) == Some(self.entry.client.as_str())
            && message.get(56) == Some(self.entry.gateway.as_str());
        if !is_ours {
            let text = "BeginString, SenderCompID or TargetCompID are not this session's";
            self.reject(message, &Wrong { tag: 0, reason: 9, text: text.to_owned() }).await?;
            return Err(Some(text.to_owned()));
        }
        if let Some(text) = self.entry.late(message, self.place.sending_time()) {
            self.reject(message, &Wrong { tag: 52, reason: 10, text: text.clone() }).await?;
            return Err(Some(text));
        }
        let verdict = judge(message, self.store.next_in);
        if let Some(tag) = message.repeated(|tag| words::is_single(message.kind(), tag))
            && matches!(verdict, Verdict::Take | Verdict::Jump(_) | Verdict::Refuse(..))
        {
            let text = format!("tag {tag} appears more than once");
            self.reject(message, &Wrong { tag, reason: 13, text: text.clone() }).await?;
            if tag == 34 {
                // Which number comes next is not known.
                return Err(Some(text));
            }
            return self.is_counted(message);
        }
        // These are answered whatever their number: both sides may be missing something.
        match verdict {
            Verdict::Take => {
                self.obey(message).await?;
                // Behind it: what is done twice after a kill is known by its ClOrdID.
                self.store.expect(message.sequence() + 1).map_err(|error| self.failed(&error))
            }
            Verdict::Ask if message.kind() == "5" => Err(self.farewell().await),
            Verdict::Ask => {
                if message.kind() == "2" {
                    self.resend(message).await?;
                }
                self.ask_again(message.sequence()).await
            }
            Verdict::Pass => Ok(()),
            Verdict::Jump(next) => self.store.expect(next).map_err(|error| self.failed(&error)),
            Verdict::Refuse(tag, text) => {
                self.reject(message, &Wrong { tag, reason: 5, text: text.to_owned() }).await?;
                self.is_counted(message)
            }
            Verdict::End(why) => Err(Some(why)),
        }
    }

    /// A message that is rejected was the next one all the same.
    fn is_counted(&mut self, message: &Message) -> Result<(), End> {
        if message.sequence() == self.store.next_in {
            self.store.expect(message.sequence() + 1).map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    /// The client has said goodbye.
    async fn farewell(&mut self) -> End {
        let _ = self.send("5", Fields::default()).await;
        self.leaving = true;
        Some("logged out".to_owned())
    }

    async fn obey(&mut self, message: &Message) -> Result<(), End> {
        let done = match message.kind() {
            "0" | "3" | "j" => Ok(()),
            "1" => match words::need(message, 112) {
                Ok(id) => {
                    let body = Fields::default().with(112, id);
                    return self.send("0", body).await;
                }
                Err(wrong) => Err(wrong),
            },
            "2" => return self.resend(message).await,
            "5" => {
                let next = message.sequence() + 1;
                self.store.expect(next).map_err(|error| self.failed(&error))?;
                return Err(self.farewell().await);
            }
            "A" => Err(Wrong { tag: 35, reason: 5, text: "this session is logged on already".to_owned() }),
            "D" => trading::new_order(self, message),
            "F" => trading::change(self, message, false),
            "G" => trading::change(self, message, true),
            "q" => trading::mass_cancel(self, message),
            "H" => status::one(self, message),
            "AF" => status::mass(self, message),
            "V" => match self.market_request(message).await {
                Ok(done) => done,
                Err(end) => return Err(end),
            },
            _ => {
                let body = Fields::default()
                    .with(45, message.sequence())
                    .with(372, message.kind())
                    .with(380, 3)
                    .with(58, "this type of message is not answered here");
                return self.send("j", body).await;
            }
        };
        match done {
            Ok(()) => Ok(()),
            Err(wrong) => self.reject(message, &wrong).await,
        }
    }

    /// Sends again what is kept, and fills the rest.
    async fn resend(&mut self, message: &Message) -> Result<(), End> {
        let asked = message.number(7).zip(message.number(16));
        let Some((from, to)) = asked.filter(|(from, to)| *from > 0 && (*to == 0 || to >= from)) else {
            let text = "BeginSeqNo (7) and EndSeqNo (16) are no range".to_owned();
            return self.reject(message, &Wrong { tag: 7, reason: 5, text }).await;
        };
        let last = self.store.next_out - 1;
        let to = if to == 0 { last } else { to.min(last) };
        let mut next = from;
        for sent in self.store.sent(from, to) {
            self.fill(next, sent.sequence).await?;
            let time = utc(self.place.sending_time())[..21].to_owned();
            let header = self.header(&sent.kind, sent.sequence, &time, Some(&sent.time));
            let bytes = codec::message(self.begin, &(header.0 + &sent.body));
            self.write(&bytes).await?;
            next = sent.sequence + 1;
        }
        self.fill(next, to + 1).await
    }

    /// There is nothing to send again from this number on up to that one.
    async fn fill(&mut self, from: u64, to: u64) -> Result<(), End> {
        if from >= to {
            return Ok(());
        }
        let time = utc(self.place.sending_time())[..21].to_owned();
        let header = self.header("4", from, &time, Some(&time));
        let body = Fields::default().with(123, 'Y').with(36, to);
        let bytes = codec::message(self.begin, &(header.0 + &body.0));
        self.write(&bytes).await
    }

    /// What came of asks, in the order of the asks: behind the reports that it knows of.
    async fn answer_held(&mut self) -> Result<(), End> {
        while let Some(answer) = self.held.front()
            && answer.behind <= self.looked
            && let Some(answer) = self.held.pop_front()
        {
            if let Some(id) = &answer.dropped {
                self.store.drop_change(id).map_err(|error| self.failed(&error))?;
            }
            if let Some((kind, fields)) = answer.message {
                self.send(kind, fields).await?;
            }
            if let Some(unknown) = &answer.unknown {
                self.refuse_unknown(unknown).await?;
            }
            if let Some(statuses) = answer.statuses {
                self.send_statuses(statuses).await?;
            }
        }
        Ok(())
    }

    /// Reports that have come since the last look.
    async fn reports(&mut self) -> Result<(), End> {
        if self.place.last().1 <= self.looked {
            return Ok(());
        }
        if self.looked < self.place.forgotten.get() {
            status::catch_up(self, self.place.forgotten.get());
        }
        for event in self.place.reports_after(self.looked) {
            self.looked = event.sequence;
            self.report(&event).await?;
        }
        Ok(())
    }

    /// Orders with lost reports, as they stand by the ledger.
    fn resolved(&mut self) {
        for (number, order) in self.place.resolved_after(self.resolved) {
            self.resolved = number;
            if order.token == self.identity.token.id && order.client_order_id.is_some() {
                let seen = order.sequence;
                self.held.push_back(Answer::statuses(vec![(*order).clone()], None, seen));
            }
        }
    }

    /// The session's name of an order of its token; without one, the order was not sent over FIX.
    fn name_of<'a>(&self, order: &'a OrderView) -> Option<&'a str> {
        order.client_order_id.as_deref().filter(|_| order.token == self.identity.token.id)
    }

    /// Adds up what has traded.
    fn note(&mut self, event: &Event) {
        let About::Order(order) = &event.about else { return };
        let execution = Execution::decode(event.message_id, &event.payload);
        let (Some(_), Ok(execution)) = (self.name_of(order), execution) else { return };
        if matches!(execution, Execution::Fill(_)) {
            self.traded.entry(order.order_id.clone()).or_default().add(&execution);
        } else if !order.working {
            self.ended.push_back(order.order_id.clone());
            if self.ended.len() > ENDED
                && let Some(oldest) = self.ended.pop_front()
            {
                self.traded.remove(&oldest);
            }
        }
    }

    pub(super) fn traded(&self, order_id: &str) -> Traded {
        self.traded.get(order_id).copied().unwrap_or_default()
    }

    /// The last report that was looked at.
    pub(super) fn looked_at(&self) -> u64 {
        self.looked
    }

    async fn report(&mut self, event: &Arc<Event>) -> Result<(), End> {
        let About::Order(order) = &event.about else { return Ok(()) };
        let Some(root) = self.name_of(order) else { return Ok(()) };
        let Ok(execution) = Execution::decode(event.message_id, &event.payload) else { return Ok(()) };
        self.note(event);
        let exec_id = format!("{:x}-{:x}", event.time_ns, event.sequence);
        let symbol = self.place.market.borrow().name(order.instrument);
        let current = self.store.current(root).to_owned();
        let change = |is_replace: bool| self.store.pending(root, is_replace).map(|change| change.id.clone());
        let (kind, fields, answers) = match words::says(&execution) {
            Says::Nothing => return Ok(()),
            Says::Refused(is_replace) => {
                // One that was asked for over another protocol is none of this session's.
                let Some(id) = change(is_replace) else { return Ok(()) };
                let text = order.reason.unwrap_or("refused");
                let reason = if text == "unknown-order" { 1 } else { 99 };
                let names = (id.as_str(), current.as_str());
                let fields =
                    words::cancel_refused(names, Some(order), is_replace, (reason, text), event.time_ns);
                ("9", fields, Some((id, false)))
            }
            Says::Report(exec_type) => {
                let answered = match exec_type {
                    '4' => change(false),
                    '5' => change(true),
                    _ => None,
                };
                let names = words::Names {
                    id: answered.as_deref().unwrap_or(&current),
                    before: answered.as_ref().map(|_| current.as_str()),
                    symbol: &symbol,
                    exec_id: &exec_id,
                    traded: self.traded(&order.order_id),
                    time_ns: event.time_ns,
                };
                let fill = match &execution {
                    Execution::Fill(fill) => Some(fill),
                    Execution::Update(_) => None,
                };
                let fields = words::report(order, exec_type, &names, fill);
                ("8", fields, answered.map(|id| (id, true)))
            }
        };
        self.send_about(kind, fields, Some((event.time_ns, event.sequence)), answers).await
    }

    async fn market_request(&mut self, message: &Message) -> Result<Result<(), Wrong>, End> {
        let read = Subscription::read(message, &self.place.market.borrow());
        let (id, wish) = match read {
            Err(wrong) => return Ok(Err(wrong)),
            Ok(Err(Refused(reason, text))) => {
                let id = message.get(262).unwrap_or_default().to_owned();
                let body = Fields::default().with(262, id).with(281, reason).with(58, text);
                return self.send("Y", body).await.map(Ok);
            }
            Ok(Ok(wish)) => wish,
        };
        match wish {
            Wish::End => self.subscriptions.retain(|(known, _)| *known != id),
            Wish::Once(mut once) => {
                let news = once.news(&self.place.market.borrow());
                for (kind, fields) in news {
                    self.send(kind, fields).await?;
                }
            }
            Wish::Subscribe(subscription) => {
                let refusal = if self.subscriptions.iter().any(|(known, _)| *known == id) {
                    Some(('1', "this MDReqID is in use"))
                } else if self.subscriptions.len() >= SUBSCRIPTIONS {
                    Some(('D', "there are too many subscriptions"))
                } else {
                    None
                };
                if let Some((reason, text)) = refusal {
                    let body = Fields::default().with(262, id).with(281, reason).with(58, text);
                    return self.send("Y", body).await.map(Ok);
                }
                self.subscriptions.push((id, subscription));
            }
        }
        Ok(Ok(()))
    }

    /// What is new of the market: the latest, however long the client was away.
    async fn market(&mut self) -> Result<(), End> {
        let mut news = Vec::new();
        for (_, subscription) in &mut self.subscriptions {
            news.extend(subscription.news(&self.place.market.borrow()));
        }
        for (kind, fields) in news {
            self.send(kind, fields).await?;
        }
        Ok(())
    }
}
