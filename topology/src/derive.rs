//! Values that follow from others where nobody says otherwise, and paths that start at the file's folder.

use std::path::Path;

use crate::config::{Fill, OnDeath, PlatformConfig, ReaderFrom, ReaderKind};
use crate::settings::Settings;

/// Completes `config`. `folder` holds the file; paths from the command line start at the current folder instead.
pub(crate) fn complete(config: &mut PlatformConfig, settings: &mut Settings, folder: &Path) {
    if !settings.is_written("matching.fill") {
        config.matching.fill = if config.md.source.is_replay() { Fill::Book } else { Fill::Quotes };
        settings.derive("matching.fill", config.matching.fill);
    }
    let from_file =
        |settings: &Settings, path: &str| settings.span(path).is_some_and(|span| !span.is_override());
    if from_file(settings, "md.files")
        && let Some(files) = &mut config.md.files
    {
        files.rebase(folder);
    }
    for group in &mut config.strategies {
        let path = settings.group_path(&group.name);
        let on_death = format!("{path}.on_death");
        if !settings.is_written(&on_death) {
            group.on_death = group.run.on_death();
            settings.derive(&on_death, group.on_death);
        }
        let builtin = group.program.starts_with("builtin:");
        if !builtin && from_file(settings, &format!("{path}.program")) {
            group.program = folder.join(&group.program).to_string_lossy().into_owned();
        }
    }
    for node in &mut config.node {
        let path = format!("node.{}", node.name);
        if from_file(settings, &format!("{path}.program")) {
            node.program = folder.join(&node.program).to_string_lossy().into_owned();
        }
        for (index, write) in node.writes.iter_mut().enumerate() {
            last_word(&mut write.role, &write.journal, settings, &format!("{path}.writes.{index}.role"));
        }
        let on_death: OnDeath = node.run.on_death();
        for (index, read) in node.reads.iter_mut().enumerate() {
            let path = format!("{path}.reads.{index}");
            last_word(&mut read.role, &read.journal, settings, &format!("{path}.role"));
            if !settings.is_written(&format!("{path}.from")) {
                let gated = read.kind == ReaderKind::Gated;
                read.from = if gated { ReaderFrom::Cursor } else { ReaderFrom::Head };
                settings.derive(&format!("{path}.from"), read.from);
            }
            if !settings.is_written(&format!("{path}.on_death")) {
                read.on_death = on_death;
                settings.derive(&format!("{path}.on_death"), read.on_death);
            }
        }
    }
}

/// `md.quotes` is called `quotes`.
fn last_word(role: &mut String, journal: &str, settings: &mut Settings, path: &str) {
    if !settings.is_written(path) {
        *role = journal.rsplit('.').next().unwrap_or(journal).to_owned();
        settings.derive(path, role.as_str());
    }
}
