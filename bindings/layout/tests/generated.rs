//! The committed files are those that are made now. After a wanted change of a layout or message:
//! `UPDATE_GOLDEN=1 cargo test -p bindings-layout`, and read the difference.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_constants_of_every_language_are_those_of_the_code() {
    let files = bindings_layout::files();
    for (path, wanted) in &files {
        let file = root().join(path);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, wanted).unwrap();
            continue;
        }
        let found = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
        for (line, (found, wanted)) in found.lines().zip(wanted.lines()).enumerate() {
            assert_eq!(found, wanted, "{path}:{}: UPDATE_GOLDEN=1 cargo test -p bindings-layout", line + 1);
        }
        assert_eq!(&found, wanted, "{path}: UPDATE_GOLDEN=1 cargo test -p bindings-layout");
    }
    println!("{} files are as the code says", files.len());
    assert!(!files.is_empty());
}

/// A constant that is added to the layout is given to the other languages too.
#[test]
fn no_constant_of_the_layout_is_left_out() {
    let source = fs::read_to_string(root().join("journal/src/layout.rs")).unwrap();
    let groups = bindings_layout::journals();
    let made: BTreeSet<&str> =
        groups.iter().flat_map(|group| &group.constants).map(|constant| constant.name.as_str()).collect();
    let mut module = String::new();
    let mut looked_at = 0;
    for line in source.lines() {
        if let Some(rest) = line.strip_prefix("pub mod ") {
            module = rest.trim_end_matches(" {").to_uppercase() + "_";
        } else if line == "}" {
            module.clear();
        }
        let Some(rest) = line.trim_start().strip_prefix("pub const ") else { continue };
        let Some((name, _)) = rest.split_once(':') else { continue };
        if name.contains('(') || name.starts_with("fn ") {
            continue;
        }
        looked_at += 1;
        let is_made = |name: &str| made.contains(name);
        let word = format!("{name}_WORD");
        let found = match (module.as_str(), name) {
            // Counted in words here, and in bytes by the name beside it.
            ("FRAME_", "SHAPE" | "ORIGIN" | "HEADER_WORDS" | "HEADER_BYTES") | ("", "LINE_WORDS") => true,
            ("CONTROL_", cursor) if cursor.starts_with("CURSOR_") => is_made(cursor),
            ("", name) => is_made(name) || is_made(&word),
            (module, name) => is_made(&format!("{module}{name}")),
        };
        assert!(
            found,
            "{module}{name} is in journal/src/layout.rs and not in bindings/layout/src/journals.rs"
        );
    }
    println!("{looked_at} constants of the layout");
    assert!(looked_at > 80);
}
