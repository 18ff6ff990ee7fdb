//! The file of a trace: written under another name beside its place, and there at once when it is whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use node::Exit;

use crate::failure::Failure;

/// A file that is being written; dropped before it is kept, it is gone.
#[derive(Debug)]
pub(super) struct TraceFile {
    out: Option<BufWriter<File>>,
    part: PathBuf,
    path: PathBuf,
}

impl TraceFile {
    pub(super) fn create(path: &Path) -> Result<TraceFile, Failure> {
        let refused = |error: io::Error| {
            let exit = match Exit::of_io(&error) {
                Exit::Failed => Exit::CannotCreate,
                other => other,
            };
            Failure::new(exit, format!("cannot write {}: {error}", path.display()))
        };
        let Some(name) = path.file_name().filter(|_| !path.is_dir()) else {
            return Err(refused(io::ErrorKind::IsADirectory.into()));
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(hidden);
        let out = File::create_new(&part).map_err(refused)?;
        Ok(TraceFile { out: Some(BufWriter::with_capacity(1 << 18, out)), part, path: path.to_owned() })
    }

    /// Gives it its name.
    pub(super) fn keep(mut self) -> Result<(), Failure> {
        let refused = Failure::system("write", &self.path);
        if let Some(mut out) = self.out.take() {
            out.flush().map_err(&refused)?;
        }
        std::fs::rename(&self.part, &self.path).map_err(refused)
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // Renamed, it is not there any more.
        let _ = std::fs::remove_file(&self.part);
    }
}
