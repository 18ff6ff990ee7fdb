//! The plug-ins of a platform's own programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use plugin::Plugin;
use topology::{NodeKind, Program, Topology};

/// What was found beside the programs of a platform.
#[derive(Debug, Default)]
pub struct Plugins(BTreeMap<PathBuf, Result<Plugin, String>>);

impl Plugins {
    /// Looks for the plug-in of each program, and loads it. Without lock-step, or where something else needs a process, nothing
    /// is loaded.
    pub fn find(topology: &Topology) -> Plugins {
        let has_process = |kind| {
            matches!(kind, NodeKind::Gateway | NodeKind::Service | NodeKind::Observer | NodeKind::Relay)
        };
        if !topology.deterministic || topology.nodes.iter().any(|node| has_process(node.kind)) {
            return Plugins::default();
        }
        let mut found = BTreeMap::new();
        for node in &topology.nodes {
            if let Program::Path(program) = &node.program
                && !found.contains_key(program)
            {
                let plugin = match plugin_of(program) {
                    Some(path) => Plugin::load(&path).map_err(|error| error.to_string()),
                    None => Err(missing(program)),
                };
                found.insert(program.clone(), plugin);
            }
        }
        Plugins(found)
    }

    /// The plug-in of a program.
    pub fn of(&self, program: &Path) -> Option<&Plugin> {
        self.0.get(program)?.as_ref().ok()
    }

    /// All of them, by program.
    pub fn all(&self) -> impl Iterator<Item = (&Path, &Plugin)> {
        self.0.iter().filter_map(|(program, plugin)| Some((program.as_path(), plugin.as_ref().ok()?)))
    }

    pub(crate) fn why_not(&self, program: &Path) -> Option<String> {
        match self.0.get(program) {
            Some(Ok(_)) => None,
            Some(Err(why)) => Some(why.clone()),
            None => Some(missing(program)),
        }
    }
}

/// Whether a program is itself a plug-in.
pub fn is_plugin(program: &Path) -> bool {
    program.extension().is_some_and(|extension| extension == "so")
}

/// The plug-in of a program: itself, or the library of the same name beside it, with Cargo's underscores.
pub fn plugin_of(program: &Path) -> Option<PathBuf> {
    if is_plugin(program) {
        return Some(program.to_owned());
    }
    let name = program.file_name()?.to_str()?;
    let names = [format!("lib{}.so", name.replace('-', "_")), format!("lib{name}.so")];
    names.iter().map(|name| program.with_file_name(name)).find(|path| path.is_file())
}

fn missing(program: &Path) -> String {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or("NAME");
    if name.ends_with(".py") {
        return "a program in Python is a process".to_owned();
    }
    format!(
        "no plug-in lib{}.so lies beside it: `strategy_sdk::export!` and crate-type = [\"cdylib\", \"rlib\"] make one of a strategy in Rust (docs/backtests.md)",
        name.replace('-', "_")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plug_in_lies_beside_its_program_or_is_named_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert_eq!(plugin_of(&path("my-taker")), None);
        std::fs::write(path("libmy_taker.so"), "").unwrap();
        assert_eq!(plugin_of(&path("my-taker")), Some(path("libmy_taker.so")));
        assert_eq!(plugin_of(&path("other.so")), Some(path("other.so")));
        assert_eq!(plugin_of(&path("taker")), None);
    }

    #[test]
    fn a_file_that_is_no_plug_in_is_named_with_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libtaker.so");
        std::fs::write(&path, "no library").unwrap();
        let said = Plugin::load(&path).unwrap_err().to_string();
        assert!(said.contains("libtaker.so cannot be loaded"), "{said}");
    }
}
