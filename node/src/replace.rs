//! Files on disk that must be whole after a kill and after a power cut.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::disk::own_file;

/// Replaces the file at `path` by a new one with the contents that `write` gives it, and returns the new one. A reader, and a host
/// after a power cut, finds the old file or the new one, whole. An error leaves the old file as it was.
///
/// The new file is `PATH.new` until it is on disk, so two writers of one path need a lock. `mode`: permissions of the new file.
///
/// # Errors
/// Those of the file system, and those of [`own_file`].
pub fn replace_file(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<File> {
    let mut new = path.to_owned().into_os_string();
    new.push(".new");
    let new = PathBuf::from(new);
    let replaced = (|| {
        let mut file = own_file(&new, OpenOptions::new().write(true).create(true).truncate(true).mode(mode))?;
        write(&mut file)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(file)
    })();
    if replaced.is_err() {
        let _ = fs::remove_file(&new);
    }
    replaced
}

/// The id that the kernel gives this boot of the host: another one after a power cut, the same after a kill.
///
/// # Errors
/// Those of `/proc`.
pub fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let put = |text: &'static str| replace_file(&path, 0o600, |file| file.write_all(text.as_bytes()));
        let mut file = put("one\n").unwrap();
        file.write_all(b"two\n").unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "one\ntwo\n",
            "the returned file is the one at the path"
        );
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        put("three\n").unwrap();
        let failed = replace_file(&path, 0o600, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(replace_file(&folder.path().join("no/numbers"), 0o600, |_| Ok(())).is_err());
    }

    #[test]
    fn a_boot_has_one_id() {
        let id = boot_id().unwrap();
        assert!(!id.is_empty() && !id.contains(char::is_whitespace), "{id:?}");
        assert_eq!(boot_id().unwrap(), id);
    }
}
