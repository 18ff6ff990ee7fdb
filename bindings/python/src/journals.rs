//! Journals without a strategy: readers for research, and what the conformance driver needs.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use journal::wait::{Parker, Wakeup, announce};
use journal::{Clock, JournalFiles, JournalShape, OpenError, ReadError, WriteError, WriterState};
use node::InstanceDir;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use wire::schema::message_type;

use crate::ColoError;
use crate::arrays::{Memory, described, foreign, is_dtype};
use crate::messages::{by_class, by_number, copied, references};

pyo3::create_exception!(
    colo,
    Lapped,
    ColoError,
    "The writer overtook a loose reader: from `lost_from` to `resumed_at` nothing was read. The next call reads on."
);

/// Adds the classes to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Lapped", module.py().get_type::<Lapped>())?;
    module.add_class::<Registry>()?;
    module.add_class::<Journal>()?;
    module.add_class::<Writer>()?;
    module.add_class::<Frame>()?;
    module.add_class::<Reader>()
}

/// A name that no journal has would be another path.
fn check_name(name: &str) -> PyResult<()> {
    if JournalShape::is_name(name) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "`{name}` is no name of a journal: 1 to 63 of a-z, 0-9, `.`, `_`, `-`, and no dot at its start"
    )))
}

/// An error with the code that every language gives it.
fn coded(py: Python<'_>, code: &str, error: impl std::fmt::Display) -> PyErr {
    let made = ColoError::new_err(error.to_string());
    match made.value(py).setattr("code", code) {
        Ok(()) => made,
        Err(other) => other,
    }
}

fn open_error(py: Python<'_>, error: OpenError) -> PyErr {
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
    coded(py, code, error)
}

fn write_error(py: Python<'_>, error: WriteError) -> PyErr {
    let code = match &error {
        WriteError::Full { .. } => "full",
        WriteError::BatchFull { .. } => "batch-full",
        WriteError::TooLarge { .. } => "too-large",
        WriteError::NoSuchTopic { .. } => "no-such-topic",
        WriteError::Forked(_) => "forked",
        WriteError::PastClaim { .. } | WriteError::RecordSize { .. } | WriteError::NotAhead { .. } => "usage",
    };
    coded(py, code, error)
}

fn read_error(py: Python<'_>, error: ReadError) -> PyErr {
    let gap = match error {
        ReadError::Lapped(gap) => gap,
        ReadError::Corrupt { .. } => return coded(py, "damaged", error),
        ReadError::Forked(_) => return coded(py, "forked", error),
    };
    let made = Lapped::new_err(error.to_string());
    let value = made.value(py);
    let set = value.setattr("lost_from", gap.from).and_then(|()| value.setattr("resumed_at", gap.resumed_at));
    set.err().unwrap_or(made)
}

/// The registry of an instance: its clock, and the seats that sleep and are woken.
#[pyclass(frozen, module = "colo")]
pub(crate) struct Registry {
    registry: Arc<journal::Registry>,
    path: PathBuf,
}

#[pymethods]
impl Registry {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Registry> {
        let registry = journal::Registry::open(&path).map_err(|error| open_error(py, error))?;
        Ok(Registry { registry: Arc::new(registry), path })
    }

    /// Makes what `Journal.interest` said known to all writers.
    fn announce(&self, py: Python<'_>) -> PyResult<()> {
        self.registry.check_process().map_err(|error| coded(py, "forked", error))?;
        announce(&self.registry);
        Ok(())
    }
}

/// A journal in shared memory.
#[pyclass(frozen, unsendable, module = "colo")]
pub(crate) struct Journal {
    journal: journal::Journal,
}

#[pymethods]
impl Journal {
    /// Opens a journal by its folder and name; one who only looks on opens it read-only.
    #[new]
    #[pyo3(signature = (folder, name, *, read_only = false))]
    fn new(py: Python<'_>, folder: PathBuf, name: &str, read_only: bool) -> PyResult<Journal> {
        check_name(name)?;
        let files = JournalFiles::new(&folder, &folder, name);
        let opened =
            if read_only { journal::Journal::open_read_only(files) } else { journal::Journal::open(files) };
        Ok(Journal { journal: opened.map_err(|error| open_error(py, error))? })
    }

    /// Opens a journal of a running instance, read-only, wherever it lies.
    #[staticmethod]
    fn of_instance(py: Python<'_>, instance: &str, name: &str) -> PyResult<Journal> {
        check_name(name)?;
        let folder = InstanceDir::new(instance)
            .ok_or_else(|| PyValueError::new_err(format!("`{instance}` is no name of an instance")))?;
        let opened = journal::Journal::open_read_only(folder.find_journal(name));
        Ok(Journal { journal: opened.map_err(|error| open_error(py, error))? })
    }

    /// The position behind the last frame.
    #[getter]
    fn head(&self) -> u64 {
        self.journal.head()
    }

    /// The position of the journal's first frame.
    #[getter]
    fn first(&self) -> u64 {
        self.journal.first_position()
    }

    /// Bytes of the ring.
    #[getter]
    fn capacity(&self) -> u64 {
        self.journal.shape().capacity
    }

    /// The position of the oldest frame that can still be read.
    fn oldest(&self, py: Python<'_>) -> PyResult<u64> {
        self.journal.oldest_frame().map_err(|error| open_error(py, error))
    }

    /// The epoch, the writer (`none`, `attached`, `closed` or `dead`) and the head.
    fn state(&self, py: Python<'_>) -> PyResult<(u64, &'static str, u64)> {
        self.journal.check_process().map_err(|error| coded(py, "forked", error))?;
        let stat = self.journal.stat();
        let writer = match stat.writer {
            WriterState::Never => "none",
            WriterState::Attached(_) => "attached",
            WriterState::Closed => "closed",
            WriterState::Dead(_) => "dead",
        };
        Ok((stat.epoch, writer, stat.head))
    }

    /// Says for which topics a seat wants to be woken; None: for all. `Registry.announce` makes it known.
    fn interest(&self, py: Python<'_>, seat: u32, topics: Option<Vec<u32>>) -> PyResult<()> {
        self.journal.set_interest(seat, topics.as_deref()).map_err(|error| open_error(py, error))
    }

    /// Becomes the journal's writer.
    #[pyo3(signature = (seat, registry = None))]
    fn writer(&self, py: Python<'_>, seat: u32, registry: Option<&Registry>) -> PyResult<Writer> {
        let clock = match registry {
            Some(known) => known.registry.clock(&known.path).map_err(|error| open_error(py, error))?,
            None => Clock::calibrate(),
        };
        let mut writer = self.journal.writer(seat, clock).map_err(|error| open_error(py, error))?;
        if let Some(known) = registry {
            writer.wake_through(Arc::clone(&known.registry));
        }
        Ok(Writer { writer })
    }

    /// Reads loosely from a position, in a seat or without one: the writer may overtake it.
    #[pyo3(signature = (position, seat = None))]
    fn loose(&self, py: Python<'_>, position: u64, seat: Option<u32>) -> PyResult<Reader> {
        let made = match seat {
            Some(seat) => self.journal.loose_at(seat, position),
            None => self.journal.observe(position),
        };
        Ok(Reader::of(journal::Reader::Loose(made.map_err(|error| open_error(py, error))?), seat))
    }

    /// Reads gated in a seat: the writer waits for it.
    fn gated(&self, py: Python<'_>, seat: u32) -> PyResult<Reader> {
        let made = self.journal.gated(seat).map_err(|error| open_error(py, error))?;
        Ok(Reader::of(journal::Reader::Gated(made), Some(seat)))
    }
}

/// Number of the message, topic, payload.
type Given = (u16, u32, Vec<u8>);

/// The one writer of a journal.
#[pyclass(unsendable, module = "colo")]
pub(crate) struct Writer {
    writer: journal::Writer,
}

#[pymethods]
impl Writer {
    /// The writer's epoch.
    #[getter]
    fn epoch(&self) -> u64 {
        self.writer.epoch()
    }

    /// The position of the next frame.
    #[getter]
    fn position(&self) -> u64 {
        self.writer.position()
    }

    /// Writes a frame; its position and time.
    fn write(&mut self, py: Python<'_>, message: u16, topic: u32, payload: &[u8]) -> PyResult<(u64, u64)> {
        let written = self.writer.write(message, topic, payload).map_err(|error| write_error(py, error))?;
        Ok((written.position, written.time))
    }

    /// Writes all of these frames together, or none; their time.
    fn batch(&mut self, py: Python<'_>, frames: Vec<Given>) -> PyResult<u64> {
        let mut batch = self.writer.batch();
        for (message, topic, payload) in &frames {
            batch.push(*message, *topic, payload).map_err(|error| write_error(py, error))?;
        }
        Ok(batch.commit().map_or(0, |written| written.time))
    }

    /// Writes records of one size in one frame; its position and time.
    fn records(
        &mut self,
        py: Python<'_>,
        message: u16,
        topic: u32,
        size: usize,
        records: Vec<Vec<u8>>,
    ) -> PyResult<(u64, u64)> {
        let claimed = self.writer.claim_records(message, topic, size, records.len());
        let mut frame = claimed.map_err(|error| write_error(py, error))?;
        for record in &records {
            frame.push(record).map_err(|error| write_error(py, error))?;
        }
        let written = frame.commit().ok_or_else(|| PyValueError::new_err("there are no records"))?;
        Ok((written.position, written.time))
    }

    /// Leaves so many bytes out.
    fn skip(&mut self, py: Python<'_>, bytes: u64) -> PyResult<u64> {
        let to = self.writer.position() + bytes;
        self.writer.skip_to(to).map_err(|error| write_error(py, error))?;
        Ok(self.writer.position())
    }

    /// Begins what it does not end, for tests of what a killed writer leaves behind: nothing may be written afterwards.
    fn begin(&mut self, py: Python<'_>, frames: Vec<Given>, together: bool) -> PyResult<()> {
        if together {
            let mut batch = self.writer.batch();
            for (message, topic, payload) in &frames {
                batch.push(*message, *topic, payload).map_err(|error| write_error(py, error))?;
            }
            let _given_up = batch;
        } else if let Some((message, topic, payload)) = frames.first() {
            let claimed = self.writer.claim(*message, *topic, payload.len());
            let mut claim = claimed.map_err(|error| write_error(py, error))?;
            claim.put(payload).map_err(|error| write_error(py, error))?;
            let _given_up = claim;
        }
        Ok(())
    }
}

/// What stands before a message in an array of frames: its position, time, topic and epoch.
const HEAD: &[(&str, &str, usize)] = &[
    ("frame_position", "<u8", 0),
    ("frame_time", "<u8", 8),
    ("frame_topic", "<u4", 16),
    ("frame_epoch", "<u4", 20),
];
const HEAD_BYTES: usize = 24;

/// A frame, copied. A reader fills the same few again and again, as long as nobody keeps them.
#[pyclass(module = "colo")]
pub(crate) struct Frame {
    /// The frame's position in its journal.
    #[pyo3(get)]
    position: u64,
    /// The number of the message.
    #[pyo3(get)]
    message: u16,
    /// The topic.
    #[pyo3(get)]
    topic: u32,
    /// When it was written.
    #[pyo3(get)]
    time: u64,
    /// The writer's epoch.
    #[pyo3(get)]
    epoch: u32,
    payload: Vec<u8>,
}

impl Frame {
    fn new() -> Frame {
        Frame { position: 0, message: 0, topic: 0, time: 0, epoch: 0, payload: Vec::new() }
    }
}

#[pymethods]
impl Frame {
    /// The payload, a copy.
    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.payload)
    }

    /// A little-endian number in the payload, without a copy of it.
    #[pyo3(signature = (offset = 0, size = 8))]
    fn number(&self, offset: usize, size: usize) -> PyResult<u64> {
        let bytes = offset.checked_add(size).and_then(|end| self.payload.get(offset..end));
        match bytes {
            Some(bytes) if size <= 8 => Ok(crate::messages::unsigned(bytes)),
            _ => Err(PyValueError::new_err(format!(
                "there is no number of {size} bytes at {offset} in a payload of {} bytes",
                self.payload.len()
            ))),
        }
    }

    /// The message in the frame; None if it is no message of the platform, or of another size.
    fn decode(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match message_type(self.message) {
            Some(known) if known.record.size == self.payload.len() => {
                by_number(self.message).map(|record| copied(py, record, &self.payload)).transpose()
            }
            _ => Ok(None),
        }
    }
}

/// What the messages in an array are.
struct Kind {
    /// The number of the message; None: whatever has the size.
    id: Option<u16>,
    /// Bytes of a message.
    size: usize,
    /// numpy's type of it, with what stands before it.
    dtype: Py<PyAny>,
}

/// A reader, loose or gated.
#[pyclass(unsendable, module = "colo")]
pub(crate) struct Reader {
    reader: journal::Reader,
    seat: Option<u32>,
    /// What arrays are of.
    kind: RefCell<Option<Kind>>,
    /// Filled in turn: a loop still holds the one before when it asks for the next.
    frames: [Option<Py<Frame>>; 2],
    /// Bytes that were lost while arrays were read.
    #[pyo3(get)]
    lost: u64,
    /// Frames of other messages that arrays pass over.
    #[pyo3(get)]
    passed_over: u64,
}

impl Reader {
    fn of(reader: journal::Reader, seat: Option<u32>) -> Reader {
        Reader { reader, seat, kind: RefCell::new(None), frames: [None, None], lost: 0, passed_over: 0 }
    }
}

fn tuple<'py>(py: Python<'py>, frame: &journal::Frame<'_>) -> PyResult<Bound<'py, PyTuple>> {
    let records = PyList::empty(py);
    if frame.flags & journal::layout::frame::RECORD != 0 {
        for (position, record) in frame.records() {
            records.append((position, PyBytes::new(py, record)))?;
        }
    }
    let journal::Frame { position, message_id, topic, flags, time, epoch, payload } = *frame;
    (position, message_id, topic, flags, time, epoch, PyBytes::new(py, payload), records).into_pyobject(py)
}

#[pymethods]
impl Reader {
    /// The position of the next frame.
    #[getter]
    fn position(&self) -> u64 {
        self.reader.position()
    }

    /// The next frame, copied, as (position, message, topic, flags, time, epoch, payload, records); None if none is there yet.
    fn read<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.reader.read() {
            Ok(Some(frame)) => tuple(py, &frame).map(Some),
            Ok(None) => Ok(None),
            Err(error) => Err(read_error(py, error)),
        }
    }

    /// The next frame; None if none is there yet. It is not changed as long as somebody keeps it.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<Py<Frame>>> {
        let found = match self.reader.read() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(error) => return Err(read_error(py, error)),
        };
        self.frames.swap(0, 1);
        let is_free = self.frames[0].as_ref().is_some_and(|frame| references(frame.bind(py)) == 1);
        if !is_free {
            self.frames[0] = Some(Py::new(py, Frame::new())?);
        }
        let Some(frame) = &self.frames[0] else { return Ok(None) };
        let mut place = frame.borrow_mut(py);
        place.position = found.position;
        place.message = found.message_id;
        place.topic = found.topic;
        place.time = found.time;
        place.epoch = found.epoch;
        place.payload.clear();
        place.payload.extend_from_slice(found.payload);
        drop(place);
        Ok(Some(frame.clone_ref(py)))
    }

    /// At most so many messages, copied into an array of numpy's; None if none is there yet. `kind` is their class, None: that of
    /// the first frame; or a type of numpy's, for messages of one's own: all that are as large as it. Others are passed over and
    /// counted, and so is what the writer overtook.
    fn array<'py>(
        &mut self,
        py: Python<'py>,
        kind: Option<&Bound<'py, PyAny>>,
        most: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(kind) = kind
            && self.kind.borrow().is_none()
        {
            self.choose(kind)?;
        }
        let mut memory: Option<Memory> = None;
        let (mut count, mut chosen) = (0, self.kind.borrow().as_ref().map(|kind| (kind.id, kind.size)));
        while count < most {
            let frame = match self.reader.read() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(ReadError::Lapped(gap)) => {
                    self.lost += gap.bytes();
                    continue;
                }
                Err(error) => return Err(read_error(py, error)),
            };
            if chosen.is_none() {
                chosen = message_type(frame.message_id).map(|known| (Some(known.id), known.record.size));
            }
            let Some((id, size)) = chosen else { continue };
            let item = HEAD_BYTES + size;
            if id.is_some_and(|id| frame.message_id != id) || frame.payload.len() != size {
                self.passed_over += 1;
                continue;
            }
            let place = match &mut memory {
                Some(memory) => memory,
                None => memory.insert(Memory::new(py, most * item)?),
            };
            let at = count * item;
            place.put(at, &frame.position.to_le_bytes());
            place.put(at + 8, &frame.time.to_le_bytes());
            place.put(at + 16, &frame.topic.to_le_bytes());
            place.put(at + 20, &frame.epoch.to_le_bytes());
            place.put(at + HEAD_BYTES, frame.payload);
            count += 1;
        }
        self.reader.publish();
        let (Some(memory), Some((id, _))) = (memory, chosen) else { return Ok(None) };
        if let Some(id) = id
            && self.kind.borrow().is_none()
        {
            self.choose_message(py, id)?;
        }
        let kind = self.kind.borrow();
        let Some(Kind { dtype, .. }) = kind.as_ref() else { return Ok(None) };
        memory.records(dtype.bind(py), count).map(Some)
    }

    /// Moves a gated reader's cursor behind what was read.
    fn publish(&mut self) {
        self.reader.publish();
    }

    /// Prevents frames from this position on from being overwritten although they were read.
    fn keep(&mut self, py: Python<'_>, position: u64) -> PyResult<()> {
        match &mut self.reader {
            journal::Reader::Gated(reader) => {
                reader.keep(position);
                Ok(())
            }
            journal::Reader::Loose(_) => Err(coded(py, "usage", "a loose reader keeps nothing")),
        }
    }

    /// True when there is a frame.
    fn has_news(&self) -> bool {
        self.reader.has_news()
    }

    /// Sleeps in its seat until a writer wakes it: `news`, `woken` or `timeout`. Other threads run meanwhile.
    fn park(&mut self, py: Python<'_>, registry: &Registry, timeout_ns: u64) -> PyResult<&'static str> {
        registry.registry.check_process().map_err(|error| coded(py, "forked", error))?;
        let parker = self.seat.and_then(|seat| Parker::new(Arc::clone(&registry.registry), seat));
        let Some(parker) = parker else { return Err(coded(py, "usage", "it reads without a seat")) };
        self.reader.publish();
        let timeout = Duration::from_nanos(timeout_ns);
        let reader = Apart(&self.reader, &parker);
        let slept = py.detach(move || {
            let reader = reader;
            reader.1.park(timeout, || reader.0.has_news())
        });
        Ok(match slept {
            None => "news",
            Some(Wakeup::Woken) => "woken",
            Some(Wakeup::TimedOut) => "timeout",
        })
    }
}

/// What stays on its thread although the closure that detaches wants to be sent.
struct Apart<'a>(&'a journal::Reader, &'a Parker);

// SAFETY: `Python::detach` calls the closure on the thread that it is called on.
unsafe impl Send for Apart<'_> {}

impl Reader {
    fn choose(&self, kind: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_dtype(kind)? {
            let size = kind.getattr("itemsize")?.extract()?;
            let dtype = foreign(kind, HEAD_BYTES, HEAD)?.unbind();
            *self.kind.borrow_mut() = Some(Kind { id: None, size, dtype });
            return Ok(());
        }
        let (id, _) = by_class(kind).ok_or_else(|| {
            PyValueError::new_err("name a message, as colo.Quote, or give a numpy.dtype with fields")
        })?;
        self.choose_message(kind.py(), id)
    }

    fn choose_message(&self, py: Python<'_>, id: u16) -> PyResult<()> {
        if let Some(record) = by_number(id) {
            let dtype = described(py, record, HEAD_BYTES, HEAD)?.unbind();
            *self.kind.borrow_mut() = Some(Kind { id: Some(id), size: record.size, dtype });
        }
        Ok(())
    }
}
