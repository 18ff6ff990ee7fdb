//! All of them in turns, each asked by the same client.

use std::fmt::Write;
use std::io::{self, BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use bench_kit::Spread;
use serde::Serialize;

use crate::servers::Server;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Settings {
    pub gateway: SocketAddr,
    pub rounds: usize,
    pub seconds: u32,
    pub connections: u32,
    pub threads: usize,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error("cannot {0}: {1}")]
    System(&'static str, io::Error),
    #[error("wrk: {0}")]
    Client(String),
    #[error("{0} gave {1} answers that were no good ones, or lost as many connections")]
    Refused(&'static str, u64),
}

/// One server's answers.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub server: &'static str,
    /// Median of the turns.
    pub requests_per_s: f64,
    /// The gateway's answers by this one's, of the same turn: median.
    pub gateway_ratio: f64,
    /// The lowest and the highest of these.
    pub gateway_ratio_range: [f64; 2],
}

struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    fn start(server: Server, threads: usize) -> Result<Peer, CompareError> {
        let system = |error| CompareError::System("start a server", error);
        let mut child = Command::new(std::env::current_exe().map_err(system)?)
            .args(["serve", server.name(), "--threads", &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(system)?;
        let mut line = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut line).map_err(system)?;
        }
        let port = line.trim().parse().map_err(|_| system(io::Error::other(format!("{} says no port", server.name()))))?;
        Ok(Peer { child, port })
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Both fail only for a child that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All of them, the first of one turn last in the next.
pub fn compare(settings: &Settings) -> Result<Vec<Figure>, CompareError> {
    let peers = Server::ALL
        .iter()
        .map(|server| Ok((server.name(), Peer::start(*server, settings.threads)?)))
        .collect::<Result<Vec<_>, CompareError>>()?;
    let mut targets: Vec<(&'static str, SocketAddr)> = vec![("gateway", settings.gateway)];
    targets.extend(peers.iter().map(|(name, peer)| (*name, SocketAddr::from(([127, 0, 0, 1], peer.port)))));
    let mut rates = vec![Vec::new(); targets.len()];
    for round in 0..settings.rounds {
        eprintln!("turn {} of {}", round + 1, settings.rounds);
        for step in 0..targets.len() {
            let index = (round + step) % targets.len();
            let (name, address) = targets[index];
            rates[index].push(ask(name, address, settings)?);
        }
    }
    Ok(targets
        .iter()
        .zip(&rates)
        .map(|((server, _), rate)| {
            let mut ratios: Vec<f64> = rates[0].iter().zip(rate).map(|(gateway, other)| gateway / other).collect();
            ratios.sort_by(f64::total_cmp);
            let range = [ratios.first(), ratios.last()].map(|ratio| ratio.copied().unwrap_or_default());
            Figure {
                server,
                requests_per_s: median(rate.clone()).round(),
                gateway_ratio: thousandths(median(ratios)),
                gateway_ratio_range: range.map(thousandths),
            }
        })
        .collect())
}

fn median(figures: Vec<f64>) -> f64 {
    Spread::of(figures).map_or(0.0, |spread| spread.median)
}

fn thousandths(figure: f64) -> f64 {
    (figure * 1_000.0).round() / 1_000.0
}

/// One turn of wrk: good answers a second.
fn ask(name: &'static str, address: SocketAddr, settings: &Settings) -> Result<f64, CompareError> {
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{}", settings.connections), &format!("-d{}s", settings.seconds)])
        .arg(format!("http://{address}/health"))
        .output()
        .map_err(|error| CompareError::Client(format!("{error}; is it installed?")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(CompareError::Client(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    let bad: u64 = text
        .lines()
        .filter(|line| line.contains("Non-2xx") || line.contains("Socket errors"))
        .flat_map(|line| line.split(|letter: char| !letter.is_ascii_digit()))
        .filter_map(|number| number.parse::<u64>().ok())
        .sum();
    // `Non-2xx or 3xx responses` has two digits of its own.
    let bad = bad.saturating_sub(if text.contains("Non-2xx") { 5 } else { 0 });
    if bad > 0 {
        return Err(CompareError::Refused(name, bad));
    }
    let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok());
    rate.ok_or_else(|| CompareError::Client(format!("it says no rate: {}", text.trim())))
}

/// A table.
pub fn text(figures: &[Figure]) -> String {
    let mut text = String::from("server     requests/s  the gateway's by its\n");
    for figure in figures {
        let [low, high] = figure.gateway_ratio_range;
        let _ = writeln!(
            text,
            "{:<10} {:>10.0}  {:.3} ({low:.3} to {high:.3})",
            figure.server, figure.requests_per_s, figure.gateway_ratio
        );
    }
    text
}
