//! The two files of a journal: their names, and how they are created and opened.

pub(crate) mod control;
pub(crate) mod lease;
pub(crate) mod registry;

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{CreateError, OpenError};
use crate::files::control::{Control, JournalShape};
use crate::layout;
use crate::memory::{Access, map, mirror, reserve};

/// Paths of a journal's two files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalFiles {
    /// `NAME.ctl`: header, cursors, interest.
    pub control: PathBuf,
    /// `NAME.ring`: the frames; on a huge-page file system if the journal uses such pages.
    pub ring: PathBuf,
}

impl JournalFiles {
    /// Both files of `name`, the control file in `control_directory` and the ring in `ring_directory`.
    pub fn new(control_directory: &Path, ring_directory: &Path, name: &str) -> JournalFiles {
        JournalFiles {
            control: control_directory.join(format!("{name}.ctl")),
            ring: ring_directory.join(format!("{name}.ring")),
        }
    }

    /// Removes both files; processes that have them mapped keep the memory. Missing files are not an error.
    ///
    /// # Errors
    /// The first error of the system.
    pub fn remove(&self) -> io::Result<()> {
        remove(&self.control)?;
        remove(&self.ring)
    }

    /// Creates both files under temporary names, reserves all of their memory, and renames them into place. A control
    /// file that is visible is complete and has its ring, even if this process is killed meanwhile.
    pub(crate) fn create(&self, shape: JournalShape, created: u64) -> Result<Control, CreateError> {
        let temporary = JournalFiles {
            control: self.control.with_extension("ctl.new"),
            ring: self.ring.with_extension("ring.new"),
        };
        let made = temporary.make(shape, created).and_then(|control| {
            // An old control file must never be visible beside the new ring, not even after a crash.
            remove(&self.control).map_err(refused("remove", &self.control))?;
            std::fs::rename(&temporary.ring, &self.ring).map_err(refused("rename into place", &self.ring))?;
            std::fs::rename(&temporary.control, &self.control)
                .map_err(refused("rename into place", &self.control))?;
            Ok(control)
        });
        if made.is_err() {
            // The error that matters is the first one.
            let _ = temporary.remove();
        }
        made
    }

    fn make(&self, shape: JournalShape, created: u64) -> Result<Control, CreateError> {
        let ring = create_file(&self.ring, 0o640, shape.capacity)?;
        // Populated through a writable mapping: the pages exist and are zero from here on.
        mirror(&ring, shape.capacity, shape.page, Access::ReadWrite).map_err(refused("map", &self.ring))?;
        let bytes = layout::control_bytes(shape.seats, shape.topics);
        let control = create_file(&self.control, 0o640, bytes)?;
        let region = map(&control, bytes, Access::ReadWrite).map_err(refused("map", &self.control))?;
        Ok(Control::initialise(region, shape, created))
    }
}

fn refused<'a>(action: &'static str, path: &'a Path) -> impl Fn(io::Error) -> CreateError + 'a {
    move |source| CreateError::Io { action, path: path.to_owned(), source }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a file of zeros with all of its memory reserved and exactly this mode, whatever the umask. Does not follow a
/// link.
pub(crate) fn create_file(path: &Path, mode: u32, bytes: u64) -> Result<File, CreateError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map_err(refused("create", path))?;
    file.set_permissions(Permissions::from_mode(mode)).map_err(refused("set the mode of", path))?;
    reserve(&file, bytes).map_err(|source| CreateError::NoSpace { path: path.to_owned(), bytes, source })?;
    Ok(file)
}

/// Opens an existing file and returns it with its size.
pub(crate) fn open_file(path: &Path, access: Access) -> Result<(File, u64), OpenError> {
    let refused = |action| move |source| OpenError::Io { action, path: path.to_owned(), source };
    let file = OpenOptions::new()
        .read(true)
        .write(access == Access::ReadWrite)
        .open(path)
        .map_err(refused("open"))?;
    let bytes = file.metadata().map_err(refused("read the size of"))?.len();
    if bytes == 0 {
        return Err(OpenError::Damaged { path: path.to_owned(), what: "it is empty".to_owned() });
    }
    Ok((file, bytes))
}
