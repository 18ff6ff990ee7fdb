//! Values that follow from others where nobody says otherwise, and paths that start at the file's folder.

use std::path::Path;

use settings::Rows;

use crate::config::{
    Fill, MarketSource, OnDeath, PlatformConfig, Queue, ReaderFrom, ReaderKind, RestartPolicy, Stop,
};
use crate::paths;

/// Completes `config`. `folder` holds the file; paths from the command line start at the current folder instead.
pub(crate) fn complete(config: &mut PlatformConfig, rows: &mut Rows, folder: &Path) {
    if !rows.is_written("matching.fill") {
        config.matching.fill = match config.md.source {
            MarketSource::Sim | MarketSource::Recording => Fill::Quotes,
            MarketSource::Exchange => Fill::Exchange,
            _ => Fill::Book,
        };
        rows.derive("matching.fill", config.matching.fill);
    }
    // It publishes what matching says, and reads on where its predecessor stopped.
    if config.md.source == MarketSource::Exchange && !rows.is_written("md.restart") {
        config.md.run.restart = RestartPolicy::OnFailure;
        rows.derive("md.restart", config.md.run.restart);
    }
    if !rows.is_written("matching.queue") {
        config.matching.queue = match config.matching.fill {
            Fill::Book => Queue::Position,
            Fill::Quotes | Fill::Exchange | Fill::External => Queue::Through,
        };
        rows.derive("matching.queue", config.matching.queue);
    }
    // Requests and reports that are under way are lost with the process: nobody could go on.
    if config.matching.has_latency() && !rows.is_written("matching.restart") {
        config.matching.run.restart = RestartPolicy::Never;
        rows.derive("matching.restart", config.matching.run.restart);
    }
    let from_file = |rows: &Rows, path: &str| rows.span(path).is_some_and(|span| !span.is_override());
    for (key, latency) in [
        ("matching.order_latency", &mut config.matching.order_latency),
        ("matching.report_latency", &mut config.matching.report_latency),
    ] {
        if from_file(rows, key) {
            latency.rebase(folder);
        }
    }
    if from_file(rows, "md.files")
        && let Some(files) = &mut config.md.files
    {
        files.rebase(folder);
    }
    if let Some(file) = &mut config.md.instruments_file
        && !file.starts_with("ready:")
        && from_file(rows, "md.instruments_file")
    {
        *file = beside(folder, file);
    }
    if !config.matching.program.is_empty() && from_file(rows, "matching.program") {
        config.matching.program = beside(folder, &config.matching.program);
    }
    for group in &mut config.strategies {
        let path = paths::group(rows, &group.name);
        let on_death = format!("{path}.on_death");
        if !rows.is_written(&on_death) {
            group.on_death = group.run.on_death();
            rows.derive(&on_death, group.on_death);
        }
        let builtin = group.program.starts_with("builtin:");
        if !builtin && from_file(rows, &format!("{path}.program")) {
            group.program = beside(folder, &group.program);
        }
        if from_file(rows, &format!("{path}.history"))
            && let Some(history) = &mut group.history
        {
            *history = folder.join(&*history);
        }
    }
    if let Some(gateway) = &mut config.gateway {
        let rebase = |path: &mut String, key: &str| {
            if from_file(rows, &format!("gateway.{key}")) || matches!(key, "tokens" | "fix.sessions") {
                *path = beside(folder, path);
            }
        };
        rebase(&mut gateway.tokens, "tokens");
        gateway.unix.iter_mut().for_each(|path| rebase(path, "unix"));
        if let Some(tls) = &mut gateway.tls {
            rebase(&mut tls.cert, "tls.cert");
            rebase(&mut tls.key, "tls.key");
            tls.client_ca.iter_mut().for_each(|path| rebase(path, "tls.client_ca"));
        }
        if let Some(fix) = &mut gateway.fix {
            rebase(&mut fix.sessions, "fix.sessions");
        }
    }
    if let Some(runs) = &mut config.platform.runs
        && !runs.is_empty()
        && from_file(rows, "platform.runs")
    {
        *runs = beside(folder, runs);
    }
    if let Some(file) = &mut config.desk.file
        && from_file(rows, "desk.file")
    {
        *file = beside(folder, file);
    }
    if !rows.is_written("desk.enabled") {
        config.desk.enabled = config.keeps_accounts();
        rows.derive("desk.enabled", config.desk.enabled);
    }
    for (index, recorder) in config.recorder.iter_mut().enumerate() {
        let path = paths::recorder(rows, index, &recorder.name);
        if from_file(rows, &format!("{path}.path")) {
            recorder.path = beside(folder, &recorder.path);
        }
    }
    for service in &mut config.service {
        let path = format!("service.{}", service.name);
        if from_file(rows, &format!("{path}.program")) {
            service.program = beside(folder, &service.program);
        }
        if !rows.is_written(&format!("{path}.stop")) {
            service.stop = if service.writes.is_empty() { Stop::Last } else { Stop::First };
            rows.derive(&format!("{path}.stop"), service.stop);
        }
        for (index, write) in service.writes.iter_mut().enumerate() {
            last_word(&mut write.role, &write.journal, rows, &format!("{path}.writes.{index}.role"));
        }
        let on_death: OnDeath = service.run.on_death();
        for (index, read) in service.reads.iter_mut().enumerate() {
            let path = format!("{path}.reads.{index}");
            if !rows.is_written(&format!("{path}.from")) {
                let gated = read.kind == ReaderKind::Gated;
                read.from = if gated { ReaderFrom::Cursor } else { ReaderFrom::Head };
                rows.derive(&format!("{path}.from"), read.from);
            }
            if !rows.is_written(&format!("{path}.on_death")) {
                read.on_death = on_death;
                rows.derive(&format!("{path}.on_death"), read.on_death);
            }
        }
    }
}

/// `md.quotes` is called `quotes`.
fn last_word(role: &mut String, journal: &str, rows: &mut Rows, path: &str) {
    if !rows.is_written(path) {
        *role = journal.rsplit('.').next().unwrap_or(journal).to_owned();
        rows.derive(path, role.as_str());
    }
}

/// The path of a program, relative to the file. One without a slash would be looked for in `PATH`.
fn beside(folder: &Path, program: &str) -> String {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.join(program).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_beside_the_file_is_never_searched_for_in_path() {
        assert_eq!(beside(Path::new(""), "mute.py"), "./mute.py");
        assert_eq!(beside(Path::new("desk"), "mute.py"), "desk/mute.py");
        assert_eq!(beside(Path::new(""), "/opt/mute"), "/opt/mute");
    }
}
