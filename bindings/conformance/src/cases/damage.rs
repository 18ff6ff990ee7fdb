//! Damaged files are refused alike.

use std::path::PathBuf;

use journal::layout::{self, control, frame};

use super::Bench;
use super::bench::{WRITER, write};
use crate::contents::Seed;
use crate::expected::{Expected, compare};
use crate::process::Process;
use crate::world::{CAPACITY, World};

/// A damage: what it is, how it is done, and the code with which it is refused.
struct Damage {
    what: &'static str,
    done: Done,
    code: &'static str,
    /// Frames that are read before it is found; `None`: it is found before reading.
    before: Option<usize>,
    /// A writer refuses it too.
    for_writers: bool,
}

enum Done {
    Control(usize, u64),
    /// A word of the second frame.
    Frame(usize, u64),
    Length(fn(&World) -> PathBuf, u64),
    Lock(u64),
    Missing(fn(&World) -> PathBuf),
}

fn control_file(world: &World) -> PathBuf {
    world.files().control
}

fn ring_file(world: &World) -> PathBuf {
    world.files().ring
}

const fn header(what: &'static str, word: usize, value: u64, code: &'static str) -> Damage {
    Damage { what, done: Done::Control(word, value), code, before: None, for_writers: true }
}

const fn in_frame(what: &'static str, word: usize, value: u64) -> Damage {
    Damage { what, done: Done::Frame(word, value), code: "damaged", before: Some(1), for_writers: false }
}

const fn length(what: &'static str, file: fn(&World) -> PathBuf, bytes: u64) -> Damage {
    Damage { what, done: Done::Length(file, bytes), code: "damaged", before: None, for_writers: true }
}

const DAMAGES: &[Damage] = &[
    header("no journal", control::MAGIC, u64::from_le_bytes(*b"NOTCOLO!"), "foreign"),
    header("an older version", control::VERSION, 3, "version"),
    header("a later version", control::VERSION, 99, "version"),
    header("another layout", control::LAYOUT_HASH, 0x1234, "version"),
    header("no capacity", control::CAPACITY, 0, "damaged"),
    header("a capacity that is no power of two", control::CAPACITY, CAPACITY + 64, "damaged"),
    header("an enormous capacity", control::CAPACITY, 1 << 63, "damaged"),
    header("no topics", control::TABLES, 64, "damaged"),
    header("no seats", control::TABLES, 16 << 32, "damaged"),
    header("an odd number of seats", control::TABLES, 65 | 16 << 32, "damaged"),
    header("more topics than the file has room for", control::TABLES, 128 | 4_000 << 32, "damaged"),
    header("tables of ones", control::TABLES, u64::MAX, "damaged"),
    header("payloads larger than the ring takes", control::MAX_PAYLOAD, 1 << 40, "damaged"),
    header("pages of one byte", control::ID, 7, "damaged"),
    header("pages larger than the ring", control::ID, 7 | 40 << 32, "damaged"),
    header("no name", control::NAME, 0, "damaged"),
    header("a name that leads elsewhere", control::NAME, u64::from_le_bytes(*b"../../et"), "damaged"),
    header("a first position off a line", control::FIRST, CAPACITY + 8, "damaged"),
    header("a first position before the ring", control::FIRST, 64, "damaged"),
    header("a first position without end", control::FIRST, 1 << 63, "damaged"),
    header("a head off a line", control::HEAD, CAPACITY + 200, "damaged"),
    header("a head before the first frame", control::HEAD, 64, "damaged"),
    header("a head without end", control::HEAD, 1 << 63, "damaged"),
    header("an intent too far ahead", control::INTENT, 4 * CAPACITY, "damaged"),
    header("an intent behind the head", control::INTENT, 0, "damaged"),
    length("an empty control file", control_file, 0),
    length("half a control file", control_file, 4_096),
    length("a control file that ends in a word", control_file, 8_191),
    length("an empty ring", ring_file, 0),
    length("half a ring", ring_file, CAPACITY / 2),
    length("a ring that is too long", ring_file, CAPACITY + 4_096),
    Damage {
        what: "another journal's lock file",
        done: Done::Lock(77),
        code: "replaced",
        before: None,
        for_writers: true,
    },
    Damage {
        what: "no control file",
        done: Done::Missing(control_file),
        code: "io",
        before: None,
        for_writers: true,
    },
    Damage { what: "no ring", done: Done::Missing(ring_file), code: "io", before: None, for_writers: true },
    in_frame("a commit word of another position", frame::COMMIT, 7),
    in_frame("a commit word of ones", frame::COMMIT, u64::MAX),
    in_frame("a payload of one byte more than fits", frame::SHAPE, layout::max_payload(CAPACITY) + 1),
    in_frame("a payload of ones", frame::SHAPE, u32::MAX as u64),
];

pub(super) fn damaged(bench: &Bench<'_>) -> Result<(), String> {
    // Written once, and damaged as often as there are damages.
    let (mut writer, mut place) = bench.writer(bench.producer)?;
    let (frames, _) = write(&mut writer, &mut place, (61, 1), 40, Seed::Number(1), 3)?;
    writer.quit()?;
    for damage in DAMAGES {
        let bench = Bench { world: bench.world.copy()?, ..*bench };
        one(&bench, damage, &frames).map_err(|error| format!("{}: {error}", damage.what))?;
    }
    Ok(())
}

fn one(bench: &Bench<'_>, damage: &Damage, frames: &[Expected]) -> Result<(), String> {
    let world = &bench.world;
    let start = frames[0].position;
    // So that a gated reader begins at the first frame.
    if bench.way == "gate" && damage.before.is_some() {
        let journal = journal::Journal::open(world.files()).map_err(|error| error.to_string())?;
        journal.admit_gated(super::bench::READER).map_err(|error| error.to_string())?;
    }
    let control_path = world.files().control;
    match damage.done {
        Done::Control(word, value) => world.poke(&control_path, word, value)?,
        Done::Frame(word, value) => {
            let line = (frames[1].position % CAPACITY) as usize / 8;
            world.poke(&world.files().ring, line + word, value)?;
        }
        Done::Length(file, bytes) => world.truncate(&file(world), bytes)?,
        Done::Lock(identity) => world.poke(&world.files().lock(), layout::lock::IDENTITY, identity)?,
        Done::Missing(file) => std::fs::remove_file(file(world)).map_err(|error| error.to_string())?,
    }
    // A loose reader that is told where to begin needs neither; one that looks for the oldest frame needs both.
    let of_the_end = matches!(damage.done, Done::Control(control::HEAD | control::INTENT, _));
    if of_the_end && bench.way == "loose" && !bench.consumer.can(&["oldest"]) {
        return Ok(());
    }
    let mut reader = Process::start(bench.consumer)?;
    let attach = bench.attach(&if of_the_end { "oldest".to_owned() } else { start.to_string() });
    refused(bench, &mut reader, &attach, damage, frames).map_err(|error| format!("the reader: {error}"))?;
    if damage.for_writers {
        let mut writer = Process::start(bench.producer)?;
        let attach = format!("writer {WRITER}");
        refused(bench, &mut writer, &attach, damage, frames)
            .map_err(|error| format!("the writer: {error}"))?;
    }
    Ok(())
}

/// Somewhere between opening and reading it must be refused with its code, and nothing wrong be read before.
fn refused(
    bench: &Bench<'_>,
    process: &mut Process,
    attach: &str,
    damage: &Damage,
    frames: &[Expected],
) -> Result<(), String> {
    process.ok(format!("registry {}", bench.world.registry().display()))?;
    for command in [bench.command(), attach.to_owned()] {
        let answer = process.ask(command.as_str())?;
        match (answer.code(), damage.before) {
            (None, _) => {}
            (Some(code), None) if code == damage.code => return Ok(()),
            (Some(_), _) => {
                return Err(format!(
                    "`{command}`: `{}` instead of `error {}`",
                    answer.end.join(" "),
                    damage.code
                ));
            }
        }
    }
    let Some(before) = damage.before else {
        return Err(format!("neither opening nor `{attach}` is refused; it is `error {}`", damage.code));
    };
    let answer = process.ask("next 10")?;
    compare(&answer.lines, &frames[..before])?;
    if answer.code() != Some(damage.code) {
        return Err(format!("`{}` instead of `error {}`", answer.end.join(" "), damage.code));
    }
    // It stays so.
    process.refused("next 10", damage.code)
}
