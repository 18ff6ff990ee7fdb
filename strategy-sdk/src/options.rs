//! The command line of a strategy's process.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, Command, CommandFactory, FromArgMatches, Parser};
use serde_json::Value;
use wire::Symbol;

/// Which node of which platform to be, and what differs from the platform file. Other programs may flatten it into
/// arguments of their own.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Instance to join; without it, what the variable COLO_INSTANCE says
    #[arg(short, long, value_name = "NAME")]
    pub instance: Option<String>,
    /// Node of the platform file to be; without it, what the variable COLO_NODE says
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// Read this instrument, and only those named so, instead of what the platform file says; may be repeated
    #[arg(short = 'n', long = "instrument", value_name = "SYMBOL", value_parser = symbol)]
    pub instruments: Vec<String>,
    /// Set a parameter, over what the platform file says; VALUE is JSON, or else text; may be repeated
    #[arg(short, long = "param", value_name = "KEY=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, Value)>,
    /// Only say whether the parameters fit: `colo check` asks for that
    #[arg(long)]
    pub check_params: bool,
}

/// A strategy of an author's own, which runs as a node of a colo platform.
#[derive(Parser, Debug)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
}

impl Options {
    /// Reads the arguments of this process.
    ///
    /// # Errors
    /// What clap answers: also for `--help`.
    pub fn from_arguments() -> Result<Options, clap::Error> {
        Options::from_words(std::env::args_os())
    }

    /// Reads the words of a command line, the program's name first: for programs whose runtime has taken some away.
    ///
    /// # Errors
    /// What clap answers: also for `--help`.
    pub fn from_words(
        words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> Result<Options, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let program = words.first().cloned().unwrap_or_default();
        let name = Path::new(&program).file_name().map(|name| name.to_string_lossy());
        let mut command = command(name.as_deref().unwrap_or("strategy"));
        let matches = command.try_get_matches_from_mut(words)?;
        CommandLine::from_arg_matches(&matches)
            .map(|line| line.options)
            .map_err(|error| error.format(&mut command))
    }
}

fn command(name: &str) -> Command {
    let examples = format!(
        "Examples:
  As part of a platform: name the program in the platform file, and bring it up
      [strategies]
      program = \"path/to/{name}\"
      params = {{ quantity = 1 }}
  By hand, as node strategy-1 of the running instance demo, where no other process is that node
      {name} --instance demo --node strategy-1
  Read two instruments only, with another parameter
      {name} -i demo --node strategy-1 -n SIM001 -n SIM002 --param quantity=5

The variable COLO_LOG sets what is logged: error, warn, info (default), debug.
Exit codes: 0 done, 1 failed, 2 usage, 69 no master, 77 not permitted."
    );
    CommandLine::command().bin_name(name).after_help(examples)
}

fn symbol(text: &str) -> Result<String, String> {
    match Symbol::new(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("a symbol has 1 to {} bytes", Symbol::CAPACITY)),
    }
}

/// Reads `KEY=VALUE` as `--param` does: VALUE is JSON, or else text.
///
/// # Errors
/// How it is to be written.
pub fn parameter(text: &str) -> Result<(String, Value), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            // `5`, `true` and `[1, 2]` are what they look like; a word is text.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            Ok((key.to_owned(), value))
        }
        _ => Err("write KEY=VALUE, as in quantity=5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, clap::Error> {
        let matches = command("taker").try_get_matches_from([&["taker"], arguments].concat())?;
        CommandLine::from_arg_matches(&matches).map(|line| line.options)
    }

    #[test]
    fn the_command_is_consistent() {
        command("taker").debug_assert();
    }

    #[test]
    fn arguments_are_read_as_the_help_says() {
        let options = parse(&[
            "-i",
            "demo",
            "--node",
            "s-1",
            "-n",
            "A",
            "--instrument",
            "B",
            "--param",
            "quantity=5",
            "-p",
            "name=fast",
            "-p",
            "on=true",
        ])
        .unwrap();
        assert_eq!((options.instance.as_deref(), options.node.as_deref()), (Some("demo"), Some("s-1")));
        assert_eq!(options.instruments, ["A", "B"]);
        let expected =
            [("quantity", Value::from(5)), ("name", Value::from("fast")), ("on", Value::from(true))];
        assert_eq!(options.parameters, expected.map(|(key, value)| (key.to_owned(), value)));
        assert_eq!(parse(&[]).unwrap(), Options::default());
    }

    #[test]
    fn wrong_arguments_are_usage_errors() {
        for arguments in [&["-n", ""][..], &["-p", "quantity"], &["-p", "=5"], &["--speed", "1"], &["rest"]] {
            assert_eq!(parse(arguments).unwrap_err().exit_code(), 2, "{arguments:?}");
        }
        let help = parse(&["--help"]).unwrap_err();
        assert_eq!(help.exit_code(), 0);
        assert!(help.to_string().contains("taker -i demo"), "{help}");
    }
}
