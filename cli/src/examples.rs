//! Every example that `--help` shows is a command line that `colo` takes.

use clap::{Command, CommandFactory, Parser};

use crate::args::Arguments;

/// The words of an example: what stands before a pipe, a redirection or a remark.
fn words(line: &str) -> Option<Vec<&str>> {
    let line = line.trim();
    let command = line.starts_with("colo ").then(|| line.split("  ").next())??;
    let words = command.split_whitespace();
    Some(words.take_while(|word| !matches!(*word, "|" | ">" | "&&")).collect())
}

fn examples(command: &Command, found: &mut Vec<(String, String)>, path: &str) {
    let path = format!("{path} {}", command.get_name());
    if let Some(help) = command.get_after_help() {
        let help = help.to_string();
        let lines = help.lines().filter(|line| words(line).is_some());
        found.extend(lines.map(|line| (path.clone(), line.to_owned())));
    }
    for verb in command.get_subcommands() {
        examples(verb, found, &path);
    }
}

#[test]
fn examples_in_the_help_are_taken() {
    let mut found = Vec::new();
    examples(&Arguments::command(), &mut found, "");
    for (path, line) in &found {
        let words = words(line).unwrap_or_default();
        if let Err(error) = Arguments::try_parse_from(&words) {
            panic!("`{path} --help` shows `{line}`, but: {error}");
        }
    }
    println!("{} examples", found.len());
    assert!(found.len() > 40, "only {} examples were found", found.len());
}

#[test]
fn verbs_that_look_and_measure_have_examples_and_print_json() {
    let command = Arguments::command();
    let mut looked_at = 0;
    let journal = command.find_subcommand("journal").expect("colo journal");
    let verbs =
        command.get_subcommands().filter(|verb| matches!(verb.get_name(), "status" | "top" | "check"));
    for verb in verbs.chain(journal.get_subcommands()) {
        looked_at += 1;
        let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Examples:"), "`{}` shows no example", verb.get_name());
        let format = verb.get_arguments().find(|argument| argument.get_long() == Some("format"));
        let values = format.map(|format| format.get_possible_values()).unwrap_or_default();
        assert!(
            values.iter().any(|value| value.get_name() == "json"),
            "`{}` prints no JSON",
            verb.get_name()
        );
    }
    assert_eq!(looked_at, 10);
}

#[test]
fn completions_know_every_verb() {
    let mut command = Arguments::command();
    let mut script = Vec::new();
    clap_complete::generate(clap_complete::Shell::Bash, &mut command, "colo", &mut script);
    let script = String::from_utf8_lossy(&script);
    for verb in ["top", "journal__subcmd__trace", "journal__subcmd__clean", "journal__subcmd__dump"] {
        assert!(script.contains(verb), "{verb} cannot be completed");
    }
}

#[test]
fn every_verb_has_a_man_page_with_its_examples() {
    let folder = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(Arguments::command(), folder.path()).unwrap();
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for verb in Arguments::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
        assert!(!page(&format!("colo-{}.1", verb.get_name())).is_empty());
    }
    assert!(page("colo-up.1").contains("configs/demo.toml"), "{}", page("colo-up.1"));
    assert!(page("colo-journal-trace.1").contains(".TH"));
}
