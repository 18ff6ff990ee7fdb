//! `colo strategy new`: a project that builds, tests and trades.

use std::fs;
use std::path::{Path, PathBuf};

use node::Exit;

use super::args::New;
use crate::failure::Failure;

/// The files of a project, and their texts: `{{name}}`, `{{Name}}`, `{{crate}}`, `{{dependency}}` and `{{guide}}` are replaced.
const RUST: [(&str, &str); 7] = [
    ("Cargo.toml", include_str!("rust/Cargo.toml.in")),
    ("src/lib.rs", include_str!("rust/src/lib.rs.in")),
    ("src/main.rs", include_str!("rust/src/main.rs.in")),
    ("tests/trades.rs", include_str!("rust/tests/trades.rs.in")),
    ("platform.toml", include_str!("rust/platform.toml.in")),
    ("README.md", include_str!("rust/README.md.in")),
    (".gitignore", include_str!("rust/gitignore.in")),
];

/// What Cargo refuses as a name, or a project of that name could not say.
const TAKEN: [&str; 16] = [
    "alloc",
    "build",
    "colo",
    "core",
    "deps",
    "examples",
    "incremental",
    "node",
    "proc-macro",
    "recorder",
    "serde",
    "std",
    "strategy-sdk",
    "test",
    "topology",
    "wire",
];
/// Words of the language: no crate can have such a name.
const KEYWORDS: [&str; 39] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "super", "trait",
    "true", "type",
];

/// Where the SDK comes from.
enum Sdk {
    Checkout(PathBuf),
    Git { url: String, rev: Option<String> },
}

impl Sdk {
    fn of(arguments: &New) -> Result<Sdk, Failure> {
        match &arguments.git {
            Some(url) => Ok(Sdk::Git { url: url.clone(), rev: arguments.rev.clone() }),
            None => checkout(arguments).map(Sdk::Checkout),
        }
    }

    /// As Cargo.toml has it.
    fn dependency(&self) -> String {
        match self {
            Sdk::Checkout(folder) => {
                format!("{{ path = {} }}", toml_string(&folder.join("strategy-sdk").display().to_string()))
            }
            Sdk::Git { url, rev: None } => format!("{{ git = {} }}", toml_string(url)),
            Sdk::Git { url, rev: Some(rev) } => {
                format!("{{ git = {}, rev = {} }}", toml_string(url), toml_string(rev))
            }
        }
    }

    /// Where its guide is.
    fn guide(&self) -> String {
        match self {
            Sdk::Checkout(folder) => folder.join("strategy-sdk/README.md").display().to_string(),
            Sdk::Git { url, .. } => format!("strategy-sdk/README.md of {url}"),
        }
    }
}

fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

pub(super) fn new(arguments: &New) -> Result<u8, Failure> {
    check_name(&arguments.name)?;
    let sdk = Sdk::of(arguments)?;
    let folder = arguments.dir.join(&arguments.name);
    if folder.exists() {
        let message = format!("{} is there already: choose another name, or --dir", folder.display());
        return Err(Failure::new(Exit::Usage, message));
    }
    for (path, text) in RUST {
        let path = folder.join(path);
        write(&path, &filled(text, &arguments.name, &sdk))?;
    }
    // The versions that the SDK is tested with; and nothing need be fetched that building the checkout has not.
    if let Sdk::Checkout(checkout) = &sdk
        && let lock = checkout.join("Cargo.lock")
        && lock.is_file()
    {
        let to = folder.join("Cargo.lock");
        fs::copy(&lock, &to).map_err(Failure::system("write", &to))?;
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
    if TAKEN.contains(&name) || KEYWORDS.contains(&name) {
        let message = format!("`{name}` means something to Rust or to the SDK already: choose another name");
        return Err(Failure::new(Exit::Usage, message));
    }
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

fn filled(text: &str, name: &str, sdk: &Sdk) -> String {
    let type_name: String = name.split('-').map(capital).collect();
    text.replace("{{name}}", name)
        .replace("{{Name}}", &type_name)
        .replace("{{crate}}", &name.replace('-', "_"))
        .replace("{{dependency}}", &sdk.dependency())
        .replace("{{guide}}", &sdk.guide())
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
