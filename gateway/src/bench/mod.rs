//! `colo bench gateway`: the gateway beside the least that could do the same, in turns on one host.
//!
//! ```text
//!   this process: the clients ──► a platform with a gateway (colo up)
//!                             ──► peers: bare hyper, an echo, a write for each socket
//! ```

mod broadcast;
mod crowd;
mod diff;
mod hello;
mod http;
mod order;
mod peer;
mod platform;
mod private;

pub use broadcast::Broadcast;
pub use diff::Diff;
pub use hello::Hello;
pub use order::{Orders, Stages};
pub use peer::{PeerKind, serve};
pub use private::Private;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit};
use serde::Serialize;

use platform::Platform;

/// The measurement cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A socket, a file or a process.
    #[error("the measurement broke off: {0}")]
    Io(#[from] std::io::Error),
    /// Something did not do what it should.
    #[error("the measurement broke off: {0}")]
    Failed(String),
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// `/health`.
    Hello,
    /// Orders.
    Order,
    /// One quote to all.
    Broadcast,
    /// Many connections, and a report to one of them.
    Private,
    /// Many sessions of DIFF that peek.
    Diff,
}

/// What to measure; `colo bench gateway` passes it on.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchArguments {
    /// Ends within three minutes.
    #[arg(long)]
    quick: bool,
    /// These parts alone.
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// WebSockets that hear each quote, and sessions of DIFF.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    subscribers: u32,
    /// Connections that wait.
    #[arg(long, default_value_t = 12_000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    connections: u32,
    /// The `colo` that starts the platform; else the one beside this program.
    #[arg(long)]
    colo: Option<PathBuf>,
    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// How much of everything.
#[derive(Clone, Copy, Debug)]
struct Size {
    hello_rounds: usize,
    span: Duration,
    order_turns: usize,
    broadcast_rounds: usize,
    private_orders: usize,
    diff_rounds: usize,
    diff_peeks: usize,
    subscribers: usize,
    connections: usize,
}

/// All of it. What was not asked for is null.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// CPUs that the measurement may use.
    pub cpus: usize,
    /// This program is not optimised: compare its ratios with nothing.
    pub is_unoptimised: bool,
    /// What the host did not allow, in words.
    pub caveats: Vec<String>,
    /// `/health`.
    pub hello: Option<Hello>,
    /// Orders.
    pub order: Option<Orders>,
    /// One quote to all.
    pub broadcast: Option<Broadcast>,
    /// Many connections.
    pub private: Option<Private>,
    /// Sessions of DIFF.
    pub diff: Option<Diff>,
}

/// Measures, and prints the report.
///
/// # Errors
/// [`BenchError`].
pub fn bench(arguments: &BenchArguments) -> Result<(), BenchError> {
    let report = measure(arguments)?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&report).map_err(|error| BenchError::Failed(error.to_string()))?
    } else {
        text(&report)
    };
    writeln!(std::io::stdout(), "{}", text.trim_end())?;
    Ok(())
}

fn measure(arguments: &BenchArguments) -> Result<Report, BenchError> {
    let colo = match &arguments.colo {
        Some(colo) => colo.clone(),
        None => std::env::current_exe()?.with_file_name("colo"),
    };
    let mut caveats = Vec::new();
    node::raise_open_files();
    let files = getrlimit(Resource::RLIMIT_NOFILE).map_or(1_024, |(soft, _)| soft);
    // A client has a descriptor for each connection, as the gateway has.
    let room = usize::try_from(files).unwrap_or(usize::MAX).saturating_sub(200);
    let mut held = |wanted: u32, most: usize, what: &str| {
        let wanted = wanted as usize;
        if wanted > most {
            caveats.push(format!("{what}: {most} instead of {wanted}, as open files (ulimit -n) allow"));
        }
        wanted.min(most)
    };
    let subscribers = held(arguments.subscribers, room, "subscribers");
    let connections = held(arguments.connections, room, "connections");
    let size = match arguments.quick {
        true => Size {
            hello_rounds: 7,
            span: Duration::from_secs(3),
            order_turns: 40,
            broadcast_rounds: 30,
            private_orders: 1_000,
            diff_rounds: 10,
            diff_peeks: 2_000,
            subscribers,
            connections,
        },
        false => Size {
            hello_rounds: 31,
            span: Duration::from_secs(15),
            order_turns: 400,
            broadcast_rounds: 200,
            private_orders: 10_000,
            diff_rounds: 60,
            diff_peeks: 20_000,
            subscribers,
            connections,
        },
    };
    let is_wanted = |part| arguments.only.is_empty() || arguments.only.contains(&part);
    let say = |what: &str| {
        let _ = writeln!(std::io::stderr(), "{what}");
    };
    let mut report = Report {
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        is_unoptimised: cfg!(debug_assertions),
        caveats,
        hello: None,
        order: None,
        broadcast: None,
        private: None,
        diff: None,
    };
    let mut platform = Platform::start(&colo)?;
    if is_wanted(Part::Hello) {
        say("hello");
        report.hello = Some(hello::measure(&platform, size)?);
    }
    if is_wanted(Part::Order) {
        say("order");
        let hello = report.hello.as_ref().map(|hello| hello.requests_per_s);
        report.order = Some(order::measure(&platform, size, hello)?);
    }
    if is_wanted(Part::Broadcast) {
        say("broadcast");
        report.broadcast = Some(broadcast::measure(&platform, size)?);
    }
    if is_wanted(Part::Private) {
        say("private");
        report.private = Some(private::measure(&mut platform, size)?);
    }
    // The last one: from here on the gateway speaks DIFF.
    if is_wanted(Part::Diff) {
        say("diff");
        report.diff = Some(diff::measure(&mut platform, size)?);
    }
    Ok(report)
}

/// This part of them, in order.
fn percentile(mut figures: Vec<f64>, part: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let place = (figures.len() as f64 * part) as usize;
    figures.get(place.min(figures.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

fn rounded(figure: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (figure * scale).round() / scale
}

fn text(report: &Report) -> String {
    use std::fmt::Write;
    let mut text = format!("{} CPUs\n", report.cpus);
    if report.is_unoptimised {
        text += "This colo-gateway is not optimised: its figures mean nothing.\n";
    }
    for caveat in &report.caveats {
        let _ = writeln!(text, "{caveat}");
    }
    if let Some(hello) = &report.hello {
        let _ = writeln!(
            text,
            "hello      {:.0} requests/s over {} connections; bare hyper {:.0}; ratio {:.3}; {} failed",
            hello.requests_per_s,
            hello.connections,
            hello.bare_requests_per_s,
            hello.ratio_to_bare_hyper,
            hello.failed
        );
    }
    if let Some(order) = &report.order {
        let part = order.ratio_to_hello.map_or_else(String::new, |ratio| format!(", {ratio:.3} of hello"));
        let stages = &order.stages;
        let _ = writeln!(
            text,
            "order      {:.0} orders/s over {} connections{part}; answered in {:.0} µs, p99 {:.0}; {} failed",
            order.requests_per_s, order.connections, order.answer_p50_us, order.answer_p99_us, order.failed
        );
        let _ = writeln!(
            text,
            "           own notification in {:.1} µs, p99 {:.1}; a bare echo {:.1}, p99 {:.1}; {:.1} above it",
            order.notification_p50_us,
            order.notification_p99_us,
            order.echo_p50_us,
            order.echo_p99_us,
            order.above_echo_us
        );
        let _ = writeln!(
            text,
            "           http in {:.1}, td {:.1}, matching {:.1}, report {:.1}, out {:.1} µs",
            stages.http_in_us, stages.td_us, stages.matching_us, stages.report_us, stages.out_us
        );
    }
    if let Some(all) = &report.broadcast {
        let _ = writeln!(
            text,
            "broadcast  to {}: first {:.0} µs, p50 {:.0}, p99 {:.0}, last {:.0}; {:.0} deliveries/s, {:.3} of a bare loop's; \
             last/first {:.1}, the loop's {:.1}",
            all.subscribers,
            all.first_us,
            all.p50_us,
            all.p99_us,
            all.last_us,
            all.deliveries_per_s,
            all.ratio_to_bare_write,
            all.fairness,
            all.bare_fairness
        );
    }
    if let Some(one) = &report.private {
        let _ = writeln!(
            text,
            "private    to one of {}: {:.1} µs, p99 {:.1}; {:.0} connections/s; {:.0} bytes a WebSocket, {:.0} over HTTP; \
             {:.0} notifications/s to {}",
            one.connections,
            one.p50_us,
            one.p99_us,
            one.connections_per_s,
            one.websocket_bytes,
            one.http_bytes,
            one.notifications_per_s,
            one.hearers
        );
    }
    if let Some(diff) = &report.diff {
        let _ = writeln!(
            text,
            "diff       {} sessions peek: a quote's data at the first after {:.0} µs, p50 {:.0}, p99 {:.0}, last {:.0}; \
             {:.0} answers/s; a peek that finds news {:.1} µs, p99 {:.1}",
            diff.connections,
            diff.first_us,
            diff.p50_us,
            diff.p99_us,
            diff.last_us,
            diff.answers_per_s,
            diff.peek_p50_us,
            diff.peek_p99_us
        );
    }
    text
}
