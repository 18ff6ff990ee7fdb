//! Which instance and which journal are meant. Reading needs no master: dead instances and bare files serve as well.

use std::path::Path;

use journal::{Journal, JournalFiles};
use node::{Exit, InstanceDir};
use observe::InstanceView;
use pinning::huge_mounts;
use wire::Instrument;

use super::args::JournalArgument;
use crate::failure::Failure;
use crate::verbs::instance::{suggestion, view};
use crate::verbs::instruments;

/// A journal to look into.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) journal: Journal,
    pub(super) files: JournalFiles,
    /// Its instance; a journal that is given by its path has none.
    pub(super) view: Option<InstanceView>,
}

impl Target {
    pub(super) fn open(argument: &JournalArgument) -> Result<Target, Failure> {
        if let Some(files) = files_of_path(&argument.journal)? {
            let journal = Journal::open_read_only(files.clone())?;
            return Ok(Target { name: journal.shape().name.clone(), journal, files, view: None });
        }
        let view = view(argument.instance.name())?;
        let files = files(view.instance(), &argument.journal)?;
        let journal = Journal::open_read_only(files.clone())?;
        Ok(Target { name: argument.journal.clone(), journal, files, view: Some(view) })
    }

    /// The instruments of its instance.
    pub(super) fn listed(&self) -> Result<Vec<Instrument>, Failure> {
        match &self.view {
            Some(view) => instruments::listed(view.instance()),
            None => Err(Failure::new(
                Exit::Usage,
                "a journal that is given by its path belongs to no instance: give topics by their numbers",
            )),
        }
    }
}

/// Files of a journal of an instance that is there.
pub(crate) fn files(instance: &InstanceDir, journal: &str) -> Result<JournalFiles, Failure> {
    let names = instance.journal_names().unwrap_or_default();
    if names.iter().any(|name| name == journal) {
        return Ok(instance.find_journal(journal));
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    Err(Failure::new(
        Exit::Usage,
        format!("instance `{}` has no journal `{journal}`{}", instance.name(), suggestion(journal, &known)),
    ))
}

/// The two files of a journal that is given by the path of one of its three; `None` when the text is a name.
pub(super) fn files_of_path(text: &str) -> Result<Option<JournalFiles>, Failure> {
    let path = Path::new(text);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if !text.contains('/') && !matches!(extension, Some("ctl" | "ring" | "lock")) {
        return Ok(None);
    }
    let missing = |what: &Path| {
        Failure::new(
            Exit::Usage,
            format!(
                "{} does not exist; a journal is NAME.ctl and NAME.ring, with NAME.lock beside them",
                what.display()
            ),
        )
    };
    let stem = match extension {
        Some("ctl" | "ring" | "lock") => path.with_extension(""),
        _ => path.to_owned(),
    };
    let beside = |extension: &str| {
        let mut name = stem.clone().into_os_string();
        name.push(extension);
        std::path::PathBuf::from(name)
    };
    let (control, ring) = (beside(".ctl"), beside(".ring"));
    match (control.exists(), ring.exists()) {
        (true, true) => Ok(Some(JournalFiles { control, ring })),
        (true, false) => on_huge_pages(&control).map(Some).ok_or_else(|| missing(&ring)),
        (false, _) => Err(missing(&control)),
    }
}

/// A control file whose ring lies below a huge-page mount, under the same instance.
fn on_huge_pages(control: &Path) -> Option<JournalFiles> {
    let instance = InstanceDir::new(control.parent()?.parent()?.file_name()?.to_str()?)?;
    let name = control.file_stem()?.to_str()?;
    let mounts = huge_mounts();
    let rings = mounts.iter().map(|mount| instance.on_huge_pages(&mount.path).join(format!("{name}.ring")));
    let ring = rings.into_iter().find(|ring| ring.exists())?;
    Some(JournalFiles { control: control.to_owned(), ring })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_names() {
        assert!(files_of_path("md.quotes").unwrap().is_none());
        assert!(files_of_path("/no/such/file.ctl").is_err());
        assert!(files_of_path("nothing.ring").is_err());
        assert!(files_of_path("nothing.lock").is_err());
    }

    #[test]
    fn each_of_the_three_files_stands_for_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = |extension: &str| folder.path().join(format!("md.quotes.{extension}"));
        for extension in ["ctl", "ring", "lock"] {
            std::fs::write(path(extension), [0]).unwrap();
        }
        for extension in ["ctl", "ring", "lock"] {
            let files = files_of_path(path(extension).to_str().unwrap()).unwrap().unwrap();
            assert_eq!((files.control, files.ring), (path("ctl"), path("ring")));
        }
    }
}
