//! The driver in Rust: does with a journal what it is told on its standard input. README.md has the protocol.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bindings_conformance::{Seed, checksum};
use journal::wait::{Parker, Wakeup, announce};
use journal::{
    Clock, Frame, Journal, JournalFiles, OpenError, ReadError, Reader, Registry, WriteError, Writer,
    WriterState, layout,
};

/// `error CODE TEXT`.
struct Refused(&'static str, String);

impl From<OpenError> for Refused {
    fn from(error: OpenError) -> Refused {
        let code = match &error {
            OpenError::Io { .. } => "io",
            OpenError::Foreign { .. } => "foreign",
            OpenError::Version { .. } => "version",
            OpenError::Damaged { .. } => "damaged",
            OpenError::Replaced { .. } => "replaced",
            OpenError::WriterExists { .. } => "writer-exists",
            OpenError::SeatTaken { .. } => "seat-taken",
            OpenError::Forked(_) => "forked",
            OpenError::TooLate { .. } => "too-late",
            OpenError::NoSuchPosition { .. } => "no-such-position",
            OpenError::NoSuchSeat { .. } => "no-such-seat",
        };
        Refused(code, error.to_string())
    }
}

impl From<WriteError> for Refused {
    fn from(error: WriteError) -> Refused {
        let code = match &error {
            WriteError::Full { .. } => "full",
            WriteError::BatchFull { .. } => "batch-full",
            WriteError::TooLarge { .. } => "too-large",
            WriteError::NoSuchTopic { .. } => "no-such-topic",
            WriteError::Forked(_) => "forked",
            WriteError::PastClaim { .. } | WriteError::RecordSize { .. } | WriteError::NotAhead { .. } => {
                "usage"
            }
        };
        Refused(code, error.to_string())
    }
}

impl From<ReadError> for Refused {
    fn from(error: ReadError) -> Refused {
        let code = if matches!(error, ReadError::Forked(_)) { "forked" } else { "damaged" };
        Refused(code, error.to_string())
    }
}

fn usage<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err(Refused("usage", what.into()))
}

#[derive(Default)]
struct Driver {
    registry: Option<(Arc<Registry>, PathBuf)>,
    journal: Option<Journal>,
    seat: u32,
    writer: Option<Writer>,
    reader: Option<Reader>,
    /// What the command says before it ends.
    said: Vec<String>,
}

/// The words of a command.
struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    fn word(&mut self) -> Result<&'a str, Refused> {
        self.0.next().map_or_else(|| usage("a word is missing"), Ok)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, Refused> {
        let word = self.word()?;
        word.parse().or_else(|_| usage(format!("`{word}` is no number here")))
    }

    fn number_or<T: std::str::FromStr>(&mut self, default: T) -> Result<T, Refused> {
        match self.0.next() {
            Some(word) => word.parse().or_else(|_| usage(format!("`{word}` is no number here"))),
            None => Ok(default),
        }
    }

    fn seed(&mut self) -> Result<Seed, Refused> {
        let word = self.word()?;
        Seed::parse(word).map_or_else(|| usage(format!("`{word}` is no seed")), Ok)
    }
}

/// What `write`, `batch`, `records` and `half` have in common.
struct Request {
    id: u16,
    topic: u32,
    length: usize,
    seed: Seed,
    count: u64,
}

impl Request {
    fn parse(words: &mut Words<'_>) -> Result<Request, Refused> {
        Ok(Request {
            id: words.number()?,
            topic: words.number()?,
            length: words.number()?,
            seed: words.seed()?,
            count: words.number_or(1)?,
        })
    }
}

fn frame_lines(frame: &Frame<'_>, said: &mut Vec<String>) {
    said.push(format!(
        "frame {} {} {} {} {} {} {} {:016x}",
        frame.position,
        frame.message_id,
        frame.topic,
        frame.flags,
        frame.time,
        frame.epoch,
        frame.payload.len(),
        checksum(frame.payload)
    ));
    if frame.flags & layout::frame::RECORD != 0 {
        for (position, record) in frame.records() {
            said.push(format!("record {position} {} {:016x}", record.len(), checksum(record)));
        }
    }
}

impl Driver {
    fn journal(&self) -> Result<&Journal, Refused> {
        self.journal.as_ref().map_or_else(|| usage("no journal is open"), Ok)
    }

    fn capacity(&self) -> Result<u64, Refused> {
        Ok(self.journal()?.shape().capacity)
    }

    fn writer(&mut self) -> Result<&mut Writer, Refused> {
        self.writer.as_mut().map_or_else(|| usage("this driver does not write"), Ok)
    }

    fn reader(&mut self) -> Result<&mut Reader, Refused> {
        self.reader.as_mut().map_or_else(|| usage("this driver does not read"), Ok)
    }

    fn registry(&self) -> Result<Arc<Registry>, Refused> {
        self.registry
            .as_ref()
            .map_or_else(|| usage("no registry is open"), |(registry, _)| Ok(Arc::clone(registry)))
    }

    /// Carries a command out; the words behind `ok`.
    fn command(&mut self, line: &str) -> Result<String, Refused> {
        let mut words = Words(line.split(' '));
        match words.word()? {
            "hello" => Ok("rust 1 write batch records skip half loose gate keep park oldest".to_owned()),
            "registry" => {
                let path = PathBuf::from(words.word()?);
                self.registry = Some((Arc::new(Registry::open(&path)?), path));
                Ok(String::new())
            }
            "open" => {
                let folder = PathBuf::from(words.word()?);
                let files = JournalFiles::new(&folder, &folder, words.word()?);
                let journal = Journal::open(files.clone())?;
                let mut identity = [0; 8];
                File::open(&files.control)
                    .and_then(|file| file.read_exact_at(&mut identity, layout::control::IDENTITY as u64 * 8))
                    .map_err(|error| Refused("io", error.to_string()))?;
                let head = journal.head();
                self.journal = Some(journal);
                Ok(format!("{} {head}", u64::from_le_bytes(identity)))
            }
            "state" => {
                let stat = self.journal()?.stat();
                let writer = match stat.writer {
                    WriterState::Never => "none",
                    WriterState::Attached(_) => "attached",
                    WriterState::Closed => "closed",
                    WriterState::Dead(_) => "dead",
                };
                Ok(format!("{} {writer} {}", stat.epoch, stat.head))
            }
            "writer" => self.attach_writer(words.number()?),
            "write" => {
                let request = Request::parse(&mut words)?;
                let patience = Duration::from_millis(words.number_or(0)?);
                self.write(&request, patience)
            }
            "batch" => self.batch(&Request::parse(&mut words)?),
            "records" => self.records(&Request::parse(&mut words)?),
            "skip" => {
                let bytes: u64 = words.number()?;
                let writer = self.writer()?;
                writer.skip_to(writer.position() + bytes)?;
                Ok(writer.position().to_string())
            }
            "half" => {
                let is_batch = words.word()? == "batch";
                self.half(is_batch, &Request::parse(&mut words)?)
            }
            "loose" => self.loose(words.word()?, words.word()?),
            "gate" => {
                self.seat = words.number()?;
                let reader = self.journal()?.gated(self.seat)?;
                let position = reader.position();
                self.reader = Some(Reader::Gated(reader));
                Ok(position.to_string())
            }
            "next" => {
                let count = words.number()?;
                let patience = Duration::from_millis(words.number_or(0)?);
                self.next(count, patience)
            }
            "keep" => {
                let position = words.number()?;
                match self.reader()? {
                    Reader::Gated(reader) => reader.keep(position),
                    Reader::Loose(_) => return usage("a loose reader keeps nothing"),
                }
                Ok(String::new())
            }
            "interest" => {
                let rest: Vec<&str> = words.0.collect();
                let topics: Option<Vec<u32>> = match rest[..] {
                    ["all"] => None,
                    _ => Some(rest.iter().filter_map(|word| word.parse().ok()).collect()),
                };
                self.journal()?.set_interest(self.seat, topics.as_deref())?;
                announce(&*self.registry()?);
                Ok(String::new())
            }
            "park" => self.park(Duration::from_millis(words.number()?)),
            "kill" => die(),
            other => usage(format!("there is no command `{other}`")),
        }
    }

    fn attach_writer(&mut self, seat: u32) -> Result<String, Refused> {
        let clock = match &self.registry {
            Some((registry, path)) => registry.clock(path)?,
            None => Clock::calibrate(),
        };
        let mut writer = self.journal()?.writer(seat, clock)?;
        if let Some((registry, _)) = &self.registry {
            writer.wake_through(Arc::clone(registry));
        }
        let said = format!("{} {}", writer.epoch(), writer.position());
        self.writer = Some(writer);
        Ok(said)
    }

    /// Says a frame that was written, as the reader will.
    fn wrote(
        &mut self,
        request: &Request,
        position: u64,
        time: u64,
        flags: u16,
        payload: &[u8],
    ) -> Result<(), Refused> {
        let epoch = self.writer()?.epoch() as u32;
        let frame =
            Frame { position, time, message_id: request.id, flags, topic: request.topic, epoch, payload };
        frame_lines(&frame, &mut self.said);
        Ok(())
    }

    fn write(&mut self, request: &Request, patience: Duration) -> Result<String, Refused> {
        let capacity = self.capacity()?;
        let start = Instant::now();
        for index in 0..request.count {
            let position = self.writer()?.position();
            let payload = request.seed.plus(index).payload(position, capacity, request.length);
            let written = loop {
                match self.writer()?.write(request.id, request.topic, &payload) {
                    Err(WriteError::Full { .. }) if start.elapsed() < patience => std::thread::yield_now(),
                    done => break done?,
                }
            };
            self.wrote(request, written.position, written.time, 0, &payload)?;
        }
        Ok(format!("{} {}", request.count, self.writer()?.position()))
    }

    fn batch(&mut self, request: &Request) -> Result<String, Refused> {
        let capacity = self.capacity()?;
        let writer = self.writer()?;
        let mut position = writer.position();
        let mut frames = Vec::new();
        let mut batch = writer.batch();
        for index in 0..request.count {
            let payload = request.seed.plus(index).payload(position, capacity, request.length);
            batch.push(request.id, request.topic, &payload)?;
            position += layout::frame_bytes(payload.len() as u64);
            frames.push((position - layout::frame_bytes(payload.len() as u64), payload));
        }
        let time = batch.commit().map_or(0, |written| written.time);
        for (position, payload) in &frames {
            self.wrote(request, *position, time, 0, payload)?;
        }
        Ok(format!("{} {}", request.count, self.writer()?.position()))
    }

    fn records(&mut self, request: &Request) -> Result<String, Refused> {
        let mut payload = Vec::new();
        let mut records = self.writer()?.claim_records(
            request.id,
            request.topic,
            request.length,
            request.count as usize,
        )?;
        for index in 0..request.count {
            let record = request.seed.plus(index).payload(0, 0, request.length);
            records.push(&record)?;
            payload.extend(record);
        }
        let Some(written) = records.commit() else { return usage("no records") };
        self.wrote(request, written.position, written.time, request.length as u16, &payload)?;
        Ok(format!("1 {}", self.writer()?.position()))
    }

    /// Begins what it does not end: from here on only `kill` is heard.
    fn half(&mut self, is_batch: bool, request: &Request) -> Result<String, Refused> {
        let capacity = self.capacity()?;
        let writer = self.writer()?;
        let position = writer.position();
        let (mut batch, mut claim);
        if is_batch {
            batch = writer.batch();
            for index in 0..request.count {
                let payload = request.seed.plus(index).payload(position, capacity, request.length);
                batch.push(request.id, request.topic, &payload)?;
            }
        } else {
            claim = writer.claim(request.id, request.topic, request.length)?;
            claim.put(&request.seed.payload(position, capacity, request.length))?;
        }
        say(&[], &format!("ok {position}"));
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if line == "kill" {
                die();
            }
            say(&[], "error usage a frame is begun: only `kill` is heard");
        }
        die()
    }

    fn loose(&mut self, seat: &str, start: &str) -> Result<String, Refused> {
        let journal = self.journal()?;
        let position = match start {
            "head" => journal.head(),
            "first" => journal.first_position(),
            "oldest" => journal.oldest_frame()?,
            position => position.parse().or_else(|_| usage(format!("`{position}` is no start")))?,
        };
        let reader = if seat == "-" {
            journal.observe(position)?
        } else {
            let seat = seat.parse().or_else(|_| usage(format!("`{seat}` is no seat")))?;
            let reader = journal.loose_at(seat, position)?;
            self.seat = seat;
            reader
        };
        let position = reader.position();
        self.reader = Some(Reader::Loose(reader));
        Ok(position.to_string())
    }

    fn next(&mut self, count: u64, patience: Duration) -> Result<String, Refused> {
        let Some(reader) = &mut self.reader else { return usage("this driver does not read") };
        let start = Instant::now();
        let mut done = 0;
        let outcome = loop {
            if done == count {
                break Ok(());
            }
            match reader.read() {
                Ok(Some(frame)) => {
                    frame_lines(&frame, &mut self.said);
                    done += 1;
                }
                Ok(None) if start.elapsed() < patience => std::thread::yield_now(),
                Ok(None) => break Ok(()),
                Err(ReadError::Lapped(gap)) => self.said.push(format!("gap {} {}", gap.from, gap.resumed_at)),
                Err(error) => break Err(error),
            }
        };
        reader.publish();
        outcome?;
        Ok(format!("{done} {}", reader.position()))
    }

    fn park(&mut self, timeout: Duration) -> Result<String, Refused> {
        let (registry, seat) = (self.registry()?, self.seat);
        let Some(parker) = Parker::new(registry, seat) else { return usage("there is no such seat") };
        let reader = self.reader()?;
        reader.publish();
        let ended = match parker.park(timeout, || reader.has_news()) {
            None => "news",
            Some(Wakeup::Woken) => "woken",
            Some(Wakeup::TimedOut) => "timeout",
        };
        Ok(ended.to_owned())
    }
}

fn die() -> ! {
    let _ = nix::sys::signal::kill(nix::unistd::Pid::this(), nix::sys::signal::Signal::SIGKILL);
    // It does not return from that.
    std::process::abort()
}

fn say(lines: &[String], end: &str) {
    let mut stdout = io::stdout().lock();
    let mut text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
    text.push_str(end.trim_end());
    text.push('\n');
    if stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_err() {
        std::process::exit(1);
    }
}

fn main() -> ExitCode {
    let mut driver = Driver::default();
    let mut line = String::new();
    loop {
        line.clear();
        // Not held locked: `half` reads on by itself.
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return ExitCode::SUCCESS,
            Ok(_) => {}
        }
        let command = line.trim_end_matches('\n');
        if command == "quit" {
            drop(driver);
            say(&[], "ok");
            return ExitCode::SUCCESS;
        }
        let end = match driver.command(command) {
            Ok(words) => format!("ok {words}"),
            Err(Refused(code, text)) => format!("error {code} {}", text.replace('\n', " ")),
        };
        say(&std::mem::take(&mut driver.said), &end);
    }
}
