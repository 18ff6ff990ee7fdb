//! What a run is made from, as one hash: settings, data, programs. A finished run counts as long as that is the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outcome::{FileMark, files_below};
use serde_json::Value;
use topology::Platform;
use xxhash_rust::xxh3::Xxh3;

use crate::plan::{Cell, Sweep};

/// Settings that say where a run is and not what it does, and those that are hashed by what lies there.
const LEFT_OUT: [&str; 7] = [
    "platform.instance",
    "platform.runs",
    "platform.runs_keep_for",
    "platform.runs_keep_bytes",
    "md.files",
    "md.instruments_file",
    "desk.file",
];

/// The plug-in that runs in place of a program, if there is one.
pub type PluginOf = fn(&Path) -> Option<PathBuf>;

/// Files that were read, each once.
#[derive(Debug)]
pub struct Inputs {
    text: String,
    program: FileMark,
    plugin_of: PluginOf,
    marks: BTreeMap<PathBuf, FileMark>,
    folders: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Inputs {
    /// For runs of this program, `colo` itself.
    pub fn new(sweep: &Sweep, program: &Path, plugin_of: PluginOf) -> Inputs {
        Inputs {
            text: std::fs::read_to_string(&sweep.platform).unwrap_or_default(),
            program: FileMark::of(program),
            plugin_of,
            marks: BTreeMap::new(),
            folders: BTreeMap::new(),
        }
    }

    /// Hexadecimal; `None` where the platform is none any more.
    pub fn of(&mut self, sweep: &Sweep, cell: &Cell) -> Option<String> {
        let file = sweep.platform.to_string_lossy();
        let platform = topology::parse(&file, &self.text, &sweep.sets_of(cell)).ok()?;
        let mut hash = Xxh3::new();
        let mut add = |text: &str| {
            hash.update(text.as_bytes());
            hash.update(&[0]);
        };
        add(self.program.xxh3.as_deref().unwrap_or_default());
        for setting in platform.settings() {
            if LEFT_OUT.contains(&setting.key.as_str()) || is_path(&setting.key) {
                continue;
            }
            add(&setting.key);
            add(&setting.value.to_string());
        }
        let named =
            platform.settings().into_iter().flat_map(|setting| named_in(&setting.key, &setting.value));
        for (what, path) in files_of(&platform, self.plugin_of).into_iter().chain(named) {
            add(&what);
            for file in self.below(&path) {
                add(&file.file_name().unwrap_or_default().to_string_lossy());
                add(self.mark(&file).xxh3.as_deref().unwrap_or("unreadable"));
            }
        }
        Some(format!("{:032x}", hash.digest128()))
    }

    /// All that were read: the platform file first, then by path.
    pub fn files(&self, sweep: &Sweep) -> Vec<FileMark> {
        let own = [FileMark::of(&sweep.platform), self.program.clone()];
        own.into_iter().chain(self.marks.values().cloned()).collect()
    }

    fn below(&mut self, path: &Path) -> Vec<PathBuf> {
        let found = self.folders.entry(path.to_owned());
        found.or_insert_with(|| files_below(&[path.to_owned()])).clone()
    }

    fn mark(&mut self, path: &Path) -> &FileMark {
        self.marks.entry(path.to_owned()).or_insert_with(|| FileMark::of(path))
    }
}

/// Of a group or a service: hashed by what lies there.
fn is_path(key: &str) -> bool {
    key.ends_with(".program") || key.ends_with(".history")
}

/// Files that a program's parameters name: what is in one decides as the text of a parameter does.
fn named_in(key: &str, value: &Value) -> Vec<(String, PathBuf)> {
    if !key.split('.').any(|part| part == "params") {
        return Vec::new();
    }
    match value {
        Value::String(text) => {
            let path = PathBuf::from(text);
            if path.is_file() { vec![(key.to_owned(), path)] } else { Vec::new() }
        }
        Value::Array(all) => all.iter().flat_map(|value| named_in(key, value)).collect(),
        Value::Object(all) => all.values().flat_map(|value| named_in(key, value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// What a platform reads, and as what.
fn files_of(platform: &Platform, plugin_of: PluginOf) -> Vec<(String, PathBuf)> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let config = &platform.config;
    if config.md.source.is_replay() {
        let paths = config.md.files.iter().flat_map(|files| files.paths());
        files.extend(paths.map(|path| ("md.files".to_owned(), path.to_owned())));
    }
    files.extend(config.desk.file.iter().map(|file| ("desk.file".to_owned(), PathBuf::from(file))));
    for (what, latency) in [
        ("order latency", &config.matching.order_latency),
        ("report latency", &config.matching.report_latency),
    ] {
        // A run's folder stands for its times.
        let samples =
            latency.samples().map(|path| if path.is_dir() { path.join("t2o.csv") } else { path.to_owned() });
        files.extend(samples.map(|path| (what.to_owned(), path)));
    }
    for group in &config.strategies {
        let program = PathBuf::from(&group.program);
        let what = format!("program of {}", group.name);
        // A built-in one is in colo's own hash; its name is in the text here.
        let plugin = plugin_of(&program).filter(|plugin| *plugin != program);
        files.push((format!("{what}: {}", built_in(&group.program)), program));
        files.extend(group.history.iter().map(|path| (format!("history of {}", group.name), path.clone())));
        files.extend(plugin.map(|plugin| (format!("{what}, its plug-in"), plugin)));
    }
    for service in &config.service {
        files.push((format!("program of {}", service.name), PathBuf::from(&service.program)));
    }
    let rules = config.md.instruments_file.as_ref();
    files.extend(rules.map(|file| ("md.instruments_file".to_owned(), PathBuf::from(file))));
    files
}

fn built_in(program: &str) -> &str {
    if program.starts_with("builtin:") { program } else { "" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_that_parameters_name_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, name).unwrap();
            path.display().to_string()
        };
        let (one, two, three) = (file("weights.csv"), file("model.bin"), file("other"));
        let value = json!({"weights": one, "models": [{"file": two}], "name": "no file", "folder": folder.path(), "size": 3});
        let found = |key: &str| -> Vec<String> {
            let mut found: Vec<String> =
                named_in(key, &value).into_iter().map(|(_, path)| path.display().to_string()).collect();
            found.sort();
            found
        };
        assert_eq!(found("strategies.makers.params"), [two.clone(), one.clone()]);
        assert_eq!(named_in("matching.params.table", &json!(three)).len(), 1);
        assert!(found("strategies.makers.labels").is_empty());
    }
}
