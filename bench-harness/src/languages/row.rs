//! One language, and what its turns had.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use bench_kit::Spread;
use journal::{Clock, Journal, JournalFiles, Registry};

use super::found::Programs;
use super::peer::monotonic;
use super::program::Program;
use super::taker::Taken;
use super::{BYTES, FRAMES, LanguagesSettings, READ, SLEEPER};
use crate::ipc::IpcError;
use crate::orders::Waiting;

/// Between two messages to a sleeper: it sleeps again by then.
const NAP: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    program: Program,
    taker: String,
    /// ns a message, turn by turn.
    pub(super) next: Vec<f64>,
    pub(super) batch: Vec<f64>,
    pub(super) write: Vec<f64>,
    /// ns, message by message.
    pub(super) wakes: Vec<f64>,
    /// Bytes, and the messages that they were allocated for; `None`: the language does not say.
    pub(super) allocated: Option<(u64, u64)>,
    pub(super) parked: Vec<Taken>,
    pub(super) fast: Vec<Taken>,
}

impl Row {
    pub(super) fn rust(mut command: Command) -> Result<Row, IpcError> {
        Row::new("rust".to_owned(), "builtin:taker".to_owned(), &mut command)
    }

    pub(super) fn start(name: String, programs: &Programs) -> Result<Row, IpcError> {
        let mut command = Command::new("./bench");
        command.current_dir(&programs.folder).env("COLO_BUILD", &programs.build);
        Row::new(name, programs.taker.display().to_string(), &mut command)
    }

    fn new(name: String, taker: String, command: &mut Command) -> Result<Row, IpcError> {
        let program = Program::start(&name, command)?;
        let none = Vec::new;
        Ok(Row {
            name,
            program,
            taker,
            next: none(),
            batch: none(),
            write: none(),
            wakes: none(),
            allocated: None,
            parked: Vec::new(),
            fast: Vec::new(),
        })
    }

    /// The journal that it writes, and reads when it is woken.
    pub(super) fn journal(&self) -> String {
        format!("own-{}", self.name)
    }

    pub(super) fn taker(&self) -> &str {
        &self.taker
    }

    pub(super) fn answered(&mut self, waiting: Waiting, taken: Taken) {
        match waiting {
            Waiting::Parked => self.parked.push(taken),
            Waiting::Fast => self.fast.push(taken),
        }
    }

    /// All that is measured without a platform, once.
    pub(super) fn turn(
        &mut self,
        settings: &LanguagesSettings,
        folder: &Path,
        clock: Clock,
        sum: u64,
        counts: bool,
    ) -> Result<(), IpcError> {
        let place = folder.display();
        let mut made = None;
        let mut add = |bytes: Option<u64>, messages: u64| {
            if let Some(bytes) = bytes {
                let (all, of) = made.unwrap_or((0, 0));
                made = Some((all + bytes, of + messages));
            }
        };
        let (mut next, mut batch) = (None, None);
        for (word, time) in [("read", &mut next), ("batch", &mut batch)] {
            if !self.program.can(word) {
                continue;
            }
            let command = format!("{word} {place} {READ} {}", settings.readings);
            let [frames, nanos, found, bytes] = self.program.numbers(&command)?;
            let all = FRAMES * settings.readings;
            if frames != Some(all) || found != Some(sum.wrapping_mul(settings.readings)) {
                return Err(self
                    .program
                    .problem(&command, format!("{frames:?} frames of {all}, or with other contents")));
            }
            *time = nanos.map(|nanos| nanos as f64 / all as f64);
            add(bytes, all);
        }
        let command =
            format!("write {place} {} {place}/registry {} {BYTES}", self.journal(), settings.writes);
        let [count, nanos, bytes] = self.program.numbers(&command)?;
        if count != Some(settings.writes) {
            return Err(self.program.problem(&command, "it wrote another number of messages"));
        }
        add(bytes, settings.writes);
        let wakes = self.wake(settings, folder, clock)?;
        if counts {
            self.next.extend(next);
            self.batch.extend(batch);
            self.write.extend(nanos.map(|nanos| nanos as f64 / settings.writes as f64));
            self.wakes.extend(wakes);
            if let Some((bytes, messages)) = made {
                let (all, of) = self.allocated.unwrap_or((0, 0));
                self.allocated = Some((all + bytes, of + messages));
            }
        }
        Ok(())
    }

    /// It sleeps, and a message a millisecond wakes it.
    fn wake(
        &mut self,
        settings: &LanguagesSettings,
        folder: &Path,
        clock: Clock,
    ) -> Result<Vec<f64>, IpcError> {
        if !self.program.can("wake") {
            return Ok(Vec::new());
        }
        let (place, name, count) = (folder.display(), self.journal(), settings.wakes);
        let command = format!("wake {place} {name} {place}/registry {SLEEPER} {count}");
        self.program.tell(&command)?;
        let line = self.program.line(&command)?;
        if line != "ready" {
            return Err(self.program.problem(&command, format!("`{line}` instead of `ready`")));
        }
        let journal = Journal::open(JournalFiles::new(folder, folder, &name))?;
        let mut writer = journal.writer(0, clock)?;
        writer.wake_through(Arc::new(Registry::open(&folder.join("registry"))?));
        for _ in 0..count {
            std::thread::sleep(NAP);
            let mut payload = [0; BYTES];
            payload[..8].copy_from_slice(&monotonic().to_le_bytes());
            writer.write(1, 0, &payload)?;
        }
        let words = self.program.answer(&command)?;
        let times: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if times.len() as u64 != count {
            return Err(self.program.problem(&command, format!("{} times of {count} messages", times.len())));
        }
        Ok(times)
    }
}

/// The median; nothing of nothing.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    Spread::of(values.iter().copied()).map(|spread| spread.median)
}
