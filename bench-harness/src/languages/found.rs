//! The languages that are there, and their programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::LanguagesSettings;
use crate::ipc::{IpcError, system};

/// What ends with it lacks a toolchain on this host, and its last line on standard error says which.
const LACKS: i32 = 77;

/// A language that was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The language.
    pub language: String,
    /// What the host lacks.
    pub reason: String,
}

/// What a language's `bench build` and `example` have made.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// Where its file `bench` lies.
    pub(super) folder: PathBuf,
    /// Where it was built.
    pub(super) build: PathBuf,
    /// The example taker.
    pub(super) taker: PathBuf,
}

pub(super) fn name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The folders with a file `bench`, by name.
pub(super) fn folders(settings: &LanguagesSettings) -> Result<Vec<PathBuf>, IpcError> {
    let entries = std::fs::read_dir(&settings.bindings).map_err(|error| {
        let folder = settings.bindings.display();
        IpcError::Language(format!(
            "cannot read {folder}: {error}; --bindings names that folder of a source tree"
        ))
    })?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|folder| folder.join("bench").is_file()).collect();
    folders.sort();
    if let Some(unknown) = settings
        .only
        .iter()
        .find(|only| *only != "rust" && !folders.iter().any(|folder| name(folder) == **only))
    {
        let known: Vec<String> = folders.iter().map(|folder| name(folder)).collect();
        let known = known.join(", ");
        return Err(IpcError::Language(format!("there is no language `{unknown}`: there are rust, {known}")));
    }
    folders.retain(|folder| settings.only.is_empty() || settings.only.contains(&name(folder)));
    folders
        .into_iter()
        .map(|folder| folder.canonicalize().map_err(system("find a language's folder")))
        .collect()
}

/// Its programs, or what the host lacks.
pub(super) fn build(folder: &Path, builds: &Path) -> Result<Result<Programs, String>, IpcError> {
    let build = builds.join(name(folder));
    std::fs::create_dir_all(&build).map_err(system("make a folder for the programs"))?;
    let build = build.canonicalize().map_err(system("find the folder for the programs"))?;
    let taker = build.join("taker");
    let taker_text = taker.display().to_string();
    for words in [["./bench", "build"], ["./example", &taker_text]] {
        if let Err(reason) = run(folder, &build, words)? {
            return Ok(Err(reason));
        }
    }
    Ok(Ok(Programs { folder: folder.to_owned(), build, taker }))
}

fn run(folder: &Path, build: &Path, [program, argument]: [&str; 2]) -> Result<Result<(), String>, IpcError> {
    let output = Command::new(program)
        .arg(argument)
        .current_dir(folder)
        .env("COLO_BUILD", build)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(system("start what builds a language's programs"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        return Ok(Ok(()));
    }
    if output.status.code() == Some(LACKS) {
        return Ok(Err(said.trim().lines().last().unwrap_or("its toolchain is missing").to_owned()));
    }
    let place = folder.display();
    Err(IpcError::Language(format!(
        "`{program} {argument}` in {place} ended with {}: {}",
        output.status,
        said.trim()
    )))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn language(bindings: &Path, name: &str, script: &str) {
        let folder = bindings.join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["bench", "example"] {
            std::fs::write(folder.join(file), format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(folder.join(file), PermissionsExt::from_mode(0o755)).unwrap();
        }
    }

    fn settings(bindings: &Path, only: &[&str]) -> LanguagesSettings {
        let only = only.iter().map(ToString::to_string).collect();
        LanguagesSettings { bindings: bindings.to_owned(), only, ..LanguagesSettings::quick(PathBuf::new()) }
    }

    #[test]
    fn languages_are_the_folders_with_a_bench_and_a_misspelt_one_is_refused() {
        let bindings = tempfile::tempdir().unwrap();
        language(bindings.path(), "go", "exit 0");
        language(bindings.path(), "c", "exit 0");
        std::fs::create_dir(bindings.path().join("layout")).unwrap();
        let names = |only: &[&str]| {
            folders(&settings(bindings.path(), only))
                .map(|found| found.iter().map(|folder| name(folder)).collect::<Vec<_>>())
        };
        assert_eq!(names(&[]).unwrap(), ["c", "go"]);
        assert_eq!(names(&["go", "rust"]).unwrap(), ["go"]);
        assert!(names(&["og"]).unwrap_err().to_string().contains("rust, c, go"));
        let missing = folders(&settings(&bindings.path().join("none"), &[])).unwrap_err().to_string();
        assert!(missing.contains("--bindings"), "{missing}");
    }

    #[test]
    fn a_language_without_its_toolchain_is_skipped_and_one_that_does_not_build_is_an_error() {
        let bindings = tempfile::tempdir().unwrap();
        language(bindings.path(), "absent", "echo a line >&2; echo no compiler >&2; exit 77");
        language(bindings.path(), "broken", "echo line 3: no >&2; exit 1");
        let builds = tempfile::tempdir().unwrap();
        let outcome = build(&bindings.path().join("absent"), builds.path()).unwrap();
        assert_eq!(outcome.unwrap_err(), "no compiler");
        let error = build(&bindings.path().join("broken"), builds.path()).unwrap_err().to_string();
        assert!(error.contains("broken") && error.contains("line 3: no"), "{error}");
    }
}
