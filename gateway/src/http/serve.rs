//! Accepting and serving: every thread has a runtime, a listener and connections of its own.
//!
//! A connection that has no request in work, and has been so for as long as the head of a request may take, is closed: that is
//! one rule for slow heads, for half-open connections and for those that say nothing at all. One that has been served before may
//! idle for longer.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, UnixListener};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::answer::Answer;
use super::auth::Peer;
use super::route::{health, route};
use super::socket::{SocketName, Stream, keep_alive, listen_unix, listeners, tls};
use super::{Here, Shared, TICK};

/// So long requests in work may take once the node stops.
const GRACE: Duration = Duration::from_secs(1);
/// So long after its answer a connection is taken to have it, once the node stops.
const WRITTEN: Duration = Duration::from_millis(50);
/// After an accept that failed, as it does when there are no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// The threads.
#[derive(Debug)]
pub(crate) struct Server {
    threads: Vec<std::thread::JoinHandle<()>>,
    /// Where it listens, once bound.
    pub(crate) address: Option<SocketAddr>,
    /// Of the local socket: gone with the server.
    _name: Option<SocketName>,
}

impl Server {
    pub(crate) fn join(mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Runs tasks of one thread, which need not be sent anywhere.
#[derive(Clone, Copy, Debug)]
struct Local;

impl<F: Future<Output: 'static> + 'static> hyper::rt::Executor<F> for Local {
    fn execute(&self, future: F) {
        tokio::task::spawn_local(future);
    }
}

/// Binds and starts all of it.
pub(crate) fn start(shared: &Arc<Shared>) -> Result<Server, String> {
    let config = &shared.config;
    let acceptor = config.tls.as_ref().map(tls).transpose()?.map(TlsAcceptor::from);
    let mut listeners = match &config.listen {
        Some(listen) => {
            let address: SocketAddr =
                listen.parse().map_err(|error| format!("gateway.listen: `{listen}`: {error}"))?;
            listeners(address, config.threads)
                .map_err(|error| format!("cannot listen on {address} (gateway.listen): {error}"))?
        }
        None => Vec::new(),
    }
    .into_iter();
    let address = listeners.as_slice().first().and_then(|listener| listener.local_addr().ok());
    let (mut local, name) = match &config.unix {
        Some(path) => {
            let (listener, name) = listen_unix(Path::new(path))
                .map_err(|error| format!("cannot listen on `{path}` (gateway.unix): {error}"))?;
            (Some(listener), Some(name))
        }
        None => (None, None),
    };
    let mut threads = Vec::new();
    for number in 0..config.threads {
        let tcp = listeners.next();
        // The first thread has it.
        let unix = local.take();
        let (shared, acceptor) = (Arc::clone(shared), acceptor.clone());
        let thread = std::thread::Builder::new()
            .name(format!("http-{number}"))
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .max_blocking_threads(4)
                    .build();
                match runtime {
                    Ok(runtime) => {
                        let local = tokio::task::LocalSet::new();
                        local.block_on(&runtime, run(&Rc::new(shared), number as usize, tcp, unix, acceptor));
                    }
                    Err(error) => log::error!("no runtime for HTTP: {error}"),
                }
            })
            .map_err(|error| format!("no thread for HTTP: {error}"))?;
        threads.push(thread);
    }
    Ok(Server { threads, address, _name: name })
}

async fn accept_tcp(listener: Option<&TcpListener>) -> std::io::Result<(tokio::net::TcpStream, SocketAddr)> {
    match listener {
        Some(listener) => listener.accept().await,
        None => std::future::pending().await,
    }
}

async fn accept_unix(listener: Option<&UnixListener>) -> std::io::Result<tokio::net::UnixStream> {
    match listener {
        Some(listener) => listener.accept().await.map(|(stream, _)| stream),
        None => std::future::pending().await,
    }
}

async fn run(
    here: &Here,
    number: usize,
    tcp: Option<std::net::TcpListener>,
    unix: Option<std::os::unix::net::UnixListener>,
    acceptor: Option<TlsAcceptor>,
) {
    let tcp = tcp.and_then(|listener| TcpListener::from_std(listener).ok());
    let unix = unix.and_then(|listener| UnixListener::from_std(listener).ok());
    // A clock of its own would be set anew at each wait.
    let Some(ticks) = here.ticks.get(number) else { return };
    let connections = Connections::default();
    let (head, idle) = (here.config.head, here.config.idle);
    // Nobody stays a quarter longer than he may.
    let pause = (head.min(idle) / 4).clamp(TICK / 2, Duration::from_secs(1));
    let mut looked = Instant::now();
    loop {
        let (stream, peer) = tokio::select! {
            () = ticks.notified() => {
                if here.node.is_stopping() {
                    break;
                }
                if looked.elapsed() >= pause {
                    looked = Instant::now();
                    connections.look(head, idle);
                }
                continue;
            }
            accepted = accept_tcp(tcp.as_ref()) => match accepted {
                Ok((stream, from)) => {
                    let _ = stream.set_nodelay(true);
                    keep_alive(&stream);
                    let peer = Peer { address: from.to_string(), is_local: from.ip().is_loopback(), has_certificate: false };
                    (Stream::Tcp(stream), peer)
                }
                Err(error) => {
                    log::warn!("a connection cannot be accepted: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
            accepted = accept_unix(unix.as_ref()) => match accepted {
                Ok(stream) => {
                    let peer = Peer { address: "unix".to_owned(), is_local: true, has_certificate: false };
                    (Stream::Unix(stream), peer)
                }
                Err(error) => {
                    log::warn!("a local connection cannot be accepted: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            },
        };
        // One more than there is room for is closed at once.
        let Ok(permit) = Arc::clone(&here.permits).try_acquire_owned() else {
            here.meter.refused();
            continue;
        };
        here.meter.accepted();
        let activity = Rc::new(Activity {
            in_work: Cell::new(0),
            served: Cell::new(false),
            last: Cell::new(Instant::now()),
        });
        let (here, acceptor, own) = (Rc::clone(here), acceptor.clone(), Rc::clone(&activity));
        let task = tokio::task::spawn_local(async move {
            if let Some((stream, peer)) = secured(&here, stream, peer, acceptor).await {
                serve(here, stream, peer, own).await;
            }
            drop(permit);
        });
        connections.add(activity, task.abort_handle());
    }
    drop((tcp, unix));
    let end = Instant::now() + GRACE;
    while !connections.is_empty() && Instant::now() < end {
        // What was just answered is still being written.
        connections.look(WRITTEN, WRITTEN);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Through TLS, where it is spoken.
async fn secured(
    here: &Shared,
    stream: Stream,
    peer: Peer,
    acceptor: Option<TlsAcceptor>,
) -> Option<(Stream, Peer)> {
    match (stream, acceptor) {
        (Stream::Tcp(stream), Some(acceptor)) => {
            let secured = tokio::time::timeout(here.config.head, acceptor.accept(stream)).await.ok()?.ok()?;
            let has_certificate =
                secured.get_ref().1.peer_certificates().is_some_and(|shown| !shown.is_empty());
            Some((Stream::Tls(Box::new(secured)), Peer { has_certificate, ..peer }))
        }
        (stream, _) => Some((stream, peer)),
    }
}

/// What a connection is doing.
#[derive(Debug)]
struct Activity {
    in_work: Cell<usize>,
    served: Cell<bool>,
    last: Cell<Instant>,
}

impl Activity {
    fn is_served(&self) {
        self.served.set(true);
        self.last.set(Instant::now());
    }
}

/// A request in work, until it is answered or given up: HTTP/2 drops it when the client resets its stream.
struct InWork(Rc<Activity>);

impl InWork {
    fn begins(activity: &Rc<Activity>) -> InWork {
        activity.in_work.set(activity.in_work.get() + 1);
        InWork(Rc::clone(activity))
    }
}

impl Drop for InWork {
    fn drop(&mut self) {
        self.0.in_work.set(self.0.in_work.get() - 1);
        self.0.is_served();
    }
}

/// One connection's requests.
struct Requests {
    here: Here,
    peer: Rc<Peer>,
    activity: Rc<Activity>,
}

/// An answer that is there, or one that is worked on. What is worked on lies elsewhere: a connection keeps room for its answer, and
/// most of them idle.
enum Reply {
    There(Option<Answer>),
    InWork(Pin<Box<dyn Future<Output = Answer>>>),
}

impl Future for Reply {
    type Output = Result<Answer, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Reply::There(answer) => match answer.take() {
                Some(answer) => Poll::Ready(Ok(answer)),
                None => Poll::Pending,
            },
            Reply::InWork(work) => work.as_mut().poll(context).map(Ok),
        }
    }
}

impl Service<Request<Incoming>> for Requests {
    type Response = Answer;
    type Error = Infallible;
    type Future = Reply;

    fn call(&self, request: Request<Incoming>) -> Reply {
        let activity = &self.activity;
        if let Some(answer) = health(&self.here, &request) {
            activity.is_served();
            return Reply::There(Some(answer));
        }
        let (here, peer) = (Rc::clone(&self.here), Rc::clone(&self.peer));
        let work = InWork::begins(activity);
        Reply::InWork(Box::pin(async move {
            let answer = route(here, &peer, request).await;
            drop(work);
            answer
        }))
    }
}

/// Does this connection begin as HTTP/2 does? Nothing of it is taken.
async fn is_second(stream: &Stream) -> bool {
    // HTTP/1 has no method of ours that begins so.
    const BEGIN: &[u8; 2] = b"PR";
    match stream {
        Stream::Tls(stream) => stream.get_ref().1.alpn_protocol() == Some(b"h2"),
        Stream::Unix(_) => false,
        Stream::Tcp(stream) => {
            let mut bytes = [0; 2];
            loop {
                match stream.peek(&mut bytes).await {
                    Ok(2) => return bytes == *BEGIN,
                    Ok(1) if bytes[0] == BEGIN[0] => tokio::time::sleep(Duration::from_millis(1)).await,
                    _ => return false,
                }
            }
        }
    }
}

async fn serve(here: Here, stream: Stream, peer: Peer, activity: Rc<Activity>) {
    let is_second = is_second(&stream).await;
    let requests = Requests { here, peer: Rc::new(peer), activity };
    let stream = TokioIo::new(stream);
    let ended = match is_second {
        // The larger one lies elsewhere.
        true => Box::pin(http2::Builder::new(Local).serve_connection(stream, requests)).await,
        false => http1::Builder::new().serve_connection(stream, requests).with_upgrades().await,
    };
    if let Err(error) = ended {
        log::debug!("a connection ended: {error}");
    }
}

/// A thread's connections, of which those are ended that idle for too long. One look for all: a clock for each would cost every
/// request.
#[derive(Default)]
struct Connections {
    all: RefCell<Vec<(Rc<Activity>, AbortHandle)>>,
    /// So many, and those that have ended are left out.
    room: Cell<usize>,
}

impl Connections {
    fn add(&self, activity: Rc<Activity>, task: AbortHandle) {
        let mut all = self.all.borrow_mut();
        all.push((activity, task));
        // One that has ended keeps its task's memory until then.
        if all.len() > self.room.get() {
            all.retain(|(_, task)| !task.is_finished());
            self.room.set(all.len() * 2 + 1_024);
        }
    }

    /// Ends those that have been without a request in work for longer than they may.
    fn look(&self, head: Duration, idle: Duration) {
        let now = Instant::now();
        self.all.borrow_mut().retain(|(activity, task)| {
            let limit = if activity.served.get() { idle } else { head };
            if activity.in_work.get() == 0 && now.duration_since(activity.last.get()) >= limit {
                task.abort();
            }
            !task.is_finished()
        });
    }

    fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }
}
