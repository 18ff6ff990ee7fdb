//! Sends the messages of a file to a group as a market does, with a server that sends again; and loses some on the way if it is to.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::group::Mouth;
use super::mold::{END, Head, Session, packet};

/// Packets that answer one request.
const MOST_ANSWERS: usize = 64;
/// Between two heartbeats, and between two packets that say that the session is over.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// What is sent, where, and how badly.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The group.
    pub group: SocketAddrV4,
    /// The address of the interface that it leaves by.
    pub interface: Ipv4Addr,
    /// Where requests are answered; port 0: any.
    pub server: SocketAddrV4,
    /// The session.
    pub session: Session,
    /// Messages a second; 0: as fast as it goes.
    pub rate: u64,
    /// Most messages in a packet.
    pub per_packet: usize,
    /// Part of the group's packets that is not sent.
    pub loss: f64,
    /// Part of them that is sent behind the next.
    pub reorder: f64,
    /// Which of them: the same seed loses the same.
    pub seed: u64,
    /// Messages that the server does not send again, as numbers from and to.
    pub withheld: Option<(u64, u64)>,
    /// How long requests are answered behind the last message.
    pub linger: Duration,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Sent {
    /// Messages.
    pub messages: u64,
    /// Packets made of them, those that were lost on purpose included.
    pub packets: u64,
    /// Lost on purpose.
    pub dropped: u64,
    /// Sent behind the next.
    pub reordered: u64,
    /// Requests that were answered.
    pub requests: u64,
    /// Messages sent again.
    pub resent: u64,
}

/// A sender that is ready: its server has a port.
#[derive(Debug)]
pub struct Sender {
    plan: Plan,
    mouth: Mouth,
    messages: Vec<Vec<u8>>,
    random: ChaCha8Rng,
    sent: Sent,
    /// It waits behind the next.
    late: Option<Vec<u8>>,
    heartbeat: Instant,
}

impl Sender {
    /// # Errors
    /// A socket cannot be opened.
    pub fn new(plan: Plan, messages: Vec<Vec<u8>>) -> io::Result<Sender> {
        Ok(Sender {
            mouth: Mouth::open(plan.group, plan.interface, plan.server)?,
            random: ChaCha8Rng::seed_from_u64(plan.seed),
            plan,
            messages,
            sent: Sent::default(),
            late: None,
            heartbeat: Instant::now(),
        })
    }

    /// Where requests are answered.
    ///
    /// # Errors
    /// The system does not say.
    pub fn server(&self) -> io::Result<SocketAddr> {
        self.mouth.server()
    }

    /// Sends all, says that the session is over, and answers requests until nobody has asked for as long as it lingers, or `stop`
    /// says so.
    ///
    /// # Errors
    /// The network does not take a packet.
    pub fn run(mut self, stop: impl Fn() -> bool) -> io::Result<Sent> {
        let begin = Instant::now();
        let mut next = 1;
        while next <= self.messages.len() as u64 && !stop() {
            let due = match self.plan.rate {
                0 => Duration::ZERO,
                rate => Duration::from_nanos((next - 1).saturating_mul(1_000_000_000) / rate),
            };
            while begin.elapsed() < due && !stop() {
                self.serve();
                self.pulse(next, 0)?;
                std::thread::sleep((due.saturating_sub(begin.elapsed())).min(Duration::from_millis(1)));
            }
            let (bytes, count) = packet(self.plan.session, next, &self.messages, self.plan.per_packet);
            self.send(bytes)?;
            next += count.max(1);
            self.serve();
        }
        if let Some(late) = self.late.take() {
            self.mouth.say(&late)?;
        }
        self.sent.messages = next - 1;
        let mut asked = Instant::now();
        while asked.elapsed() < self.plan.linger && !stop() {
            if self.serve() {
                asked = Instant::now();
            }
            self.pulse(next, END)?;
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(self.sent)
    }

    /// A packet of the session, which may be lost or come late.
    fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.sent.packets += 1;
        self.heartbeat = Instant::now();
        if self.random.random_bool(self.plan.loss.clamp(0.0, 1.0)) {
            self.sent.dropped += 1;
            return Ok(());
        }
        if self.late.is_none() && self.random.random_bool(self.plan.reorder.clamp(0.0, 1.0)) {
            self.sent.reordered += 1;
            self.late = Some(bytes);
            return Ok(());
        }
        self.mouth.say(&bytes)?;
        match self.late.take() {
            Some(late) => self.mouth.say(&late),
            None => Ok(()),
        }
    }

    /// A heartbeat, or the end, now and then.
    fn pulse(&mut self, sequence: u64, count: u16) -> io::Result<()> {
        if self.heartbeat.elapsed() < HEARTBEAT {
            return Ok(());
        }
        self.heartbeat = Instant::now();
        self.mouth.say(&Head { session: self.plan.session, sequence, count }.bytes())
    }

    /// Answers what was asked; true if anything was.
    fn serve(&mut self) -> bool {
        let mut is_asked = false;
        while let Some((request, from)) = self.mouth.asked() {
            let Some(head) = Head::read(&request).filter(|head| head.session == self.plan.session) else {
                continue;
            };
            is_asked = true;
            self.sent.requests += 1;
            let (mut next, end) = (head.sequence, head.sequence + u64::from(head.count));
            for _ in 0..MOST_ANSWERS {
                let withheld = self.plan.withheld.filter(|(low, high)| (*low..*high).contains(&next));
                if let Some((_, high)) = withheld {
                    next = high;
                }
                let stop =
                    self.plan.withheld.map(|(low, _)| low).filter(|low| *low > next).unwrap_or(u64::MAX);
                let left = stop.min(end).saturating_sub(next);
                let (bytes, count) =
                    packet(self.plan.session, next, &self.messages, usize::try_from(left).unwrap_or(0));
                if count == 0 {
                    break;
                }
                self.mouth.answer(&bytes, from);
                self.sent.resent += count;
                next += count;
            }
        }
        is_asked
    }
}
