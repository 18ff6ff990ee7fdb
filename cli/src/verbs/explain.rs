//! `colo explain`: what a platform file means, and what it comes to on a host.

use observe::Fit;
use pinning::{Host, Policy, ResolvedPlan};
use serde_json::json;
use topology::{NodeSpec, Pages, Platform};

use super::fit::{self, FitAnswer};
use crate::args::Check;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table, wrapped_table};

pub(crate) fn explain(arguments: &Check) -> Result<u8, Failure> {
    let platform = super::platform(&arguments.platform)?;
    let fit = fit::fit(&platform.topology, &arguments.root)?;
    match arguments.format {
        Format::Json => output::print_json(&json!({
            "file": platform.file,
            "settings": platform.settings(),
            "topology": platform.topology,
            "memory": platform.topology.memory_bill(),
            "plan": fit.plan,
            "cpu_map": fit.plan.as_ref().map(|plan| plan.cpu_map(&fit.host)),
            "fit": FitAnswer::of(&fit),
        }))?,
        Format::Text => output::print(&text(&platform, &fit))?,
    }
    let exit = if fit.is_good() { node::Exit::Done } else { node::Exit::HostUnfit };
    Ok(exit.code())
}

fn text(platform: &Platform, fit: &Fit) -> String {
    let settings = platform.settings().into_iter().map(|setting| {
        vec![setting.key.clone(), setting.value_text(), setting.origin.to_string(), setting.doc]
    });
    let mut text = wrapped_table(&["key", "value", "said by", "meaning"], 4, settings);
    text.push('\n');
    text.push_str(&nodes(platform));
    text.push('\n');
    text.push_str(&journals(platform));
    text.push('\n');
    text.push_str(&memory(platform, &fit.host));
    text.push('\n');
    match &fit.plan {
        Some(plan) => {
            text.push_str(&placements(plan));
            text.push('\n');
            text.push_str(&cpu_map(plan, &fit.host));
        }
        None if fit.plan_problems.is_empty() => {
            text.push_str("no pin plan: the kernel decides which node runs where\n");
        }
        None => text.push_str("the pin plan does not fit this host\n"),
    }
    let lines = fit::lines(fit);
    if !lines.is_empty() {
        text.push('\n');
        text.push_str(&lines);
    }
    text
}

fn nodes(platform: &Platform) -> String {
    let rows = platform.topology.nodes.iter().map(|node| {
        let joined = |names: Vec<&str>| if names.is_empty() { "-".to_owned() } else { names.join(" ") };
        vec![
            node.name.clone(),
            node.seat.to_string(),
            node.host.as_ref().map_or_else(|| waits(node), |host| format!("in {host}")),
            joined(node.needs.iter().map(String::as_str).collect()),
            joined(node.reads.iter().map(|read| read.journal.as_str()).collect()),
            joined(node.writes.iter().map(|write| write.journal.as_str()).collect()),
        ]
    });
    wrapped_table(&["node", "seat", "wait", "starts after", "reads", "writes"], 6, rows)
}

/// How it waits, and which messages need not wake it one by one.
fn waits(node: &NodeSpec) -> String {
    let may_wait = node.reads.iter().find(|read| !read.wake_within.is_zero());
    let mode = node.mode.to_string();
    match may_wait {
        Some(read) => {
            format!("{mode}, {} within {}", read.role, humantime::format_duration(read.wake_within))
        }
        None => mode,
    }
}

fn wish(pages: Pages) -> String {
    match pages {
        Pages::Small => "4 KiB pages".to_owned(),
        Pages::Transparent => "transparent huge pages, if the kernel gives them".to_owned(),
        Pages::Huge { size, require: true } => format!("{} huge pages, required", bytes(size)),
        Pages::Huge { size, require: false } => format!("{} huge pages, preferred", bytes(size)),
    }
}

fn journals(platform: &Platform) -> String {
    let rows = platform.topology.journals.iter().map(|journal| {
        vec![
            journal.name.clone(),
            journal.writer.clone(),
            bytes(journal.capacity_bytes),
            platform.capacity_origin(&journal.name).to_string(),
            wish(journal.pages),
            number(journal.readers.len() as u64),
        ]
    });
    table(&["journal", "writer", "ring", "said by", "memory", "readers"], 5, rows)
}

/// The memory bill: what the rings reserve, by the pages that they want, against what there is.
fn memory(platform: &Platform, host: &Host) -> String {
    let topology = &platform.topology;
    let sum = |wanted: &dyn Fn(Pages) -> bool| -> (usize, u64) {
        let mine = topology.journals.iter().filter(|journal| wanted(journal.pages));
        mine.fold((0, 0), |(count, bytes), journal| (count + 1, bytes + journal.capacity_bytes))
    };
    let mut rows = Vec::new();
    let mut row = |what: String, (count, size): (usize, u64), there: String| {
        if count > 0 {
            rows.push(vec![what, count.to_string(), bytes(size), there]);
        }
    };
    let shm = host.memory.shm_free_bytes.map(|free| format!("/dev/shm has {} free", bytes(free)));
    let available =
        host.memory.available_bytes.map(|available| format!("{} of memory are available", bytes(available)));
    let there: Vec<String> = shm.into_iter().chain(available).collect();
    let there = if there.is_empty() { "unknown".to_owned() } else { there.join(", ") };
    row(wish(Pages::Small), sum(&|pages| pages == Pages::Small), there.clone());
    row(wish(Pages::Transparent), sum(&|pages| pages == Pages::Transparent), there);
    for size in [2 << 20, 1 << 30] {
        for require in [true, false] {
            let pages = Pages::Huge { size, require };
            let pool = host.huge_pages.iter().find(|pool| pool.size_kib == size / 1024);
            let there = pool.map_or("this host has no such pages".to_owned(), |pool| {
                format!("{} of {} pages are free", pool.available(), pool.total)
            });
            row(wish(pages), sum(&|other| other == pages), there);
        }
    }
    row("all rings".to_owned(), sum(&|_| true), String::new());
    table(&["memory", "journals", "reserved", "there is"], 4, rows)
}

/// Where each node runs, and why: one row a choice.
fn placements(plan: &ResolvedPlan) -> String {
    let rows = plan.placements.iter().flat_map(|placement| {
        placement.reasons.iter().enumerate().map(move |(index, reason)| {
            vec![
                if index == 0 { placement.node.clone() } else { String::new() },
                reason.key.clone(),
                reason.value.clone(),
                reason.origin.clone(),
                reason.why.clone(),
            ]
        })
    });
    table(&["node", "placed by", "value", "said by", "why"], 5, rows)
}

/// Nodes of one family of which there are many are one word: `takers-* (60)`.
fn families(names: impl Iterator<Item = String>) -> Vec<String> {
    const SHOWN: usize = 3;
    let mut families: Vec<(String, Vec<String>)> = Vec::new();
    for name in names {
        let digit = |letter: char| letter.is_ascii_digit();
        let (family, rest) = match name.rfind('-') {
            Some(at) if name[at + 1..].starts_with(digit) => {
                let (family, number) = name.split_at(at + 1);
                (format!("{family}*"), number.trim_start_matches(digit).to_owned())
            }
            _ => (name.clone(), String::new()),
        };
        let key = family + &rest;
        match families.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(name),
            None => families.push((key, vec![name])),
        }
    }
    let words = families.into_iter().map(|(family, members)| match members.len() {
        0..=SHOWN => members.join(" "),
        many => format!("{family} ({many})"),
    });
    words.collect()
}

/// The host's CPUs with who is on them.
fn cpu_map(plan: &ResolvedPlan, host: &Host) -> String {
    let policy_of = |node: &str| plan.placement(node).and_then(|placement| placement.policy);
    let named = |node: &String| match policy_of(node) {
        Some(policy) if policy != Policy::Nice(0) => format!("{node} ({policy})"),
        _ => node.clone(),
    };
    let rows = plan.cpu_map(host).into_iter().map(|row| {
        let number = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
        let mut marks = Vec::new();
        marks.extend((!row.allowed).then_some("not allowed"));
        marks.extend(row.isolated.then_some("isolated"));
        let pinned = families(row.pinned.iter().map(named));
        vec![
            row.cpu.to_string(),
            number(row.package),
            number(row.numa),
            row.core.to_string(),
            if marks.is_empty() { "-".to_owned() } else { marks.join(", ") },
            if pinned.is_empty() { "-".to_owned() } else { pinned.join(" ") },
            if row.floating == 0 { "-".to_owned() } else { row.floating.to_string() },
        ]
    });
    let head =
        ["CPU", "socket", "NUMA node", "core", "kernel", "nodes pinned here", "nodes that may come by"];
    table(&head, 7, rows)
}

#[cfg(test)]
mod tests {
    use super::families;

    #[test]
    fn many_of_a_family_are_one_word() {
        let names = ["md", "takers-1", "takers-2", "takers-3", "takers-4", "makers-1 (idle)", "a-b"];
        let text = families(names.map(str::to_owned).into_iter()).join(" ");
        assert_eq!(text, "md takers-* (4) makers-1 (idle) a-b");
    }
}
