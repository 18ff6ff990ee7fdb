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
const TAKEN: [&str; 22] = [
    "accounts",
    "alloc",
    "build",
    "colo",
    "core",
    "deps",
    "examples",
    "incremental",
    "journal",
    "node",
    "pinning",
    "plugin",
    "proc-macro",
    "recorder",
    "serde",
    "settings",
    "std",
    "strategy-sdk",
    "test",
    "topology",
    "wire",
    "wire-derive",
];
/// Words of the language: no crate can have such a name.
const KEYWORDS: [&str; 40] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "type",
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
    let code = RUST.iter().filter(|(path, _)| path.ends_with(".rs"));
    let is_a_type = code.flat_map(|(_, text)| words(text)).any(|word| word == type_of(name));
    if TAKEN.contains(&name) || KEYWORDS.contains(&name) || is_a_type {
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

/// The words of a project's file: its strategy's type cannot be called as another type there.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines()
        .filter(is_code)
        .flat_map(|line| line.split(|char: char| !char.is_alphanumeric() && char != '_'))
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
    text.replace("{{name}}", name)
        .replace("{{Name}}", &type_of(name))
        .replace("{{crate}}", &name.replace('-', "_"))
        .replace("{{dependency}}", &sdk.dependency())
        .replace("{{guide}}", &sdk.guide())
}

/// The name of its type.
fn type_of(name: &str) -> String {
    name.split('-').map(capital).collect()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that the files of a project use of the SDK, as names of projects.
    fn imported() -> Vec<String> {
        let uses = RUST.iter().flat_map(|(_, text)| text.split("use strategy_sdk::").skip(1));
        let lists = uses.filter_map(|rest| rest.split(';').next());
        let names = lists.flat_map(|list| list.split(|char: char| !char.is_alphanumeric() && char != '_'));
        let types = names.filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()));
        types.map(dashed).collect()
    }

    fn dashed(name: &str) -> String {
        let mut text = String::new();
        for char in name.chars() {
            if char.is_ascii_uppercase() && !text.is_empty() {
                text.push('-');
            }
            text.push(char.to_ascii_lowercase());
        }
        text
    }

    #[test]
    fn a_name_that_the_projects_own_files_use_is_refused() {
        let imported = imported();
        for name in ["order-request", "parameter-error", "deserialize", "harness", "context"] {
            assert!(imported.iter().any(|known| known == name), "{name} of {imported:?}");
        }
        let others = ["self", "parameters", "result", "exit-code", "default", "ok", "some", "journal"];
        for name in imported.iter().map(String::as_str).chain(others) {
            let refused = check_name(name).expect_err(name);
            assert!(refused.to_string().contains("means something"), "{name}: {refused}");
        }
        for name in ["my-strategy", "momentum", "orders", "quotes-2", "buys", "maker"] {
            assert!(check_name(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_crate_that_the_sdk_is_made_from_is_refused() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = |name: &str| fs::read_to_string(root.join(name).join("Cargo.toml"));
        let (mut open, mut closed) = (vec!["strategy-sdk".to_owned()], Vec::<String>::new());
        while let Some(name) = open.pop() {
            // What has no folder of that name is somebody else's.
            let Some(text) = manifest(&name).ok().filter(|_| !closed.contains(&name)) else { continue };
            let section = text.split("\n[dependencies]\n").nth(1).unwrap_or_default();
            let lines = section.lines().take_while(|line| !line.starts_with('['));
            open.extend(lines.filter_map(|line| line.split(['.', ' ', '=']).next()).map(str::to_owned));
            closed.push(name);
        }
        assert!(closed.len() > 3, "{closed:?}");
        for name in closed {
            assert!(check_name(&name).is_err(), "{name}");
        }
    }
}
