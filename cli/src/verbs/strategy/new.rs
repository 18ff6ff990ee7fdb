//! `colo strategy new`: a project that builds, tests and trades.

use std::fs;
use std::path::{Path, PathBuf};

use node::Exit;

use super::args::New;
use crate::failure::Failure;

/// The files of a project, and their texts: `{{name}}`, `{{Name}}`, `{{crate}}` and `{{sdk}}` are replaced.
const RUST: [(&str, &str); 7] = [
    ("Cargo.toml", include_str!("rust/Cargo.toml.in")),
    ("src/lib.rs", include_str!("rust/src/lib.rs.in")),
    ("src/main.rs", include_str!("rust/src/main.rs.in")),
    ("tests/trades.rs", include_str!("rust/tests/trades.rs.in")),
    ("platform.toml", include_str!("rust/platform.toml.in")),
    ("README.md", include_str!("rust/README.md.in")),
    (".gitignore", include_str!("rust/gitignore.in")),
];

pub(super) fn new(arguments: &New) -> Result<u8, Failure> {
    check_name(&arguments.name)?;
    let sdk = checkout(arguments)?;
    let folder = arguments.dir.join(&arguments.name);
    if folder.exists() {
        let message = format!("{} is there already: choose another name, or --dir", folder.display());
        return Err(Failure::new(Exit::Usage, message));
    }
    for (path, text) in RUST {
        let path = folder.join(path);
        write(&path, &filled(text, &arguments.name, &sdk))?;
    }
    talk!("made {}: its README.md says how it goes on", folder.display());
    Ok(Exit::Done.code())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = Failure::system("write", path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(&failed)?;
    }
    fs::write(path, text).map_err(failed)
}

/// A name that Cargo, a platform file and a journal take.
fn check_name(name: &str) -> Result<(), Failure> {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase());
    let fits = name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '-');
    if begins && fits && !name.ends_with('-') && name.len() <= 32 {
        return Ok(());
    }
    let message = format!(
        "`{name}` is no name for a project: write up to 32 small letters, digits and dashes, a letter first, as in my-strategy"
    );
    Err(Failure::new(Exit::Usage, message))
}

/// The checkout of colo: as said, or around this program, or around the current folder.
fn checkout(arguments: &New) -> Result<PathBuf, Failure> {
    let has_sdk = |folder: &Path| folder.join("strategy-sdk/Cargo.toml").is_file();
    if let Some(sdk) = &arguments.sdk {
        let whole = fs::canonicalize(sdk).map_err(Failure::system("find", sdk))?;
        return match has_sdk(&whole) {
            true => Ok(whole),
            false => Err(Failure::new(
                Exit::Usage,
                format!("{} is no checkout of colo: it has no strategy-sdk/Cargo.toml", sdk.display()),
            )),
        };
    }
    let starts = [std::env::current_exe().ok(), fs::canonicalize(&arguments.dir).ok()];
    let found = starts.iter().flatten().flat_map(|start| start.ancestors()).find(|folder| has_sdk(folder));
    found.map(Path::to_path_buf).ok_or_else(|| {
        let message = "no checkout of colo lies around this program or the folder: name it with --sdk FOLDER";
        Failure::new(Exit::Usage, message)
    })
}

fn filled(text: &str, name: &str, sdk: &Path) -> String {
    let type_name: String = name.split('-').map(capital).collect();
    text.replace("{{name}}", name)
        .replace("{{Name}}", &type_name)
        .replace("{{crate}}", &name.replace('-', "_"))
        .replace("{{sdk}}", &sdk.display().to_string())
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
