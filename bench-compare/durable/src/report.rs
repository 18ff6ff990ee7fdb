//! The report: JSON and Markdown.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::measure::Row;
use crate::stores::Facts;
use crate::{DurableError, Settings, system};

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Changes when the meaning of a name changes.
    pub(crate) format: u32,
    /// The host.
    pub(crate) host: Host,
    /// Bytes of a record.
    pub(crate) record_bytes: usize,
    /// Rounds.
    pub(crate) rounds: u32,
    /// Length of a turn.
    pub(crate) millis: u32,
    /// Duration of the run.
    pub(crate) minutes: f64,
    /// Who took part.
    pub(crate) stores: Vec<Facts>,
    /// The figures.
    pub(crate) rows: Vec<Row>,
}

/// Facts about the host and the run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Host {
    /// Model of the CPU.
    cpu: String,
    /// Number of CPUs.
    cpus: usize,
    /// Kernel.
    kernel: String,
    /// True on a virtual machine.
    virtual_machine: bool,
    /// Load average of the last minute when the run began.
    load: String,
    /// Version of the compiler.
    rustc: String,
    /// When the run began, UTC.
    date: String,
    /// Folder on the disk.
    folder: PathBuf,
    /// Its file system, as `stat -f` names it.
    file_system: String,
    /// The remark from the command line.
    note: Option<String>,
}

fn said(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output();
    output.map_or_else(
        |_| "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

impl Host {
    pub(crate) fn read(folder: &Path, note: Option<&str>) -> Result<Host, DurableError> {
        let host = pinning::Host::read("/".as_ref())
            .map_err(|error| DurableError::Usage(format!("the host cannot be read: {error}")))?;
        let host = host.summary();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        Ok(Host {
            cpu: host.cpu_model,
            cpus: host.allowed_cpus.len(),
            kernel: host.kernel.map(|kernel| kernel.to_string()).unwrap_or_default(),
            virtual_machine: host.virtualised.is_some(),
            load: load.split_ascii_whitespace().next().unwrap_or_default().to_owned(),
            rustc: said("rustc", &["--version"]),
            date: said("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
            folder: folder.to_owned(),
            file_system: said("stat", &["-f", "-c", "%T", &folder.to_string_lossy()]),
            note: note.map(str::to_owned),
        })
    }
}

impl Report {
    /// Writes `durable.json` and `durable.md`, prints the latter, and writes the page of the documentation if it is wanted.
    pub(crate) fn write(&self, settings: &Settings) -> Result<(), DurableError> {
        std::fs::create_dir_all(&settings.out).map_err(system("make the folder of results"))?;
        let json = serde_json::to_string_pretty(self)
            .map_err(|error| system("write the results")(std::io::Error::other(error)))?;
        let text = self.markdown();
        let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(system("write the results"));
        write(&settings.out.join("durable.json"), &json)?;
        write(&settings.out.join("durable.md"), &text)?;
        if let Some(docs) = &settings.docs {
            write(docs, &text)?;
        }
        println!("{text}");
        Ok(())
    }

    fn markdown(&self) -> String {
        let host = &self.host;
        let mut text = format!(
            "# Records on disk, side by side\n\nMade by `compare-durable` (`bench-compare/durable`): see its `--help`.\n\n\
             {}{}, {} CPUs, kernel {}, {}, {}; load {} at the start, {}. {} rounds, turns of {} ms, each store once a \
             round, the order rotates; {:.1} minutes.{}\n\n\
             Records of {} bytes. A batch is acknowledged when it is on disk; the next one follows then. *Bare* writes the \
             same bytes and nothing else. After each turn a store is opened again and must hold every record. Rates are \
             medians of the rounds; *by bare* is a store's rate by the bare loop's, *colo's by its* is colo's rate by the \
             store's (above 1, colo is faster), both the median of what each round gave.\n",
            host.cpu,
            if host.virtual_machine { " (virtual machine)" } else { "" },
            host.cpus,
            host.kernel,
            host.file_system,
            host.rustc,
            host.load,
            host.date,
            self.rounds,
            self.millis,
            self.minutes,
            host.note.as_deref().map(|note| format!(" {note}")).unwrap_or_default(),
            self.record_bytes,
        );
        for row in &self.rows {
            table(&mut text, row);
        }
        text += "\n## Setup\n\n| store | version | set up |\n|---|---|---|\n";
        for facts in &self.stores {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} | {} | {} |", facts.name, facts.version, facts.setup);
        }
        text
    }
}

fn table(text: &mut String, row: &Row) {
    let batch = if row.batch == 1 {
        "One record a batch".to_owned()
    } else {
        format!("{} records a batch", row.batch)
    };
    let _ = writeln!(
        text,
        "\n## {batch}\n\n| store | records/s | range | by bare | colo's by its | p50 µs a batch | p99 µs |\n\
         |---|---:|---:|---:|---:|---:|---:|"
    );
    for entry in &row.stores {
        let _ = match (&entry.figures, &entry.error) {
            (Some(figures), _) => writeln!(
                text,
                "| {} | {:.0} | {:.0}..{:.0} | {:.2} | {:.2} | {:.0} | {:.0} |",
                entry.store,
                figures.records_per_s,
                figures.range[0],
                figures.range[1],
                figures.by_bare,
                figures.times_colo,
                figures.p50_us,
                figures.p99_us,
            ),
            (None, error) => {
                let why = error.as_deref().unwrap_or("not measured");
                writeln!(text, "| {} | {why} | | | | | |", entry.store)
            }
        };
    }
}
