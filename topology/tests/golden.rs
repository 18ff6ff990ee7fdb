//! Wrong files, and exactly what is said about each: `golden/NAME.toml` and `golden/NAME.txt`.
//!
//! Lines `#! --set KEY=VALUE` at the head of a file are its command line. After a wanted change of the texts:
//! `cargo xtask gen`, and read the difference.

use std::path::Path;

#[test]
fn every_wrong_file_gets_the_text_of_its_golden_file() {
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
        differing.extend(golden::compare(&path.with_extension("txt"), &said).err());
    }
    println!("{} wrong files", files.len());
    assert!(files.len() >= 10, "the golden files are missing");
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
