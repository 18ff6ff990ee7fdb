//! The one check that touches the disk: programs and recorded days are where the configuration says.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use settings::{Diagnostics, Report, nearest};

use crate::Platform;
use crate::config::{BUILTIN_STRATEGIES, Fill};
use crate::desk;
use crate::paths;
use crate::spec::is_python;

/// The file that holds the times: of a run's folder its t2o.csv.
pub fn samples_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("t2o.csv") } else { path.to_owned() }
}

/// The folder of the run that these times are of, where its run.json says that it was in lock-step.
fn lock_step_run(samples: PathBuf) -> Option<PathBuf> {
    let folder = samples.parent()?;
    let text = std::fs::read(folder.join("run.json")).ok()?;
    let run: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let mode = run["mode"].as_str().unwrap_or_default();
    (run["format"] == "colo-run" && ["one-process", "lock-step"].contains(&mode)).then(|| folder.to_owned())
}

impl Platform {
    /// Whether every program exists and may be executed, and every file of the recorded day exists.
    ///
    /// # Errors
    /// All that is missing, with its place in the configuration.
    pub fn check_files(&self) -> Result<(), Diagnostics> {
        let mut report = Report::new(self.rows.sources().clone());
        for group in self.config.strategies.iter().filter(|group| group.count > 0) {
            if !group.program.starts_with("builtin:") {
                let path = format!("{}.program", paths::group(&self.rows, &group.name));
                self.program(&path, &group.program, &group.build, &mut report);
            }
            if let Some(history) = &group.history
                && let Err(error) = history.metadata()
            {
                let place = self.rows.place(&format!("{}.history", paths::group(&self.rows, &group.name)));
                report
                    .error(place, format!("cannot read {}: {error}", history.display()))
                    .help("history names the folder of a recording, as `[recorder]` makes it");
            }
        }
        for service in &self.config.service {
            self.program(&format!("service.{}.program", service.name), &service.program, "", &mut report);
        }
        if self.config.matching.fill == Fill::External && !self.config.matching.program.is_empty() {
            self.program("matching.program", &self.config.matching.program, "", &mut report);
        }
        if let Some(file) = &self.config.desk.file {
            self.accounts(Path::new(file), &mut report);
        }
        for file in self.config.md.files.iter().flat_map(|files| files.paths()) {
            if let Err(error) = file.metadata() {
                let place = self.rows.place("md.files");
                report
                    .error(place, format!("cannot read {}: {error}", file.display()))
                    .help("md.files names the recorded day: a folder, a file, or a table of files");
            }
        }
        let matching = &self.config.matching;
        for (key, latency) in [
            ("matching.order_latency", &matching.order_latency),
            ("matching.report_latency", &matching.report_latency),
        ] {
            if let Some(file) = latency.samples().map(samples_file)
                && let Err(error) = file.metadata()
            {
                let noted =
                    report.error(self.rows.place(key), format!("cannot read {}: {error}", file.display()));
                noted.help("`samples` names the folder of a run, or a file with the columns of its t2o.csv");
            } else if let Some(run) = latency.samples().map(samples_file).and_then(lock_step_run) {
                let message = format!("the run in {} was in lock-step", run.display());
                report.error(self.rows.place(key), message).help(
                    "its times are those of a computation and not of the way to an exchange: take the samples of a live run",
                );
            }
        }
        if report.has_errors() { Err(report.finish()) } else { Ok(()) }
    }

    fn accounts(&self, file: &Path, report: &mut Report) {
        let place = self.rows.place("desk.file");
        let fault = match desk::read_accounts(file) {
            Err(message) => Some((message, "write a line of columns, then a line an account".to_owned())),
            Ok(mut accounts) => {
                let mut all = self.config.accounts.clone();
                all.append(&mut accounts);
                let most = self.config.desk.most_accounts as usize;
                if all.len() > most {
                    let help = format!("set desk.most_accounts = {}", all.len().next_power_of_two());
                    Some((format!("there are {} accounts, and room for {most}", all.len()), help))
                } else {
                    desk::rehearse(&self.config.desk, &all).err().map(|fault| (fault.message, fault.help))
                }
            }
        };
        if let Some((message, help)) = fault {
            report.error(place, message).help(help);
        }
    }

    fn program(&self, path: &str, program: &str, build: &str, report: &mut Report) {
        let why = match Path::new(program).metadata() {
            Err(error) => error.to_string(),
            Ok(metadata) if !metadata.is_file() => "it is no file".to_owned(),
            Ok(metadata) if metadata.permissions().mode() & 0o111 == 0 && !is_python(Path::new(program)) => {
                format!("it may not be executed: chmod +x {program}")
            }
            Ok(_) => return,
        };
        let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy();
        let near = nearest(&name, BUILTIN_STRATEGIES);
        let noted = report.error(self.rows.place(path), format!("cannot run {program}: {why}"));
        match near {
            _ if !build.is_empty() => {
                noted.help(format!("`{build}` builds it, or says what this host lacks for it"))
            }
            Some(near) => noted.help(format!("did you mean \"builtin:{near}\"?")),
            None => noted.help("a path in the file starts at the file's folder; is the program built?"),
        };
    }
}
