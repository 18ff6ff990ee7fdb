//! A case's journal, its producer and its consumer.

use journal::Journal;

use crate::contents::Seed;
use crate::discovery::Driver;
use crate::expected::{Expected, Place, compare};
use crate::process::{Answer, Process};
use crate::world::{NAME, World};

/// The seat of the writer.
pub(crate) const WRITER: u32 = 1;
/// The seat of the reader.
pub(crate) const READER: u32 = 3;

/// What a case runs with.
pub(crate) struct Bench<'a> {
    pub(crate) world: World,
    pub(crate) producer: &'a Driver,
    pub(crate) consumer: &'a Driver,
    /// `loose` or `gate`.
    pub(crate) way: &'static str,
}

impl Bench<'_> {
    /// A driver with the registry and the journal open.
    pub(crate) fn open(&self, driver: &Driver) -> Result<Process, String> {
        let mut process = Process::start(driver)?;
        process.ok(format!("registry {}", self.world.registry().display()))?;
        let state = process.numbers(self.command())?;
        let wanted = [self.identity()?, self.head()?];
        if state != wanted {
            return Err(format!(
                "{}: `open` says {state:?}, identity and head are {wanted:?}",
                driver.language
            ));
        }
        Ok(process)
    }

    /// `open FOLDER NAME`.
    pub(crate) fn command(&self) -> String {
        format!("open {} {NAME}", self.world.folder().display())
    }

    fn identity(&self) -> Result<u64, String> {
        self.world.peek(&self.world.files().control, journal::layout::control::IDENTITY)
    }

    pub(crate) fn head(&self) -> Result<u64, String> {
        self.world.peek(&self.world.files().control, journal::layout::control::HEAD)
    }

    /// A writer, which must be the journal's next one.
    pub(crate) fn writer(&self, driver: &Driver) -> Result<(Process, Place), String> {
        let journal = Journal::open_read_only(self.world.files()).map_err(|error| error.to_string())?;
        let stat = journal.stat();
        let mut process = self.open(driver)?;
        let said = process.numbers(format!("writer {WRITER}"))?;
        let place = Place { position: stat.head, epoch: stat.epoch + 1 };
        if said != [place.epoch, place.position] {
            return Err(format!("{}: `writer` says {said:?} instead of {place:?}", driver.language));
        }
        Ok((process, place))
    }

    /// A reader that stands at `position`.
    pub(crate) fn reader(&self, position: u64) -> Result<Process, String> {
        let mut process = self.open(self.consumer)?;
        process.expect(self.attach("head"), &position.to_string())?;
        Ok(process)
    }

    /// The command that makes it a reader.
    pub(crate) fn attach(&self, start: &str) -> String {
        if self.way == "gate" { format!("gate {READER}") } else { format!("loose {READER} {start}") }
    }
}

/// `write`, which must write all of it.
pub(crate) fn write(
    writer: &mut Process,
    place: &mut Place,
    (id, topic): (u16, u32),
    length: usize,
    seed: Seed,
    count: u64,
) -> Result<(Vec<Expected>, Answer), String> {
    let answer = writer.said(format!("write {id} {topic} {length} {seed} {count}"))?;
    let frames = place.frames(id, topic, length, seed, count);
    wrote(&answer, place, &frames, count)?;
    Ok((frames, answer))
}

/// A writer's answer, which must be about these frames.
pub(crate) fn wrote(answer: &Answer, place: &Place, frames: &[Expected], count: u64) -> Result<(), String> {
    compare(&answer.lines, frames).map_err(|error| format!("the producer: {error}"))?;
    ends(answer, count, place.position)
}

/// `ok DONE POSITION`.
pub(crate) fn ends(answer: &Answer, count: u64, position: u64) -> Result<(), String> {
    let wanted = format!("ok {count} {position}");
    let found = answer.end.join(" ");
    if found == wanted { Ok(()) } else { Err(format!("`{found}` instead of `{wanted}`")) }
}

/// The reader must read just these frames now, and say of them what the writer said.
pub(crate) fn read(
    reader: &mut Process,
    frames: &[Expected],
    written: &[String],
    next: u64,
) -> Result<(), String> {
    // One more than there are: nothing is behind them.
    let answer = reader.said(format!("next {}", frames.len() + 1))?;
    compare(&answer.lines, frames).map_err(|error| format!("the consumer: {error}"))?;
    if answer.lines != written {
        return Err("producer and consumer say different times".to_owned());
    }
    ends(&answer, frames.len() as u64, next)
}
