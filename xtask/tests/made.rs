//! The committed files are those that are made now, and nothing is left out of them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use xtask::root;

#[test]
fn every_made_file_is_as_the_code_says() {
    let files = xtask::files(&root()).unwrap().len();
    let stale: Vec<String> = xtask::stale(&root())
        .unwrap()
        .iter()
        .map(|file| format!("{}:{}: stale: run cargo xtask gen", file.path, file.line))
        .collect();
    assert!(stale.is_empty(), "{}", stale.join("\n"));
    println!("{files} files are as the code says");
    assert!(files > 50);
}

#[test]
fn a_file_that_differs_is_named_and_renewed() {
    let folder = tempfile::tempdir().unwrap();
    let stale = xtask::Stale { path: "a/b.txt".to_owned(), text: Some("x\n".to_owned()), line: 1 };
    stale.renew(folder.path()).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("a/b.txt")).unwrap(), "x\n");
    xtask::Stale { text: None, ..stale }.renew(folder.path()).unwrap();
    assert!(!folder.path().join("a/b.txt").exists());
}

#[test]
fn every_function_of_the_c_interface_is_in_the_header() {
    let header = fs::read_to_string(root().join("bindings/c/include/colo_functions.h")).unwrap();
    let mut functions = 0;
    for source in fs::read_dir(root().join("bindings/c/src")).unwrap() {
        for line in fs::read_to_string(source.unwrap().path()).unwrap().lines() {
            let Some((_, rest)) = line.split_once("extern \"C\" fn colo_") else { continue };
            let name = format!("colo_{}(", rest.split(['(', '<']).next().unwrap());
            assert!(header.contains(&name), "{name} is not in the header");
            functions += 1;
        }
    }
    assert!(functions > 40, "{functions}");
}

#[test]
fn every_key_of_the_platform_file_is_on_its_page() {
    let page = fs::read_to_string(root().join("docs/reference/platform-file.md")).unwrap();
    let mut names = BTreeMap::new();
    count(&topology::schema(), &mut names);
    let missing: Vec<&String> = names.keys().filter(|name| !page.contains(name.as_str())).collect();
    println!("{} names", names.len());
    assert!(names.len() > 150 && missing.is_empty(), "{missing:?}");
}

fn count(schema: &Value, names: &mut BTreeMap<String, ()>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone(), ());
        count(inner, names);
        count(&inner["items"], names);
        count(&inner["additionalProperties"], names);
    }
}

#[test]
fn every_type_with_methods_for_authors_is_in_the_guide() {
    let exported = fs::read_to_string(root().join("strategy-sdk/src/lib.rs")).unwrap();
    let guide = fs::read_to_string(root().join("strategy-sdk/README.md")).unwrap();
    for name in
        ["Context", "Instruments", "OrderRequest", "CancelRequest", "BarRequest", "Position", "WorkingOrder"]
    {
        assert!(exported.contains(name) && guide.contains(&format!("\n### `{name}`")), "{name}");
    }
    let listed = guide.lines().filter(|line| line.starts_with("| `")).count();
    assert!(listed > 100, "{listed} methods");
}

/// A constant that is added to the layout is given to the other languages too.
#[test]
fn no_constant_of_the_layout_is_left_out() {
    let source = fs::read_to_string(root().join("journal/src/layout.rs")).unwrap();
    let groups = xtask::layout::journals();
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
        assert!(found, "{module}{name} is in journal/src/layout.rs and not in xtask/src/layout/journals.rs");
    }
    println!("{looked_at} constants of the layout");
    assert!(looked_at > 80);
}
