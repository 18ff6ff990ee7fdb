//! `colo check` and `colo explain`.

use std::path::Path;

use serde_json::json;
use topology::Platform;

use crate::args::Check;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};

pub(crate) fn check(arguments: &Check) -> Result<u8, Failure> {
    if let Some(file) = arguments.platform.file.as_ref().filter(|file| is_scenario(file)) {
        return super::t2o::plan::plan(&super::t2o::args::Plan {
            scenario: super::t2o::args::ScenarioArguments {
                scenario: file.clone(),
                only: Vec::new(),
                sets: arguments.platform.sets.clone(),
            },
            format: arguments.format,
        });
    }
    let platform = super::platform(&arguments.platform)?;
    let topology = &platform.topology;
    let bill = topology.memory_bill();
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "file": platform.file,
            "instance": topology.instance,
            "nodes": topology.nodes.len(),
            "journals": topology.journals.len(),
            "warnings": platform.warnings.diagnostics.len(),
            "memory": bill,
        }))?,
        Format::Text => output::print(&format!(
            "{} is good: instance {}, {} nodes, {} journals, {} of shared memory\n",
            platform.file,
            topology.instance,
            topology.nodes.len(),
            topology.journals.len(),
            bytes(total_bytes(&platform)),
        ))?,
    }
    Ok(node::Exit::Done.code())
}

/// A file that cannot be read is reported as a platform file.
fn is_scenario(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| topology::scenario::is_scenario(&text))
}

fn total_bytes(platform: &Platform) -> u64 {
    platform.topology.journals.iter().map(|journal| journal.capacity_bytes).sum()
}

pub(crate) fn explain(arguments: &Check) -> Result<u8, Failure> {
    let platform = super::platform(&arguments.platform)?;
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "file": platform.file,
            "settings": platform.settings(),
            "topology": platform.topology,
            "memory": platform.topology.memory_bill(),
        }))?,
        Format::Text => output::print(&explanation(&platform))?,
    }
    Ok(node::Exit::Done.code())
}

fn explanation(platform: &Platform) -> String {
    let settings = platform.settings().into_iter().map(|setting| {
        vec![setting.key.clone(), setting.value_text(), setting.origin.to_string(), setting.doc]
    });
    let mut text = table(&["key", "value", "said by", "meaning"], 4, settings);
    let nodes = platform.topology.nodes.iter().map(|node| {
        let joined = |names: Vec<&str>| if names.is_empty() { "-".to_owned() } else { names.join(" ") };
        vec![
            node.name.clone(),
            node.seat.to_string(),
            node.mode.to_string(),
            joined(node.needs.iter().map(String::as_str).collect()),
            joined(node.reads.iter().map(|read| read.journal.as_str()).collect()),
            joined(node.writes.iter().map(|write| write.journal.as_str()).collect()),
        ]
    });
    text.push('\n');
    text.push_str(&table(&["node", "seat", "wait", "starts after", "reads", "writes"], 6, nodes));
    let journals = platform.topology.journals.iter().map(|journal| {
        vec![
            journal.name.clone(),
            journal.writer.clone(),
            bytes(journal.capacity_bytes),
            match journal.pages {
                topology::Pages::Small => "4 KiB pages".to_owned(),
                topology::Pages::Transparent => "transparent huge pages, if the kernel gives them".to_owned(),
                topology::Pages::Huge { size, require: true } => {
                    format!("{} huge pages, required", bytes(size))
                }
                topology::Pages::Huge { size, require: false } => {
                    format!("{} huge pages, preferred", bytes(size))
                }
            },
            number(journal.readers.len() as u64),
        ]
    });
    text.push('\n');
    text.push_str(&table(&["journal", "writer", "ring", "memory", "readers"], 4, journals));
    text.push_str(&format!("\nshared memory in all: {}\n", bytes(total_bytes(platform))));
    text
}
