//! The C header of functions, by cbindgen from the sources of the C interface.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The header.
pub(crate) fn file(root: &Path) -> io::Result<(String, String)> {
    let here = root.join("bindings/c");
    let config = cbindgen::Config::from_file(here.join("cbindgen.toml")).map_err(io::Error::other)?;
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources(&here)?.iter().filter(|path| !path.ends_with("lib.rs")) {
        builder = builder.with_src(source);
    }
    let mut made = Vec::new();
    builder.generate().map_err(io::Error::other)?.write(&mut made);
    let made = String::from_utf8(made).map_err(io::Error::other)?;
    Ok(("bindings/c/include/colo_functions.h".to_owned(), made))
}

fn sources(here: &Path) -> io::Result<Vec<PathBuf>> {
    let mut sources =
        fs::read_dir(here.join("src"))?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    sources.sort();
    Ok(sources)
}
