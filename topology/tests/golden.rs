//! Wrong files, and exactly what is said about each: `golden/NAME.toml` and `golden/NAME.txt`.
//!
//! Lines `#! --set KEY=VALUE` at the head of a file are its command line. After a wanted change of the texts:
//! `UPDATE_GOLDEN=1 cargo test -p topology --test golden`, and read the difference.

use std::path::Path;

#[test]
fn every_wrong_file_gets_its_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut differing = Vec::new();
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap();
        let head = text.lines().map_while(|line| line.strip_prefix("#! --set "));
        let sets: Vec<String> = head.map(str::to_owned).collect();
        let name = path.file_name().unwrap().to_str().unwrap();
        let said = match topology::parse(name, &text, &sets) {
            Err(diagnostics) => diagnostics.to_string(),
            Ok(platform) => platform.warnings.to_string(),
        };
        let said = said + "\n";
        let golden = path.with_extension("txt");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &said).unwrap();
        }
        let wanted = std::fs::read_to_string(&golden).unwrap_or_default();
        if said != wanted {
            differing.push(format!("=== {name}: wanted\n{wanted}\n=== {name}: said\n{said}"));
        }
    }
    println!("{} wrong files", files.len());
    assert!(files.len() >= 10, "the golden files are missing");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
