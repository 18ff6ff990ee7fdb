//! The list of methods in the guide for authors of strategies, from the code with its documentation.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::Part;

/// The list within the guide.
pub(super) fn part(root: &Path) -> Part {
    Part {
        page: "strategy-sdk/README.md",
        begin: "<!-- made by `cargo xtask gen`: do not edit -->\n",
        end: Some("<!-- end of what is made -->\n"),
        text: generated(root),
    }
}

/// What is listed: a heading, a file, and the line that its block of methods begins with.
const LISTED: &[(&str, &str, &str)] = &[
    ("`Strategy`: what is called", "src/strategy.rs", "pub trait Strategy"),
    ("`Context`: what it calls", "src/context.rs", "impl Context {"),
    ("`Instruments`", "src/instruments.rs", "impl Instruments {"),
    ("`Instrument`: by its tick and lot", "../wire/src/ticks.rs", "impl Instrument {"),
    ("`Price`", "../wire/src/ticks.rs", "impl Price {"),
    ("`Price`, further", "../wire/src/units.rs", "impl Price {"),
    ("`Quantity`", "../wire/src/ticks.rs", "impl Quantity {"),
    ("`OrderRequest`", "src/request.rs", "impl OrderRequest {"),
    ("`CancelRequest`", "src/request.rs", "impl CancelRequest {"),
    ("`BarRequest`", "src/bars.rs", "impl BarRequest {"),
    ("`Position`", "src/position.rs", "impl Position {"),
    ("`WorkingOrder`", "src/orders.rs", "impl WorkingOrder {"),
    ("`testing::Harness`: in tests", "src/testing.rs", "impl<S: Strategy> Harness<S> {"),
    ("`strategy_testing::Day`: in tests", "testing/src/day.rs", "impl Day {"),
    ("`strategy_testing::Replay`: in tests", "testing/src/run.rs", "impl<S: Strategy> Replay<S> {"),
    ("`strategy_testing::Run`: in tests", "testing/src/run.rs", "impl<S: Strategy> Run<S> {"),
];

/// The lines of a block, from behind the line that begins it to the brace that ends it.
fn block<'a>(text: &'a str, begins: &str) -> Option<Vec<&'a str>> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(begins));
    lines.next()?;
    Some(lines.take_while(|line| *line != "}").collect())
}

/// Each public method with the first sentence of its documentation.
fn methods(lines: &[&str], is_trait: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut docs: Vec<&str> = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let begin = if is_trait { "    fn " } else { "    pub fn " };
        if let Some(doc) = line.strip_prefix("    ///") {
            docs.push(doc.trim());
        } else if let Some(signature) = line.strip_prefix(begin) {
            let mut signature = signature.to_owned();
            while !signature.contains('{') && !signature.ends_with(';') {
                signature = format!("{} {}", signature.trim_end(), lines.next().unwrap().trim());
            }
            found.push((short(&signature), sentence(&docs)));
            docs.clear();
        } else if !line.trim_start().starts_with("#[") {
            docs.clear();
        }
    }
    found
}

/// The signature as one reads it: without the body, the receiver and the context.
fn short(signature: &str) -> String {
    let end = signature.find([';', '{']).unwrap_or(signature.len());
    let mut text = signature[..end].trim().replace("( ", "(").replace(", )", ")");
    for noise in [
        "&mut self, ",
        "&mut self",
        "&self, ",
        "&self",
        "mut self, ",
        "self, ",
        "self",
        "_context: &mut Context, ",
    ] {
        text = text.replacen(&format!("({noise}"), "(", 1);
    }
    text.replace("(_context: &mut Context)", "(context)")
        .replace("(context: &mut Context, ", "(")
        .replace("(_", "(")
        .replace(", _", ", ")
        .replace('|', "\\|")
}

fn sentence(docs: &[&str]) -> String {
    let first: Vec<&str> = docs.iter().take_while(|line| !line.is_empty()).copied().collect();
    let text = first.join(" ").replace('|', "\\|");
    let end = text.find(". ").map_or(text.len(), |at| at + 1);
    // Links of rustdoc lead nowhere here.
    let mut plain = String::new();
    let mut rest = &text[..end];
    while let Some((before, behind)) = rest.split_once("](") {
        plain += before;
        plain.push(']');
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain += rest;
    plain.replace("[`", "`").replace("`]", "`")
}

fn generated(root: &Path) -> String {
    let mut text = String::new();
    for (heading, file, begins) in LISTED {
        let source = fs::read_to_string(root.join("strategy-sdk").join(file)).unwrap();
        let lines = block(&source, begins).unwrap_or_else(|| panic!("{file} has no `{begins}`"));
        let methods = methods(&lines, begins.starts_with("pub trait"));
        assert!(!methods.is_empty(), "{file}: `{begins}` has no methods");
        write!(text, "\n### {heading}\n\n| | |\n|---|---|\n").unwrap();
        for (method, sentence) in methods {
            assert!(!sentence.is_empty(), "{file}: `{method}` says nothing");
            writeln!(text, "| `{method}` | {sentence} |").unwrap();
        }
    }
    text
}
