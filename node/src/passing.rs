//! Folders that become an instance, and those that have been one.
//!
//! A folder has the name of an instance only while it holds that instance's lock, marked and held. It is furnished under a
//! passing name, and gets one again before its lock is removed:
//!
//! ```text
//! .NAME.PID.NUMBER  ──rename──►  NAME  ──rename──►  .NAME.PID.NUMBER
//!   made, locked, marked         the instance         without its lock, removed
//! ```
//!
//! A process can be killed between any two of these steps. What it leaves has the mark, or a name that only colo gives, so it can
//! be removed and is never confused with a folder of the user's. The lock decides here too: a folder whose lock is held
//! stays. A maker whose folder is removed before it holds the lock makes another one.

use std::ffi::{OsStr, OsString};

use journal::OwnFile;

use crate::folder::{FolderError, OwnFolder};
use crate::holder::{LOCK_MODE, mark};
use crate::instance::{InstanceDir, LOCK};
use crate::locks::{is_held, take_lock};

/// Names that a process tries.
const MOST_NAMES: u32 = 1_000;

/// A folder and its held lock.
pub(crate) type Held = (OwnFolder, OwnFile);

/// Makes the folder of an instance with its lock, marked and held. An empty folder of the same name is replaced. `None`: the name
/// is taken, or another process has removed the unfinished folder.
pub(crate) fn make(root: &OwnFolder, instance: &str) -> Result<Option<Held>, FolderError> {
    for number in 0..MOST_NAMES {
        let name = name(instance, number);
        let made = root.make_folder(&name).and_then(|made| {
            let Some(folder) = made else { return Ok(None) };
            Ok(Some(furnish(root, &folder, &name, instance)?.map(|lock| (folder, lock))))
        });
        match made {
            // An ended process has used the name, or another thread of this one does.
            Ok(None) => {}
            Ok(Some(made)) => return Ok(made),
            // Removed by another process before the lock was held.
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => {
                let _ = remove_one(root, name.as_ref());
                return Err(error);
            }
        }
    }
    Ok(None)
}

fn furnish(
    root: &OwnFolder,
    folder: &OwnFolder,
    name: &str,
    instance: &str,
) -> Result<Option<OwnFile>, FolderError> {
    let io = |action| {
        let path = folder.path().join(LOCK);
        move |source| FolderError::Io { action, path, source }
    };
    let lock = OwnFile::open(|| folder.create_file(LOCK, LOCK_MODE))?;
    if !take_lock(&lock).map_err(io("lock"))? || !folder.still_has(LOCK, &lock) {
        return Ok(None);
    }
    mark(&lock).map_err(io("write"))?;
    if root.rename(name, instance)? {
        return Ok(Some(lock));
    }
    drop(lock);
    remove_one(root, name.as_ref())?;
    Ok(None)
}

/// Removes an instance's folder, which holds nothing but its lock. `lock` is held until the end of the call.
pub(crate) fn retire(root: &OwnFolder, folder: &OwnFolder, instance: &str) -> Result<(), FolderError> {
    for number in 0..MOST_NAMES {
        let name = name(instance, number);
        if root.rename(instance, &name)? {
            folder.remove(LOCK.as_ref())?;
            root.remove_empty(&name);
            break;
        }
    }
    Ok(())
}

/// The unfinished folders that no process holds: the instance to which each belongs, and its name.
pub(crate) fn left(root: &OwnFolder) -> Result<Vec<(String, OsString)>, FolderError> {
    let mut found = Vec::new();
    for entry in root.names()? {
        if let Some(instance) = instance_of(&entry)
            && is_left(root, &entry)
        {
            found.push((instance.to_owned(), entry));
        }
    }
    Ok(found)
}

/// Removes the unfinished folders of an instance that no process holds.
pub(crate) fn remove_left(root: &OwnFolder, instance: &str) -> Result<(), FolderError> {
    for (_, entry) in left(root)?.iter().filter(|(of, _)| of == instance) {
        remove_one(root, entry)?;
    }
    Ok(())
}

/// Removes an unfinished folder, unless a process holds it.
fn remove_one(root: &OwnFolder, entry: &OsStr) -> Result<(), FolderError> {
    let Some(name) = entry.to_str() else { return Ok(()) };
    let folder = match root.folder(name) {
        Err(error) if error.is_missing() => return Ok(()),
        folder => folder?,
    };
    let lock = match OwnFile::open(|| folder.open_file(LOCK)) {
        Ok(lock) => Some(lock),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error),
    };
    if let Some(lock) = &lock {
        let path = folder.path().join(LOCK);
        let is_taken = take_lock(lock).map_err(|source| FolderError::Io { action: "lock", path, source })?;
        // Its maker holds it, or has given the folder its name meanwhile.
        if !is_taken || !root.still_has(name, &folder) {
            return Ok(());
        }
        folder.remove(LOCK.as_ref())?;
    }
    root.remove_empty(name);
    Ok(())
}

/// False for a folder that is held, that holds more than a lock, or that is not this user's alone.
fn is_left(root: &OwnFolder, entry: &OsStr) -> bool {
    let Some(Ok(folder)) = entry.to_str().map(|name| root.folder(name)) else { return false };
    let holds_no_more = folder.names().is_ok_and(|names| names.iter().all(|name| name == LOCK));
    holds_no_more
        && match folder.file(LOCK) {
            Ok(lock) => !is_held(&lock),
            Err(error) => error.is_missing(),
        }
}

fn name(instance: &str, number: u32) -> String {
    format!(".{instance}.{}.{number}", std::process::id())
}

/// The instance to which a passing name belongs.
fn instance_of(entry: &OsStr) -> Option<&str> {
    let mut parts = entry.to_str()?.strip_prefix('.')?.rsplitn(3, '.');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (number, process) = (parts.next()?, parts.next()?);
    let instance = parts.next()?;
    (is_number(number) && is_number(process) && InstanceDir::new(instance).is_some()).then_some(instance)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn root() -> (tempfile::TempDir, OwnFolder) {
        let folder = tempfile::tempdir().unwrap();
        let own = OwnFolder::open(folder.path()).unwrap();
        (folder, own)
    }

    #[test]
    fn only_names_that_colo_gives_are_passing() {
        let is_passing = |entry: &str| instance_of(OsStr::new(entry)).map(str::to_owned);
        assert_eq!(is_passing(&name("demo-1", 7)), Some("demo-1".to_owned()));
        for other in [".logs", ".demo", ".demo.1", "demo.1.2", ".demo.1.x", ".demo..2", ".a.b.1.2", "..1.2"] {
            assert_eq!(is_passing(other), None, "{other}");
        }
    }

    #[test]
    fn a_folder_has_its_name_only_with_a_lock_that_is_marked_and_held() {
        let (folder, own) = root();
        let (made, lock) = make(&own, "demo").unwrap().unwrap();
        let text = fs::read_to_string(folder.path().join("demo").join(LOCK)).unwrap();
        assert!(text.starts_with("colo-lock pid="), "{text}");
        assert!(is_held(&made.file(LOCK).unwrap()));
        assert!(make(&own, "demo").unwrap().is_none(), "the name is taken");
        retire(&own, &made, "demo").unwrap();
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_empty_folder_is_replaced_and_one_with_anything_in_it_is_not() {
        let (folder, own) = root();
        fs::create_dir(folder.path().join("demo")).unwrap();
        assert!(make(&own, "demo").unwrap().is_some());
        fs::create_dir(folder.path().join("thesis")).unwrap();
        fs::write(folder.path().join("thesis/one"), "").unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        for taken in ["thesis", "file"] {
            assert!(make(&own, taken).unwrap().is_none());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left of the tries");
    }

    #[test]
    fn what_is_left_is_removed_and_what_is_held_or_holds_more_stays() {
        let (folder, own) = root();
        let at = |name: &str| folder.path().join(name);
        for (name, files) in [
            (".demo.1.0", &[][..]),
            (".demo.1.1", &[LOCK]),
            (".demo.1.2", &[LOCK, "more"]),
            (".other.1.0", &[]),
        ] {
            fs::create_dir(at(name)).unwrap();
            files.iter().for_each(|file| fs::write(at(name).join(file), "").unwrap());
        }
        fs::create_dir(at(".demo.1.3")).unwrap();
        let living = own.folder(".demo.1.3").unwrap();
        let lock = OwnFile::open(|| living.create_file(LOCK, LOCK_MODE)).unwrap();
        assert!(take_lock(&lock).unwrap());
        let mut found: Vec<_> = left(&own).unwrap().into_iter().map(|(_, entry)| entry).collect();
        found.sort();
        assert_eq!(found, [".demo.1.0", ".demo.1.1", ".other.1.0"]);
        remove_left(&own, "demo").unwrap();
        let mut stays: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
        stays.sort();
        assert_eq!(stays, [".demo.1.2", ".demo.1.3", ".other.1.0"]);
        assert!(at(".demo.1.2").join("more").exists());
    }

    /// Makers, removers and cleaners at once: no maker loses its folder once it holds the lock, and nothing is left.
    #[test]
    fn makers_and_cleaners_at_once_leave_one_holder_and_nothing_else() {
        let (folder, own) = root();
        let own = &own;
        let made = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(move || {
                        let mut made = 0;
                        for _ in 0..200 {
                            let Some((folder, lock)) = make(own, "demo").unwrap() else { continue };
                            assert!(own.still_has("demo", &folder) && folder.still_has(LOCK, &lock));
                            retire(own, &folder, "demo").unwrap();
                            made += 1;
                        }
                        made
                    })
                })
                .collect();
            for _ in 0..400 {
                remove_left(own, "demo").unwrap();
            }
            makers.into_iter().map(|maker| maker.join().unwrap()).sum::<u32>()
        });
        assert!(made > 0, "no maker ever came to its end");
        remove_left(own, "demo").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
