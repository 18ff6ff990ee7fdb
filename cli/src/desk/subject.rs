//! What an entry is about: scopes, strategies by name, instruments by symbol.

use accounts::{Kill, KillCause};
use clap::Args;
use journal::Journal;
use node::{Exit, InstanceDir};
use serde::Serialize;
use topology::{Stream, Topology};
use wire::{AccountScope, Instrument, InstrumentId, Message, StrategyId};

use crate::failure::Failure;
use crate::verbs::instance::suggestion;

/// A kill switch that has fallen, as it is printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Kills {
    scope: String,
    subject: u32,
    /// Of a strategy: its node.
    name: Option<String>,
    cause: &'static str,
}

impl Kills {
    pub(crate) fn of(kill: &Kill, topology: Option<&Topology>) -> Kills {
        Kills {
            scope: kill.scope.to_string(),
            subject: kill.subject,
            name: (kill.scope == AccountScope::Strategy)
                .then(|| strategy_name(topology, StrategyId(kill.subject as u16))),
            cause: cause(kill.cause),
        }
    }
}

impl std::fmt::Display for Kills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.name, self.scope.as_str()) {
            (Some(name), scope) => write!(f, "{scope} {name} ({})", self.cause),
            (None, "platform") => write!(f, "the platform ({})", self.cause),
            (None, scope) => write!(f, "{scope} {} ({})", self.subject, self.cause),
        }
    }
}

/// Why a switch has fallen, in a word.
fn cause(cause: KillCause) -> &'static str {
    match cause {
        KillCause::Entry => "entry",
        KillCause::Loss => "loss",
        KillCause::RejectRate => "reject-rate",
        KillCause::RunawayRate => "runaway-rate",
    }
}

/// What a desk says has fallen.
pub(crate) fn killed(desk: &accounts::Desk, topology: Option<&Topology>) -> Vec<Kills> {
    desk.fallen().iter().map(|kill| Kills::of(kill, topology)).collect()
}

/// Which accounts.
#[derive(Debug, Default, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ScopeArguments {
    /// One account.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) account: Option<u32>,
    /// All orders of a strategy, for whichever account: its node's name.
    #[arg(long, value_name = "NODE")]
    pub(crate) strategy: Option<String>,
    /// All accounts of a group.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) group: Option<u32>,
    /// Everything.
    #[arg(long)]
    pub(crate) all: bool,
}

impl ScopeArguments {
    /// The scope, and the number of what is meant in it.
    pub(crate) fn scope(&self, topology: &Topology) -> Result<(AccountScope, u32), Failure> {
        if let Some(account) = self.account {
            return Ok((AccountScope::Account, account));
        }
        if let Some(group) = self.group {
            return Ok((AccountScope::Group, group));
        }
        match &self.strategy {
            Some(name) => Ok((AccountScope::Strategy, strategy_seat(topology, name)?.0.into())),
            None => Ok((AccountScope::Platform, 0)),
        }
    }
}

/// The seat of a strategy by its node's name.
pub(crate) fn strategy_seat(topology: &Topology, name: &str) -> Result<StrategyId, Failure> {
    // To td, the gateway is one of them.
    let strategies = || topology.nodes.iter().filter(|node| node.kind.sends());
    if let Some(node) = strategies().find(|node| node.name == name) {
        return Ok(StrategyId(node.seat));
    }
    let known: Vec<&str> = strategies().map(|node| node.name.as_str()).collect();
    let message = format!("there is no strategy `{name}`{}", suggestion(name, &known));
    Err(Failure::new(Exit::Usage, message))
}

/// The name of a strategy's node.
pub(crate) fn strategy_name(topology: Option<&Topology>, seat: StrategyId) -> String {
    let nodes = topology.map(|topology| topology.nodes.as_slice()).unwrap_or_default();
    let node = nodes.iter().find(|node| node.seat == seat.0);
    node.map_or_else(|| format!("seat {}", seat.0), |node| node.name.clone())
}

/// A scope with what is meant in it, in words.
pub(crate) fn scope_name(scope: AccountScope, subject: u32, topology: Option<&Topology>) -> String {
    match scope {
        AccountScope::Platform => "the platform".to_owned(),
        AccountScope::Strategy => format!("strategy {}", strategy_name(topology, StrategyId(subject as u16))),
        scope => format!("{scope} {subject}"),
    }
}

/// An instrument by its number or its symbol.
pub(crate) fn instrument(instance: &InstanceDir, text: &str) -> Result<InstrumentId, Failure> {
    if let Ok(number) = text.parse() {
        return Ok(InstrumentId(number));
    }
    let mut known = Vec::new();
    for (id, symbol) in listed(instance)? {
        if symbol == text {
            return Ok(id);
        }
        known.push(symbol);
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let message = format!("there is no instrument `{text}`{}", suggestion(text, &known));
    Err(Failure::new(Exit::Usage, message))
}

/// What md has listed.
fn listed(instance: &InstanceDir) -> Result<Vec<(InstrumentId, String)>, Failure> {
    let name = Stream::Instruments.journal().unwrap_or("md.instruments");
    let journal = Journal::open_read_only(instance.find_journal(name))?;
    let mut reader = journal.loose_from_start()?;
    let mut found = Vec::new();
    while let Ok(Some(frame)) = reader.read() {
        if let Ok(instrument) = Instrument::decode(frame.payload) {
            found.push((instrument.id, instrument.symbol.to_string()));
        }
    }
    Ok(found)
}
