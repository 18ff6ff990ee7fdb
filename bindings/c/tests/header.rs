//! The committed header is the one that cbindgen makes now. After a wanted change of the interface:
//! `UPDATE_GOLDEN=1 cargo test -p colo-c --test header`, and read the difference.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_that_of_the_code() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    let mut sources: Vec<_> =
        fs::read_dir(here.join("src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.sort();
    for source in sources.iter().filter(|path| !path.ends_with("lib.rs")) {
        builder = builder.with_src(source);
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = here.join("include/colo_functions.h");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    for (line, (found, made)) in found.lines().zip(made.lines()).enumerate() {
        assert_eq!(found, made, "line {}: UPDATE_GOLDEN=1 cargo test -p colo-c --test header", line + 1);
    }
    assert_eq!(found.len(), made.len(), "UPDATE_GOLDEN=1 cargo test -p colo-c --test header");
    println!("{} lines of the header are as the code says", made.lines().count());
    // Every function that the library gives out is in it.
    let mut functions = 0;
    for source in &sources {
        for line in fs::read_to_string(source).unwrap().lines() {
            let Some((_, rest)) = line.split_once("extern \"C\" fn colo_") else { continue };
            let name = format!("colo_{}(", rest.split(['(', '<']).next().unwrap());
            assert!(made.contains(&name), "{name} is not in the header");
            functions += 1;
        }
    }
    assert!(functions > 40, "{functions}");
}
