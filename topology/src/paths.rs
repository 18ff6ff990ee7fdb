//! Paths of the platform file's keys.

use settings::Rows;

use crate::config::{PlatformConfig, StrategyGroup};

/// The path of the group of strategies of that name.
pub(crate) fn group(rows: &Rows, name: &str) -> String {
    let path = format!("strategies.group.{name}");
    if rows.has_table(&path) { path } else { "strategies".to_owned() }
}

/// The path of the table that describes the host of that name: in the first group that runs there.
pub(crate) fn host(rows: &Rows, name: &str, config: &PlatformConfig) -> String {
    let here = |group: &&StrategyGroup| group.host.as_ref().is_some_and(|host| host.name == name);
    let found = config.strategies.iter().find(here).map_or("", |group| group.name.as_str());
    format!("{}.host", group(rows, found))
}

/// The path of a recorder's table: by its name, or by its place where the file gives it none.
pub(crate) fn recorder(rows: &Rows, index: usize, name: &str) -> String {
    let path = format!("recorder.{name}");
    if rows.has_table(&path) { path } else { format!("recorder.{index}") }
}

/// Whether a key is wrong that decides which nodes and journals there are.
pub(crate) fn structure_is_bad(rows: &Rows) -> bool {
    let words = ["service", "strategies", "group", "name", "count", "needs", "reads", "writes", "journal"];
    let structural = |path: &str| {
        let parts = path.split('.').next().is_some_and(|first| first == "service" || first == "strategies");
        parts && path.rsplit('.').next().is_some_and(|last| words.contains(&last))
    };
    rows.bad().any(structural)
}
