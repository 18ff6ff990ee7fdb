//! `colo journal ls` and `colo journal stat`.

use node::{InstanceDir, InstanceView};
use serde_json::json;

use crate::args::InstanceArgument;
use crate::failure::Failure;
use crate::output::{self, Format, bytes, number, table};
use crate::verbs::status::{JournalRow, journal_row};

pub(crate) fn list(instance: &InstanceArgument, format: Format) -> Result<u8, Failure> {
    let instances = match &instance.instance {
        Some(name) => {
            vec![InstanceDir::new(name).ok_or_else(|| launcher::LaunchError::BadInstance(name.clone()))?]
        }
        None => InstanceDir::all()?,
    };
    let mut found = Vec::new();
    for instance in instances {
        let view = match InstanceView::open(instance.clone()) {
            Ok(view) => view,
            // Another instance that is being made or taken down right now is none of ours.
            Err(node::ViewError::NoInstance { .. }) if found.is_empty() || !instance.registry().exists() => {
                if instance.path().exists() {
                    continue;
                }
                return Err(launcher::LaunchError::BadInstance(instance.name().to_owned()).into());
            }
            Err(error) => return Err(error.into()),
        };
        let alive = view.seats().iter().any(|seat| seat.alive);
        found.push((instance.name().to_owned(), alive, rows(&view)?));
    }
    match format {
        Format::Json => {
            let instances: Vec<_> = found
                .iter()
                .map(|(name, alive, rows)| json!({ "instance": name, "alive": alive, "journals": rows }))
                .collect();
            output::print_json(&json!({ "instances": instances }))?;
        }
        Format::Text if found.is_empty() => eprintln!("no instance is there; start one with `colo up`"),
        Format::Text => {
            let lines = found.iter().flat_map(|(name, alive, rows)| {
                rows.iter().map(move |row| {
                    vec![
                        name.clone(),
                        if *alive { "alive" } else { "dead" }.to_owned(),
                        row.journal.clone(),
                        bytes(row.capacity_bytes),
                        number(row.frames),
                        row.readers.len().to_string(),
                        row.writer.clone(),
                    ]
                })
            });
            let head = ["instance", "state", "journal", "ring", "frames", "readers", "writer"];
            output::print(&table(&head, 3, lines))?;
        }
    }
    Ok(node::Exit::Done.code())
}

fn rows(view: &InstanceView) -> Result<Vec<JournalRow>, Failure> {
    let seats = view.seats();
    let name_of = |number: u32| {
        let known = seats.iter().find(|seat| seat.seat == number);
        known.map_or_else(|| format!("seat {number}"), |seat| seat.name.clone())
    };
    let mut rows: Vec<JournalRow> =
        view.journals()?.iter().map(|(_, journal)| journal_row(journal, &name_of)).collect();
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

pub(crate) fn stat(journal: &str, instance: Option<String>, format: Format) -> Result<u8, Failure> {
    let view = super::view(instance)?;
    let rows = rows(&view)?;
    let Some(row) = rows.iter().find(|row| row.journal == journal) else {
        return Err(unknown_journal(journal, &view));
    };
    if format == Format::Json {
        output::print_json(row)?;
        return Ok(node::Exit::Done.code());
    }
    let mut text = format!(
        "journal {} (id {})\n  ring     {}, {}\n  head     {}, {} frames\n  writer   {}, number {}\n  \
         found full {} times, sent {} wake-ups\n\n",
        row.journal,
        row.id,
        bytes(row.capacity_bytes),
        row.backing,
        row.head,
        number(row.frames),
        row.writer,
        row.epoch,
        number(row.full),
        number(row.wakes),
    );
    let readers = row.readers.iter().map(|reader| {
        vec![
            reader.node.clone(),
            reader.kind.to_owned(),
            reader.position.to_string(),
            bytes(reader.lag_bytes),
            bytes(reader.lost_bytes),
            reader.gaps.to_string(),
        ]
    });
    text.push_str(&table(&["reader", "kind", "position", "lag", "lost", "gaps"], 2, readers));
    output::print(&text)?;
    Ok(node::Exit::Done.code())
}

/// "There is no such journal", with those that there are.
pub(super) fn unknown_journal(journal: &str, view: &InstanceView) -> Failure {
    let names = view.instance().journal_names().unwrap_or_default();
    Failure::new(
        node::Exit::Usage,
        format!(
            "instance `{}` has no journal `{journal}`; it has: {}",
            view.instance().name(),
            names.join(", ")
        ),
    )
}
