//! The beginning of a connection: who it is, and where both sides stand.

use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Notify;

use super::Live;
use super::codec::{self, Decoder, Fields, Message, Step};
use super::link::{Link, Place};
use super::sequence::{Verdict, judge};
use super::sessions::{self, Entry};
use super::store::Store;
use super::words;
use crate::http::Stream;
use crate::http::auth::{Identity, Peer};
use crate::push::Positions;
use crate::time::utc;

/// Between two heartbeats at most and at least.
const HEARTBEATS: std::ops::RangeInclusive<u64> = 1..=3_600;

/// What the first message has to say.
struct Logon {
    begin: &'static str,
    entry: Entry,
    identity: Identity,
    heartbeat: Duration,
    is_reset: bool,
}

/// Serves a connection, until it ends.
pub(super) async fn serve(place: &Rc<Place>, bell: &Rc<Notify>, mut stream: Stream, from: SocketAddr) {
    let certificate = match &stream {
        Stream::Tls(stream) => {
            let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
            shown.map(|shown| {
                gateway_tokens::hex(ring::digest::digest(&ring::digest::SHA256, shown.as_ref()).as_ref())
            })
        }
        _ => None,
    };
    let peer = Peer {
        address: from.to_string(),
        is_local: from.ip().is_loopback(),
        has_certificate: certificate.is_some(),
    };
    let mut decoder = Decoder::default();
    let first = tokio::time::timeout(place.shared.config.head, first(&mut stream, &mut decoder)).await;
    let Ok(Some(message)) = first else { return };
    let logon = match read(place, &message, &peer, certificate.as_deref()) {
        Ok(logon) => logon,
        Err(why) => {
            log::warn!("FIX: {} may not log on: {why}", peer.address);
            // Outside of any session: its number means nothing.
            let last = goodbye(&message, &why, place.sending_time());
            let _ = stream.write_all(&last).await;
            let _ = stream.shutdown().await;
            return;
        }
    };
    // The reports that a predecessor was sent come first.
    let positions = loop {
        if let Some(positions) = place.positions.get() {
            break positions;
        }
        if place.is_closing.get() {
            return;
        }
        bell.notified().await;
    };
    let key = (logon.entry.client.clone(), logon.entry.gateway.clone());
    let seat = match take_over(place, &key, &message, &logon, &peer).await {
        Ok(seat) => seat,
        Err(why) => {
            let last = goodbye(&message, &why, place.sending_time());
            let _ = stream.write_all(&last).await;
            return;
        }
    };
    let path = sessions::state(Path::new(&place.config.sessions), &logon.entry);
    match Store::open(&path) {
        Ok(store) => {
            tokio::select! {
                () = begin(place, bell, stream, decoder, (message, logon, peer, store, positions), &seat.live) => {}
                // Messages that are noted and not sent are sent again, as after any connection that breaks off.
                () = seat.live.replaced.notified() => {}
            }
        }
        Err(error) => {
            log::error!("FIX: {error}");
            let last = goodbye(&message, "the state of this session cannot be read", place.sending_time());
            let _ = stream.write_all(&last).await;
        }
    }
}

/// A connection's place in a session, until it ends, however it ends.
struct Seat<'a> {
    place: &'a Place,
    key: (String, String),
    live: Rc<Live>,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.place.live.borrow_mut().remove(&self.key);
        self.live.ended.notify_waiters();
    }
}

/// Gives a session to a new connection. The connection that has it, which may be half open, ends: only the client knows the password,
/// and it would not log on again over a connection that works. A Logon whose number the session would refuse replaces nothing.
async fn take_over<'a>(
    place: &'a Rc<Place>,
    key: &(String, String),
    message: &Message,
    logon: &Logon,
    peer: &Peer,
) -> Result<Seat<'a>, String> {
    loop {
        let before = place.live.borrow().get(key).cloned();
        let Some(before) = before else { break };
        if !logon.is_reset
            && let Verdict::End(why) = judge(message, before.next_in.get())
        {
            return Err(why);
        }
        log::warn!(
            "FIX: {}/{} logs on again from {}: its connection is replaced",
            key.0,
            key.1,
            peer.address
        );
        let ended = before.ended.notified();
        before.replaced.notify_one();
        // Another Logon of this session may be quicker, and is replaced too.
        ended.await;
    }
    let live = Rc::new(Live::default());
    place.live.borrow_mut().insert(key.clone(), Rc::clone(&live));
    Ok(Seat { place, key: key.clone(), live })
}

async fn first(stream: &mut Stream, decoder: &mut Decoder) -> Option<Message> {
    let mut buffer = [0; 4_096];
    loop {
        match decoder.next() {
            Step::Message(message) => return Some(message),
            // Who begins so speaks no FIX.
            Step::Garbled(_) => return None,
            Step::More => {}
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => decoder.add(&buffer[..count]),
        }
    }
}

fn goodbye(message: &Message, why: &str, now_ns: u64) -> Vec<u8> {
    let begin = if message.get(8) == Some("FIXT.1.1") { "FIXT.1.1" } else { "FIX.4.4" };
    let body = Fields::default()
        .with(35, '5')
        .with(49, message.get(56).unwrap_or_default())
        .with(56, message.get(49).unwrap_or_default())
        .with(34, 1)
        .with(52, &utc(now_ns)[..21])
        .with(58, why);
    codec::message(begin, &body.0)
}

fn read(place: &Place, message: &Message, peer: &Peer, certificate: Option<&str>) -> Result<Logon, String> {
    if message.kind() != "A" {
        return Err("the first message must be a Logon".to_owned());
    }
    let begin = match message.get(8) {
        Some("FIX.4.4") => "FIX.4.4",
        Some("FIXT.1.1") => "FIXT.1.1",
        other => {
            return Err(format!(
                "BeginString is `{}`; it must be FIX.4.4 or FIXT.1.1",
                other.unwrap_or_default()
            ));
        }
    };
    if begin == "FIXT.1.1" && message.get(1137) != Some("9") {
        return Err("DefaultApplVerID (1137) must be 9, FIX 5.0 SP2".to_owned());
    }
    let (client, gateway) = (message.get(49).unwrap_or_default(), message.get(56).unwrap_or_default());
    let entry = sessions::find(Path::new(&place.config.sessions), client, gateway).map_err(|error| {
        log::warn!("FIX: {error}");
        "there is no such session, or its password is wrong".to_owned()
    })?;
    if let Some(tag) = message.repeated(|tag| words::is_single(message.kind(), tag)) {
        return Err(format!("tag {tag} appears more than once"));
    }
    if let Some(why) = entry.late(message, place.sending_time()) {
        return Err(why);
    }
    let guard = &place.shared.guard;
    let is_certified = certificate.is_some_and(|shown| {
        entry.certificate.as_deref().is_some_and(|known| known.eq_ignore_ascii_case(shown))
    });
    let refused = || "there is no such session, or its password is wrong".to_owned();
    let identity = match message.get(554) {
        Some(password) => guard.identify(password).map_err(|_| refused())?,
        None if is_certified => guard.known(&entry.token).map_err(|_| refused())?,
        None => return Err(refused()),
    };
    if identity.token.id != entry.token {
        return Err(refused());
    }
    if !peer.is_local && !peer.has_certificate {
        return Err("from off the host, order entry needs a client certificate".to_owned());
    }
    if message.get(98).is_some_and(|method| method != "0") {
        return Err("EncryptMethod (98) must be 0".to_owned());
    }
    let heartbeat: u64 =
        message.get(108).and_then(|seconds| seconds.parse().ok()).ok_or("HeartBtInt (108) is missing")?;
    if !HEARTBEATS.contains(&heartbeat) {
        return Err("HeartBtInt (108) must be from 1 to 3600 seconds".to_owned());
    }
    Ok(Logon { begin, entry, identity, heartbeat: Duration::from_secs(heartbeat), is_reset: message.is(141) })
}

/// Both sides stand somewhere: from there on it is a session.
async fn begin(
    place: &Rc<Place>,
    bell: &Rc<Notify>,
    stream: Stream,
    decoder: Decoder,
    (message, logon, peer, mut store, positions): (Message, Logon, Peer, Store, Positions),
    live: &Rc<Live>,
) {
    if logon.is_reset
        && let Err(error) = store.reset()
    {
        return log::error!("FIX: {}: {error}", logon.entry.client);
    }
    log::info!("FIX: {}/{} logs on from {}", logon.entry.client, logon.entry.gateway, peer.address);
    let Logon { begin, entry, identity, heartbeat, is_reset } = logon;
    let verdict = judge(&message, store.next_in);
    let mut link = Link::new(
        place,
        bell,
        stream,
        decoder,
        (begin, entry, identity, peer),
        (store, positions),
        heartbeat,
    );
    let answer = Fields::default()
        .with(98, 0)
        .with(108, heartbeat.as_secs())
        .may(141, is_reset.then_some('Y'))
        .may(1137, (begin == "FIXT.1.1").then_some('9'));
    let begun = match verdict {
        Verdict::Take | Verdict::Ask => link.begin(answer, verdict == Verdict::Ask, message.sequence()).await,
        Verdict::End(why) => Err(Some(why)),
        // A Logon that was there before is none.
        _ => Err(Some("MsgSeqNum of a Logon must be the next one".to_owned())),
    };
    link.run(begun, live).await;
}
