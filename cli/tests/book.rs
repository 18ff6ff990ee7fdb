//! The documentation holds together: every page is in the book's list of pages, and every link leads to a file that is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the tree")
}

/// Markdown files below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            pages(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "md") {
            found.push(entry);
        }
    }
}

/// Targets of the links `[…](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code || line.starts_with("    ") {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            found.push(rest[..end].to_owned());
        }
    }
    found
}

/// Names that the headings of a page have, as in `#the-gain-of-each-step`.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')));
    let name = |heading: &str| {
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let root = root();
    let mut all = vec![root.join("README.md"), root.join("ARCHITECTURE.md"), root.join("CONTRIBUTING.md")];
    all.push(root.join("strategy-sdk/README.md"));
    pages(&root.join("docs"), &mut all);
    let (mut looked_at, mut broken) = (0, Vec::new());
    for page in &all {
        let text = fs::read_to_string(page).expect("a page");
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            looked_at += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let to = if path.is_empty() { page.clone() } else { page.parent().expect("a folder").join(path) };
            let is_there = match (to.exists(), anchor) {
                (false, _) => false,
                (true, "") => true,
                (true, anchor) => anchors(&fs::read_to_string(&to).unwrap_or_default()).contains(anchor),
            };
            if !is_there {
                broken.push(format!("{}: {link}", page.strip_prefix(&root).unwrap_or(page).display()));
            }
        }
    }
    println!("{looked_at} links on {} pages", all.len());
    assert!(looked_at > 200, "only {looked_at} links");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let docs = root().join("docs");
    let listed: BTreeSet<PathBuf> =
        links(&fs::read_to_string(docs.join("SUMMARY.md")).expect("the list of pages"))
            .into_iter()
            .map(|link| docs.join(link))
            .collect();
    let mut all = Vec::new();
    pages(&docs, &mut all);
    let missing: Vec<&PathBuf> =
        all.iter().filter(|page| !page.ends_with("SUMMARY.md") && !listed.contains(*page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not name {missing:?}");
    assert!(listed.len() > 30);
}
