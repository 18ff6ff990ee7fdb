//! The strategy in its recording: its node, its journals.

use recorder::format::RecordedJournal;
use recorder::read::Recording;
use topology::config::MarketData;
use topology::{HostSection, NodeKind, NodeSpec, ReadBinding, StrategySection, Topology};

use crate::error::ReplayError;

/// A strategy of a recorded platform.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Its own node.
    pub(crate) node: NodeSpec,
    /// The node whose process it runs in, if that is not its own: with no other strategy.
    pub(crate) host: Option<NodeSpec>,
    /// The journals that are given to it, with what they are to it.
    pub(crate) reads: Vec<(ReadBinding, RecordedJournal)>,
    /// The journal that it writes.
    pub(crate) orders: RecordedJournal,
    /// Quotes behind the best that it hears, which it may look up.
    pub(crate) depths: Option<RecordedJournal>,
    /// What cannot be as it was.
    pub(crate) caveats: Vec<String>,
}

impl Subject {
    /// The strategy of that name.
    pub(crate) fn find(
        recording: &Recording,
        topology: &Topology,
        name: &str,
    ) -> Result<Subject, ReplayError> {
        let strategies = || topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy);
        let Some(node) = strategies().find(|node| node.name == name) else {
            let names: Vec<&str> = strategies().map(|node| node.name.as_str()).collect();
            let what = format!("no strategy `{name}` is in the recording; there are: {}", names.join(", "));
            return Err(ReplayError::Usage(what));
        };
        let node = node.clone();
        let section: StrategySection = serde_json::from_value(node.section.clone()).map_err(|error| {
            ReplayError::Usage(format!("the section of `{name}` is not understood: {error}"))
        })?;
        let host = match &node.host {
            Some(host) => Some(alone(topology, host, &node)?),
            None => None,
        };
        let data = section.data;
        let reader = host.as_ref().unwrap_or(&node);
        let mut reads = Vec::new();
        for read in reader.reads.iter().filter(|read| is_wanted(&read.role, data)) {
            reads.push((read.clone(), recorded(recording, &read.journal)?));
        }
        let Some(orders) = node.writes.iter().find(|write| write.role == "orders") else {
            return Err(ReplayError::Usage(format!("`{name}` writes no journal of orders")));
        };
        let orders = recorded(recording, &orders.journal)?;
        let mut caveats = Vec::new();
        let quotes = recording.description().journal("md.quotes").cloned();
        let depths = quotes.filter(|_| data == MarketData::Best);
        if data == MarketData::Best && depths.is_none() {
            caveats.push("md.quotes was not recorded: the depth behind the best is not there".to_owned());
        }
        Ok(Subject { node, host, reads, orders, depths, caveats })
    }

    /// The node that has a process.
    pub(crate) fn process(&self) -> &NodeSpec {
        self.host.as_ref().unwrap_or(&self.node)
    }

    /// The journal that is this to it.
    pub(crate) fn read(&self, role: &str) -> Option<&RecordedJournal> {
        self.reads.iter().find(|(read, _)| read.role == role).map(|(_, journal)| journal)
    }

    /// Its seat as the topic of reports, where it shares a journal of reports.
    pub(crate) fn reports_topic(&self) -> Option<u32> {
        self.host.as_ref().map(|_| u32::from(self.node.seat))
    }
}

/// The host without other strategies.
fn alone(topology: &Topology, host: &str, member: &NodeSpec) -> Result<NodeSpec, ReplayError> {
    let wrong = |what: String| ReplayError::Usage(format!("host `{host}` of `{}`: {what}", member.name));
    let mut host = topology.node(host).ok_or_else(|| wrong("it is not in the recording".to_owned()))?.clone();
    let mut section: HostSection =
        serde_json::from_value(host.section.clone()).map_err(|error| wrong(error.to_string()))?;
    section.strategies.retain(|strategy| strategy.seat == member.seat);
    host.section = serde_json::to_value(section).map_err(|error| wrong(error.to_string()))?;
    Ok(host)
}

fn is_wanted(role: &str, data: MarketData) -> bool {
    match role {
        "instruments" | "reports" | "state" => true,
        "quotes" => data == MarketData::Depth,
        "best" => data == MarketData::Best,
        "flow" | "market" => data == MarketData::Flow,
        _ => false,
    }
}

fn recorded(recording: &Recording, journal: &str) -> Result<RecordedJournal, ReplayError> {
    recording.description().journal(journal).cloned().ok_or_else(|| {
        ReplayError::Usage(format!(
            "journal `{journal}` was not recorded: record all that the strategy reads and writes"
        ))
    })
}
