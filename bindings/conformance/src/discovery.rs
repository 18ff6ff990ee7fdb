//! The languages that are there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process::Process;

/// A driver that was built.
#[derive(Clone, Debug)]
pub struct Driver {
    /// The language.
    pub language: String,
    /// Where its file `driver` lies.
    pub folder: PathBuf,
    /// Where it was built.
    pub build: PathBuf,
    /// What it says that it can do.
    pub can: Vec<String>,
}

impl Driver {
    /// True when it can do all of that.
    pub fn can(&self, what: &[&str]) -> bool {
        what.iter().all(|word| self.can.iter().any(|known| known == word))
    }
}

/// What came of building a driver.
#[derive(Clone, Debug)]
pub enum Found {
    /// It is ready.
    Ready(Driver),
    /// The host lacks something: the language, and what.
    Missing(String, String),
    /// It does not build, or does not speak: the language, and why.
    Broken(String, String),
}

/// Builds the driver of a folder, if there is one. Drivers are built below `builds`.
pub fn build(folder: &Path, builds: &Path) -> Option<Found> {
    if !folder.join("driver").is_file() {
        return None;
    }
    let folder = folder.canonicalize().ok()?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let language = if name == "conformance" { "rust".to_owned() } else { name };
    let build = builds.join(&language);
    if let Err(error) = std::fs::create_dir_all(&build) {
        return Some(Found::Broken(language, format!("cannot make {}: {error}", build.display())));
    }
    let output = Command::new("./driver")
        .arg("build")
        .current_dir(&folder)
        .env("COLO_BUILD", &build)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            return Some(Found::Broken(language, format!("cannot run {}/driver: {error}", folder.display())));
        }
    };
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.code() == Some(77) {
        let reason = said.lines().last().unwrap_or("its toolchain is missing").to_owned();
        return Some(Found::Missing(language, reason));
    }
    if !output.status.success() {
        return Some(Found::Broken(language, format!("`driver build` ended with {}: {said}", output.status)));
    }
    let mut driver = Driver { language: language.clone(), folder, build, can: Vec::new() };
    let hello = Process::start(&driver).and_then(|mut process| process.ok("hello"));
    let words: Vec<String> = match hello {
        Ok(words) => words,
        Err(error) => return Some(Found::Broken(language, error)),
    };
    if words.get(1).map(String::as_str) != Some("1") {
        return Some(Found::Broken(language, format!("it speaks protocol {:?}, this is 1", words.get(1))));
    }
    driver.can = words.into_iter().skip(2).collect();
    Some(Found::Ready(driver))
}

/// All drivers in the folders below `bindings`, by name. Rust's first.
pub fn discover(bindings: &Path, builds: &Path, only: &[String]) -> Vec<Found> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(bindings).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.sort_by_key(|path| (!path.ends_with("conformance"), path.clone()));
    let is_wanted = |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = if name == "conformance" { "rust".into() } else { name };
        only.is_empty() || only.iter().any(|wanted| *wanted == name)
    };
    folders.iter().filter(|folder| is_wanted(folder)).filter_map(|folder| build(folder, builds)).collect()
}
