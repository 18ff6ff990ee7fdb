//! A language's program, and the conversation with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bench_kit::OwnedChild;

use crate::ipc::{IpcError, system};

/// Longest that a program may think.
const WATCHDOG: Duration = Duration::from_secs(60);

/// Killed when it is dropped.
#[derive(Debug)]
pub(super) struct Program {
    language: String,
    _child: OwnedChild,
    stdin: ChildStdin,
    lines: Receiver<String>,
    /// What it can do.
    can: Vec<String>,
}

impl Program {
    pub(super) fn start(language: &str, command: &mut Command) -> Result<Program, IpcError> {
        let mut child = OwnedChild::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()))
            .map_err(system("start a language's program"))?;
        let problem = || IpcError::Language(format!("{language}: its program has no input or output"));
        let stdin = child.stdin.take().ok_or_else(problem)?;
        let stdout = child.stdout.take().ok_or_else(problem)?;
        let (sender, lines) = channel();
        // Ends with the process's output.
        std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        let mut program =
            Program { language: language.to_owned(), _child: child, stdin, lines, can: Vec::new() };
        let hello = program.ask("hello")?;
        if hello.get(1).map(String::as_str) != Some("1") {
            return Err(program.problem("hello", format!("it speaks protocol {:?}, this is 1", hello.get(1))));
        }
        program.can = hello.into_iter().skip(2).collect();
        Ok(program)
    }

    pub(super) fn can(&self, what: &str) -> bool {
        self.can.iter().any(|word| word == what)
    }

    pub(super) fn problem(&self, command: &str, what: impl std::fmt::Display) -> IpcError {
        IpcError::Language(format!("{}: `{command}`: {what}", self.language))
    }

    pub(super) fn tell(&mut self, command: &str) -> Result<(), IpcError> {
        let sent = self.stdin.write_all(format!("{command}\n").as_bytes()).and_then(|()| self.stdin.flush());
        sent.map_err(|error| self.problem(command, error))
    }

    /// A line of the answer.
    pub(super) fn line(&mut self, command: &str) -> Result<String, IpcError> {
        let line = self.lines.recv_timeout(WATCHDOG);
        line.map_err(|_| self.problem(command, "no answer: it has ended, or hangs"))
    }

    /// The words behind `ok`.
    pub(super) fn answer(&mut self, command: &str) -> Result<Vec<String>, IpcError> {
        let line = self.line(command)?;
        let mut words = line.split(' ').map(str::to_owned);
        match words.next().as_deref() {
            Some("ok") => Ok(words.collect()),
            _ => Err(self.problem(command, format!("`{line}`"))),
        }
    }

    pub(super) fn ask(&mut self, command: &str) -> Result<Vec<String>, IpcError> {
        self.tell(command)?;
        self.answer(command)
    }

    /// As many numbers as `N`, `None` for `-`.
    pub(super) fn numbers<const N: usize>(&mut self, command: &str) -> Result<[Option<u64>; N], IpcError> {
        let words = self.ask(command)?;
        let number = |word: &String| if word == "-" { Some(None) } else { word.parse().ok().map(Some) };
        let numbers: Option<Vec<Option<u64>>> = words.iter().map(number).collect();
        numbers
            .and_then(|numbers| numbers.try_into().ok())
            .ok_or_else(|| self.problem(command, format!("`{}` are not {N} numbers", words.join(" "))))
    }
}
