//! `docs/reference/verbs.md` has every verb with its arguments, made from what `colo` takes. After a wanted change:
//! `cargo xtask gen`.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::args::Arguments;

const HEAD: &str = "\
<!-- Made by `cargo xtask gen` from the command line's definition -->

# Verbs

What `colo --help`, `colo VERB --help` and the man pages say. Exit codes: 0 done, 1 failed, 2 usage or platform file, 3 host not
fit, 4 a check did not hold, 5 inconclusive, 69 no master, 73 cannot create, 77 permission, 130 a sweep was interrupted.
";

fn document() -> String {
    let mut command = Arguments::command();
    command.build();
    let mut text = HEAD.to_owned();
    for verb in command.get_subcommands() {
        describe(verb, "colo", &mut text);
    }
    text
}

fn describe(verb: &Command, parent: &str, text: &mut String) {
    if verb.is_hide_set() || verb.get_name() == "help" {
        return;
    }
    let name = format!("{parent} {}", verb.get_name());
    let about = verb.get_long_about().or(verb.get_about()).map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n## `{name}`\n\n{}\n", about.trim());
    let shown = verb.get_arguments().filter(|argument| !argument.is_hide_set() && !is_general(argument));
    let rows: Vec<String> = shown.map(row).collect();
    if !rows.is_empty() {
        let _ = write!(text, "\n| argument | |\n|---|---|\n{}", rows.concat());
    }
    if let Some(after) = verb.get_after_help() {
        let _ = write!(text, "\n```text\n{}\n```\n", after.to_string().trim());
    }
    for inner in verb.get_subcommands() {
        describe(inner, &name, text);
    }
}

fn is_general(argument: &Arg) -> bool {
    matches!(
        argument.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    )
}

fn row(argument: &Arg) -> String {
    let takes = argument.get_action().takes_values();
    let values: Vec<&str> =
        argument.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let form = match (argument.get_long(), argument.get_short()) {
        (Some(long), short) => {
            let short = short.map(|short| format!("-{short}, ")).unwrap_or_default();
            let value = if takes { format!(" <{}>", values.join("> <")) } else { String::new() };
            format!("{short}--{long}{value}")
        }
        (None, Some(short)) => format!("-{short}"),
        (None, None) => format!("<{}>", values.join("> <")),
    };
    let mut what =
        argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set() && takes)
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !possible.is_empty() && possible.len() < 12 {
        let _ = write!(what, " [{}]", possible.join(", "));
    }
    let default: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes && !default.is_empty() && !argument.is_hide_default_value_set() {
        let _ = write!(what, " Default: `{}`.", default.join(" "));
    }
    format!("| `{}` | {} |\n", form.replace('|', "\\|"), cell(&what))
}

/// One line, in which Markdown reads nothing as HTML.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[test]
fn golden_file_of_every_verb() {
    let document = document();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/verbs.md");
    golden::hold(&path, &document);
    let verbs = document.lines().filter(|line| line.starts_with("## ")).count();
    println!("{verbs} verbs");
    assert!(verbs > 40, "only {verbs} verbs");
}
