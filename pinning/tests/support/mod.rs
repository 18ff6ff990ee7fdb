//! Hosts as text: one `tree.txt` describes the files of `/sys` and `/proc` that are read, and is unpacked into a
//! folder.
//!
//! ```text
//! # a comment
//! sys/devices/system/cpu/online = 0-79                     a file of one line
//! sys/…/cpu[0-39]/topology/core_cpus_list = {n},{n+40}     one file per number of the list; {n} is the number
//! proc/meminfo:                                            a file of several lines, each indented by two spaces
//!   MemTotal: 24683668 kB
//! sys/class/net/                                           an empty folder
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use pinning::CpuSet;

/// Unpacks `tree.txt` below `root`.
pub(crate) fn unpack(tree: &str, root: &Path) {
    let mut lines = tree.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((path, value)) = line.split_once(" =") {
            write_all(root, path, &format!("{}\n", value.trim_start()));
        } else if let Some(path) = line.strip_suffix(':') {
            let mut content = String::new();
            while let Some(next) = lines.next_if(|next| next.starts_with("  ")) {
                content.push_str(&next[2..]);
                content.push('\n');
            }
            write_all(root, path, &content);
        } else {
            let folder = line.strip_suffix('/').unwrap_or_else(|| panic!("`{line}` is no line of a tree"));
            fs::create_dir_all(root.join(folder)).unwrap();
        }
    }
}

fn write_all(root: &Path, path: &str, content: &str) {
    let Some((before, rest)) = path.split_once('[') else {
        return write(&root.join(path), content);
    };
    let (numbers, after) = rest.split_once(']').unwrap_or_else(|| panic!("`{path}` lacks a ]"));
    for number in numbers.parse::<CpuSet>().unwrap().iter() {
        let path = format!("{before}{number}{after}").replace("{n}", &number.to_string());
        write(&root.join(path), &with_number(content, number));
    }
}

/// `{n}`, `{n+40}`, `{n-40}`
fn with_number(content: &str, number: usize) -> String {
    let mut text = String::new();
    let mut rest = content;
    while let Some((before, after)) = rest.split_once("{n") {
        let (offset, behind) = after.split_once('}').unwrap_or_else(|| panic!("`{content}` lacks a }}"));
        let offset: isize = if offset.is_empty() { 0 } else { offset.parse().unwrap() };
        text.push_str(before);
        text.push_str(&number.checked_add_signed(offset).unwrap().to_string());
        rest = behind;
    }
    text + rest
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A host of `tests/topologies`, unpacked; a folder that contains `sys` or `proc` is copied as it is.
#[allow(dead_code)] // Each test binary uses its own part of this module.
pub(crate) struct Recorded {
    /// Name of its folder.
    pub(crate) name: String,
    /// The folder of its `tree.txt`.
    pub(crate) folder: PathBuf,
    /// Its root; lives as long as this.
    pub(crate) root: tempfile::TempDir,
}

impl Recorded {
    pub(crate) fn open(name: &str) -> Recorded {
        let folder = folder().join(name);
        let root = tempfile::tempdir().unwrap();
        match fs::read_to_string(folder.join("tree.txt")) {
            Ok(text) => unpack(&text, root.path()),
            Err(_) => copy(&folder, root.path()),
        }
        Recorded { name: name.to_owned(), folder, root }
    }

    #[allow(dead_code)] // Each test binary uses its own part of this module.
    pub(crate) fn all() -> Vec<Recorded> {
        let mut names: Vec<String> = fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names.iter().map(|name| Recorded::open(name)).collect()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topologies")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
