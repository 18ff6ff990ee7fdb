//! What a run is made from, as one hash: settings, data, programs. A finished run counts as long as that is the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use outcome::{FileMark, files_below};
use serde_json::Value as Json;
use topology::Platform;
use xxhash_rust::xxh3::Xxh3;

use crate::plan::{Cell, Sweep};

/// Settings that say where a run is and not what it does, and those that are hashed by what lies there.
const LEFT_OUT: [&str; 6] = [
    "platform.instance",
    "platform.runs",
    "platform.runs_keep_for",
    "platform.runs_keep_bytes",
    "md.files",
    "desk.file",
];

/// Files that were read, each once.
#[derive(Debug)]
pub struct Inputs {
    text: String,
    program: FileMark,
    marks: BTreeMap<PathBuf, FileMark>,
    folders: BTreeMap<PathBuf, Vec<PathBuf>>,
}

impl Inputs {
    /// For runs of this program, `colo` itself.
    pub fn new(sweep: &Sweep, program: &Path) -> Inputs {
        Inputs {
            text: std::fs::read_to_string(&sweep.platform).unwrap_or_default(),
            program: FileMark::of(program),
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
            if LEFT_OUT.contains(&setting.key.as_str()) || is_program(&setting.key) {
                continue;
            }
            add(&setting.key);
            add(&setting.value.to_string());
        }
        for (what, path) in files_of(&platform) {
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

fn is_program(key: &str) -> bool {
    key.ends_with(".program")
}

/// What a platform reads, and as what.
fn files_of(platform: &Platform) -> Vec<(String, PathBuf)> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let config = &platform.config;
    if config.md.source.is_replay() {
        let paths = config.md.files.iter().flat_map(|files| files.paths());
        files.extend(paths.map(|path| ("md.files".to_owned(), path.to_owned())));
    }
    files.extend(config.desk.file.iter().map(|file| ("desk.file".to_owned(), PathBuf::from(file))));
    for group in &config.strategies {
        let program = PathBuf::from(&group.program);
        let what = format!("program of {}", group.name);
        // A built-in one is in colo's own hash; its name is in the text here.
        files.push((format!("{what}: {}", built_in(&group.program)), program));
    }
    for service in &config.service {
        files.push((format!("program of {}", service.name), PathBuf::from(&service.program)));
    }
    // Keys of later versions that name a file.
    let folder = Path::new(&platform.file).parent().unwrap_or(Path::new(""));
    for setting in platform.settings() {
        let is_file = setting.key.ends_with("_file");
        if let (true, Json::String(path)) = (is_file, &setting.value) {
            files.push((setting.key.clone(), folder.join(path)));
        }
    }
    files
}

fn built_in(program: &str) -> &str {
    if program.starts_with("builtin:") { program } else { "" }
}
