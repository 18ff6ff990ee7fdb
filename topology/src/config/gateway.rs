//! `[gateway]`: HTTP and WebSocket, for clients that are no processes of the platform.

use std::time::Duration;

use settings::schema::{DAY_NS, Kind};
use settings::{ByteSize, duration, section};

use super::{AccountChoice, LimitsConfig, MarketData, RunConfig};
use crate::services::NodeKind;

section! {
    /// TLS, which every address off this host must have.
    pub struct TlsConfig {
        /// The certificates, PEM, the server's own first (relative to the file).
        cert: String = String::new();
        /// Its private key, PEM (relative to the file).
        key: String = String::new();
        /// The authority that signs clients' certificates, PEM: who shows one of them may send orders from off this host.
        client_ca: Option<String> = None;
    }
}

section! {
    /// FIX 4.4 and 5.0 SP2, for orders: the gateway accepts, its clients initiate.
    pub struct FixConfig {
        /// Address and port; with `gateway.tls` it speaks TLS, and any address but a loopback one needs that.
        listen: String = "127.0.0.1:9878".to_owned();
        /// The file of sessions: which CompIDs may log on, and with which tokens (relative to the file). What was sent is kept in a
        /// folder of the same name with `.d` behind it.
        sessions: String = "fix.json".to_owned();
    }
}

section! {
    /// The gateway: what it listens on, who may, and how much of everything.
    pub struct GatewayConfig {
        /// Address and port; any address but a loopback one needs `tls`.
        listen: Option<String> = Some("127.0.0.1:8080".to_owned());
        /// The path of a Unix socket, for this user only (relative to the file).
        unix: Option<String> = None;
        /// Certificate and key; without them it speaks plain HTTP, to loopback only.
        tls: Option<TlsConfig> = None;
        /// The file of tokens, as `colo token` writes it (relative to the file).
        tokens: String = "tokens.json".to_owned();
        /// The accounts that its clients may trade for, as far as their tokens allow.
        accounts: AccountChoice = AccountChoice::default();
        /// Limits that td holds all of its clients together to, where they are not those of `[td]`.
        limits: LimitsConfig = LimitsConfig::default();
        /// What it hears of the market.
        data: MarketData = MarketData::Depth;
        /// Threads that speak HTTP; each accepts connections of its own.
        threads: u32 = 1 => Kind::Integer { min: 1, max: 64 };
        /// Threads that push to WebSockets.
        push_threads: u32 = 1 => Kind::Integer { min: 1, max: 64 };
        /// Connections at once; the next one is closed at once.
        connections: u32 = 16_384 => Kind::Integer { min: 1, max: 1_000_000 };
        /// Bytes of a request's body at most.
        body: ByteSize = ByteSize::kib(256);
        /// A client that has not sent a request's head by then is cut off; so is a connection that idles between two.
        #[serde(with = "duration")]
        idle: Duration = Duration::from_secs(75) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// So long the head of a request may take.
        #[serde(with = "duration")]
        head: Duration = Duration::from_secs(10) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// So long a client waits for td's answer to a request before it is told that the outcome is not known yet.
        #[serde(with = "duration")]
        answer: Duration = Duration::from_secs(2) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// Requests a second and token; 0: no limit.
        rate: u32 = 0;
        /// Orders, cancels and replaces a second and account; 0: no limit.
        order_rate: u32 = 0;
        /// Bytes that may wait for a WebSocket at most.
        queue: ByteSize = ByteSize::kib(256);
        /// A WebSocket that takes nothing for so long is closed.
        #[serde(with = "duration")]
        write_deadline: Duration = Duration::from_secs(10) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// A WebSocket hears a ping after so long without a word, and is closed after twice that.
        #[serde(with = "duration")]
        ping: Duration = Duration::from_secs(30) => Kind::Duration { min_ns: 1_000_000, max_ns: DAY_NS };
        /// Origins of pages that may open a WebSocket, as in "https://desk.example"; the gateway's own always may.
        origins: Vec<String> = Vec::new();
        /// Whether it speaks the DIFF protocol, as tqsdk does, below the path /diff.
        diff: bool = false;
        /// The exchange that stands before symbols there, as in SHFE.SIM001: DIFF's clients accept those they know.
        diff_exchange: String = "SHFE".to_owned();
        /// FIX; without it nothing listens for that.
        fix: Option<FixConfig> = None;
        /// When it stops in good order, it cancels what its clients have working.
        cancel_on_stop: bool = true;
        /// How it waits, and whether it is started again.
        #[serde(flatten)]
        run: RunConfig = RunConfig::of(NodeKind::Gateway);
    }
}
