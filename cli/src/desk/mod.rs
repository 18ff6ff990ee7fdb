//! The accounts of an instance, from outside: entries go in through `desk.entries`, and what took effect is read from the drop
//! copy. Nothing here asks master or td; both may be dead.

mod entries;
mod follow;
mod source;
mod states;
mod subject;

use node::{Exit, InstanceDir};
use topology::{DeskSection, NodeKind, TdSection, Topology};

pub(crate) use entries::{Entered, Outcome, Sent, enter};
pub(crate) use follow::{follow, follow_to};
pub(crate) use source::{Fault, Seen, Source, Stream};
pub(crate) use states::states;
pub(crate) use subject::{
    Kills, ScopeArguments, instrument, killed, scope_name, strategy_name, strategy_seat,
};

use crate::failure::Failure;

/// What people and programs change.
pub(crate) const ENTRIES: &str = "desk.entries";
/// All that took effect.
pub(crate) const DROPS: &str = "td.drops";
/// The ledger's snapshots.
pub(crate) const SNAPSHOTS: &str = "ledger.desk";
/// The file with how each account stands.
pub(crate) const STATES: &str = "ledger.accounts";
/// Requests as they go out.
pub(crate) const ORDERS: &str = "td.orders";
/// What the market says.
pub(crate) const EXECUTIONS: &str = "matching.executions";

/// The platform's accounts as its file has them; `None` where it keeps none.
pub(crate) fn section(topology: &Topology) -> Option<DeskSection> {
    let td = topology.nodes.iter().find(|node| node.kind == NodeKind::Td)?;
    serde_json::from_value::<TdSection>(td.section.clone()).ok()?.desk
}

/// How the desk of a platform is made.
pub(crate) fn options(section: Option<&DeskSection>) -> accounts::Options {
    section.map_or_else(accounts::Options::default, |section| accounts::Options {
        remembered: section.config.remembered,
    })
}

/// Refuses an instance that keeps no accounts.
pub(crate) fn demand(instance: &InstanceDir) -> Result<(), Failure> {
    if instance.journal_names().unwrap_or_default().iter().any(|name| name == DROPS) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Usage,
        format!(
            "instance `{}` keeps no accounts: its platform file has no [[accounts]] and no [desk]",
            instance.name()
        ),
    ))
}

/// The topology that an instance was made from.
pub(crate) fn topology(instance: &InstanceDir) -> Result<Topology, Failure> {
    let path = instance.topology();
    let text = std::fs::read(&path).map_err(Failure::system("read", &path))?;
    serde_json::from_slice(&text)
        .map_err(|error| Failure::new(Exit::Failed, format!("{} is not understood: {error}", path.display())))
}
