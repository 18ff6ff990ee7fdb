//! A driver that runs, and the conversation with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::discovery::Driver;

/// Longest that a driver may think. Nothing here takes that long; a driver that hangs fails its cell.
const WATCHDOG: Duration = Duration::from_secs(90);

/// A driver's process. Killed when it is dropped.
pub(crate) struct Process {
    language: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// The last command, for messages.
    asked: String,
}

/// What a driver answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What happened.
    pub(crate) lines: Vec<String>,
    /// Words of the last line: `ok …` or `error CODE …`.
    pub(crate) end: Vec<String>,
}

impl Answer {
    /// The error's code, if it is one.
    pub(crate) fn code(&self) -> Option<&str> {
        (self.end.first().map(String::as_str) == Some("error"))
            .then(|| self.end.get(1).map_or("", String::as_str))
    }
}

impl Process {
    pub(crate) fn start(driver: &Driver) -> Result<Process, String> {
        let mut child = Command::new("./driver")
            .current_dir(&driver.folder)
            .env("COLO_BUILD", &driver.build)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: cannot start its driver: {error}", driver.language))?;
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            // Ends with the process's output; a driver is never held up because nobody reads.
            std::thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let stdin = child.stdin.take();
        Ok(Process { language: driver.language.clone(), child, stdin, lines, asked: String::new() })
    }

    fn problem(&self, what: impl std::fmt::Display) -> String {
        format!("{}: `{}`: {what}", self.language, self.asked)
    }

    /// Sends a command and does not wait.
    pub(crate) fn tell(&mut self, command: impl Into<String>) -> Result<(), String> {
        self.asked = command.into();
        let line = format!("{}\n", self.asked);
        let sent = match &mut self.stdin {
            Some(stdin) => stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        sent.map_err(|error| self.problem(error))
    }

    /// The answer to what was sent.
    pub(crate) fn answer(&mut self) -> Result<Answer, String> {
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(WATCHDOG);
            let line = line.map_err(|_| self.problem("no answer: it has ended, or hangs"))?;
            let first = line.split(' ').next().unwrap_or_default();
            if first == "ok" || first == "error" {
                return Ok(Answer { lines, end: line.split(' ').map(str::to_owned).collect() });
            }
            lines.push(line);
        }
    }

    /// True while the answer has not come.
    pub(crate) fn is_silent(&mut self, wait: Duration) -> bool {
        // Only for commands that answer with one line, which is put back by nobody: so the caller fails when it is false.
        self.lines.recv_timeout(wait).is_err()
    }

    /// Sends a command, and waits for its answer.
    pub(crate) fn ask(&mut self, command: impl Into<String>) -> Result<Answer, String> {
        self.tell(command)?;
        self.answer()
    }

    /// A command that must succeed and tells nothing: the words behind `ok`.
    pub(crate) fn ok(&mut self, command: impl Into<String>) -> Result<Vec<String>, String> {
        let answer = self.ask(command)?;
        self.fine(answer).map(|answer| answer.end[1..].to_vec())
    }

    /// An answer that must be a success.
    pub(crate) fn fine(&self, answer: Answer) -> Result<Answer, String> {
        match answer.code() {
            Some(_) => Err(self.problem(answer.end.join(" "))),
            None => Ok(answer),
        }
    }

    /// A command that must succeed: all of its answer.
    pub(crate) fn said(&mut self, command: impl Into<String>) -> Result<Answer, String> {
        let answer = self.ask(command)?;
        self.fine(answer)
    }

    /// A command that must succeed, and the numbers behind `ok`.
    pub(crate) fn numbers(&mut self, command: impl Into<String>) -> Result<Vec<u64>, String> {
        let words = self.ok(command)?;
        words
            .iter()
            .map(|word| word.parse().map_err(|_| self.problem(format!("`{word}` is no number"))))
            .collect()
    }

    /// A command that must succeed with exactly these words.
    pub(crate) fn expect(&mut self, command: impl Into<String>, words: &str) -> Result<(), String> {
        let found = self.ok(command)?.join(" ");
        if found == words {
            Ok(())
        } else {
            Err(self.problem(format!("`ok {found}` instead of `ok {words}`")))
        }
    }

    /// A command that must fail with this code.
    pub(crate) fn refused(&mut self, command: impl Into<String>, code: &str) -> Result<(), String> {
        let answer = self.ask(command)?;
        if answer.code() == Some(code) {
            return Ok(());
        }
        Err(self.problem(format!("`{}` instead of `error {code}`", answer.end.join(" "))))
    }

    /// It ends in good order.
    pub(crate) fn quit(mut self) -> Result<(), String> {
        self.ok("quit")?;
        self.wait()
    }

    /// It kills itself.
    pub(crate) fn kill(mut self) -> Result<(), String> {
        self.tell("kill")?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), String> {
        drop(self.stdin.take());
        // Its output ends with it.
        while self.lines.recv_timeout(WATCHDOG).is_ok() {}
        self.child.wait().map(drop).map_err(|error| self.problem(error))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Neither can fail for a child that is ours and not waited for; one that has ended is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
