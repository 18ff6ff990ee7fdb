//! The table of services in `ARCHITECTURE.md` is the one of the code. After a wanted change:
//! `cargo xtask gen`, and read the difference.

use std::path::Path;

use super::stream::{Manner, When};
use super::{Journals, NodeKind, Place, Publication, Service, Subscription, Waiting};
use crate::config::ReaderFrom;

const START: &str = "<!-- Rows, made by `cargo xtask gen` from topology/src/services/table.rs -->\n";
const END: &str = "<!-- End of the rows -->\n";

fn list(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

fn condition(when: When) -> String {
    match when {
        When::Always => String::new(),
        When::Fills(fill) => format!(" (fill = {fill})"),
        When::Wanted(data) => format!(" (data = {data})"),
        When::NoDepth => " (no depth)".to_owned(),
        When::Accounts => " (accounts)".to_owned(),
    }
}

fn written(publication: &Publication) -> String {
    let name = match publication.journals {
        Journals::One(name) => name.to_owned(),
        Journals::EachWriter(family) => format!("{family}.NAME"),
        Journals::EachReader(family, reader) => format!("{family}.{}", reader.as_str().to_uppercase()),
    };
    format!("`{name}`: {}{}", publication.stream, condition(publication.when))
}

fn read(subscription: &Subscription) -> String {
    let manner = match subscription.manner {
        Manner::Gated => "gated".to_owned(),
        Manner::Loose(ReaderFrom::Start) => "loose, from the start".to_owned(),
        Manner::Loose(from) => format!("loose, from the {from}"),
        Manner::GatedInLockStep => "loose; gated in lock-step".to_owned(),
        Manner::AsMarket => "as md.readers says".to_owned(),
    };
    format!("{} ({manner}){}", subscription.stream, condition(subscription.when))
}

pub(super) fn row(service: &Service) -> String {
    let (reads, writes) = match (service.place, service.waiting) {
        (Place::Added, _) => ("what its table says".to_owned(), "what its table says".to_owned()),
        (_, Waiting::Yielding) => ("what the nodes that it wakes read".to_owned(), "–".to_owned()),
        _ => (list(service.subscribes.iter().map(read)), list(service.publishes.iter().map(written))),
    };
    format!(
        "| {} | {} | {writes} | {reads} | {} | {} |\n",
        service.kind,
        list(service.needs.iter().map(NodeKind::to_string)),
        service.restart,
        super::stop_group(service.kind, false) + 1,
    )
}

#[test]
fn golden_file_of_the_services() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let rows: String = Service::all().iter().map(row).collect();
    let wanted = format!(
        "\n| kind | needs | writes | reads | started again | stops |\n|---|---|---|---|---|---|\n{rows}\n"
    );
    golden::hold_part(&file, START, END, &wanted);
    println!("{} services are those of the table", Service::all().len());
}
