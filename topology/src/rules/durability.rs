//! What "sync" needs: a recorder that misses nothing of the journal, nor of what led to it.

use settings::{Report, Rows};

use crate::config::{Durability, PlatformConfig, ReaderKind};
use crate::paths;
use crate::services::NodeKind;
use crate::spec::{JournalSpec, NodeSpec, Topology};

/// Notes journals whose durability is promised and not kept, and recorders that share a folder.
pub(crate) fn check(config: &PlatformConfig, topology: &Topology, rows: &Rows, report: &mut Report) {
    for (index, recorder) in config.recorder.iter().enumerate() {
        let first = config.recorder[..index].iter().find(|other| other.path == recorder.path);
        if let Some(first) = first {
            let path = format!("{}.path", paths::recorder(rows, index, &recorder.name));
            let message =
                format!("recorders `{}` and `{}` have one folder: {}", first.name, recorder.name, first.path);
            report.error(rows.place(&path), message).help("give each recorder a folder of its own");
        }
    }
    let sync = || topology.journals.iter().filter(|journal| journal.durability == Durability::Sync);
    let mut noted = Vec::new();
    for journal in sync() {
        let key = key_of(journal, topology, rows);
        let message = match recorder_of(journal, topology) {
            None => format!(
                "the durability of `{}` is \"sync\", and no recorder records it: nobody would ever see a frame of it",
                journal.name
            ),
            Some((node, ReaderKind::Loose)) => format!(
                "the durability of `{}` is \"sync\", and recorder `{}` reads it loosely: it may miss frames",
                journal.name, node.name
            ),
            Some((_, ReaderKind::Gated)) => continue,
        };
        // One key may speak of many journals.
        if noted.contains(&key) {
            continue;
        }
        let help = match recorder_of(journal, topology) {
            None => "name it in `journals` of a [[recorder]], or set its durability to \"async\" or \"none\"",
            Some(_) => "take it out of `loose`, or set its durability to \"async\"",
        };
        report.error(rows.place(&key), message).help(help);
        noted.push(key);
    }
    let reports = sync().filter(|journal| journal.name.starts_with("reports."));
    let parted = reports
        .filter_map(|journal| Some((journal, recorder_of(journal, topology)?.0, parted(journal, topology)?)));
    if let Some((journal, node, cause)) = parted.into_iter().next() {
        let message = format!(
            "recorder `{}` records `{}`, which is \"sync\", but not `{cause}`, which leads to it: after a crash of the host, a report \
             that a strategy was given may come back without its cause, or not at all",
            node.name, journal.name
        );
        let help = "let one recorder record reports, orders, td.orders and matching.executions";
        report.warning(rows.place(&key_of(journal, topology, rows)), message).help(help);
    }
}

/// Who records a journal.
fn recorder_of<'a>(journal: &JournalSpec, topology: &'a Topology) -> Option<(&'a NodeSpec, ReaderKind)> {
    let recorders = topology.nodes.iter().filter(|node| node.kind == NodeKind::Recorder);
    let mut found = recorders.filter_map(|node| {
        let read = node.reads.iter().find(|read| read.journal == journal.name)?;
        Some((node, read.kind))
    });
    found.next()
}

/// The first journal on the way to these reports that their recorder does not record.
fn parted<'a>(reports: &JournalSpec, topology: &'a Topology) -> Option<&'a str> {
    let (recorder, _) = recorder_of(reports, topology)?;
    let leads =
        |name: &str| name.starts_with("orders.") || name == "td.orders" || name == "matching.executions";
    let mut causes = topology.journals.iter().filter(|journal| leads(&journal.name));
    let missing = causes.find(|cause| recorder.reads.iter().all(|read| read.journal != cause.name));
    missing.map(|cause| cause.name.as_str())
}

/// The nearest key that sets the durability of a journal.
fn key_of(journal: &JournalSpec, topology: &Topology, rows: &Rows) -> String {
    let name = &journal.name;
    let family = name.split('.').next().unwrap_or(name);
    let group = name.strip_prefix("reports.").and_then(|reader| topology.node(reader)?.group.clone());
    let group = group.map(|group| format!("{}.durability", paths::group(rows, &group)));
    let sections = [format!("journal.{name}"), format!("journal.{family}"), "journal".to_owned()];
    let keys = sections.map(|section| format!("{section}.durability"));
    let found = group
        .into_iter()
        .chain(["strategies.durability".to_owned()])
        .chain(keys)
        .find(|key| rows.is_written(key));
    found.unwrap_or_else(|| "recorder".to_owned())
}
