//! The side of the plug-in.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use node::protocol::Assignment;
use node::{Exit, Front, Node, RunError, Steps};
use serde_json::Value;

use crate::table::{
    ABI, Answer, ERROR, FrontTable, GIVES_UP, MAGIC, NO, Request, Sink, Table, Text, YES, formats,
};

/// What a plug-in runs.
pub trait Export {
    /// Sets up the program of a node.
    ///
    /// # Errors
    /// [`RunError`], with its exit code.
    fn steps(node: Node) -> Result<Box<dyn Steps>, RunError>;

    /// Whether it takes these parameters.
    ///
    /// # Errors
    /// Why not.
    fn check(parameters: Value) -> Result<(), String>;
}

/// The table of a plug-in that runs `E`.
pub fn table<E: Export>() -> *const Table {
    // Leaked once a call, of which there is one: a constant cannot hold the hash, and the table is there for ever.
    Box::leak(Box::new(Table {
        magic: MAGIC,
        abi: ABI,
        bytes: size_of::<Table>() as u32,
        formats: formats(),
        version: version(),
        unwinds: u32::from(cfg!(panic = "unwind")),
        reserved: 0,
        check: check::<E>,
        open: open::<E>,
        start,
        step,
        has_news,
        deadline,
        holds_back,
        wants_to_stop,
        begin_stop,
        drain,
        stop,
        ended,
        close,
    }))
}

fn version() -> [u8; 24] {
    let mut version = [0; 24];
    let text = env!("CARGO_PKG_VERSION").as_bytes();
    let length = text.len().min(version.len());
    version[..length].copy_from_slice(&text[..length]);
    version
}

/// A node of the plug-in.
type Turned = Box<dyn Steps>;

/// Whoever gives seats, on the other side.
#[derive(Debug)]
struct RemoteFront(FrontTable);

// SAFETY: behind the pointer is an `Arc<dyn Front>` of the other side, and `Front` is `Send` and `Sync`.
unsafe impl Send for RemoteFront {}
// SAFETY: as above.
unsafe impl Sync for RemoteFront {}

impl Front for RemoteFront {
    fn seat(&self, name: &str) -> Result<Assignment, String> {
        let mut said = String::new();
        // SAFETY: the table lives until `free`, which only `Drop` calls; text and sink live until the call returns.
        let answer = unsafe { (self.0.seat)(self.0.front, Text::of(name), Sink::into(&mut said)) };
        match answer {
            YES => serde_json::from_str(&said).map_err(|error| error.to_string()),
            _ => Err(said),
        }
    }

    fn left(&self, seat: u32) {
        // SAFETY: as above.
        unsafe { (self.0.left)(self.0.front, seat) }
    }
}

impl Drop for RemoteFront {
    fn drop(&mut self) {
        // SAFETY: once, and nothing is called after it.
        unsafe { (self.0.free)(self.0.front) }
    }
}

unsafe extern "C" fn check<E: Export>(parameters: Text, sink: Sink) -> Answer {
    guarded(sink, || {
        // SAFETY: the caller lends the text until this function returns.
        let parameters = serde_json::from_str(unsafe { parameters.read() })
            .map_err(|error| RunError::failed(error.to_string()))?;
        E::check(parameters).map(|()| true).map_err(RunError::failed)
    })
}

unsafe extern "C" fn open<E: Export>(
    request: Text,
    front: FrontTable,
    sink: Sink,
    opened: *mut *mut c_void,
) -> Answer {
    let front = RemoteFront(front);
    guarded(sink, || {
        // SAFETY: the caller lends the text until this function returns.
        let text = unsafe { request.read() };
        let Request { instance, log, assignment } = serde_json::from_str(text)
            .map_err(|error| RunError::failed(format!("its assignment: {error}")))?;
        if let Err(error) = node::start_log_in(&log) {
            return Err(RunError::failed(format!("cannot write {}: {error}", log.display())));
        }
        let node = Node::seated_in(&instance, assignment, Arc::new(front))?;
        let turned: Box<Turned> = Box::new(E::steps(node)?);
        // SAFETY: the caller gives a place for one pointer.
        unsafe { opened.write(Box::into_raw(turned).cast()) };
        Ok(true)
    })
}

/// The node behind a pointer that [`open`] gave.
///
/// # Safety
/// Not closed yet, and used by one thread at a time: the contract of the table.
unsafe fn node_of<'a>(turned: *mut c_void) -> &'a mut Turned {
    // SAFETY: [`open`] made it from a box of this type, and the contract says that nobody else uses it.
    unsafe { &mut *turned.cast::<Turned>() }
}

unsafe extern "C" fn start(turned: *mut c_void, sink: Sink) -> Answer {
    // SAFETY: the table's contract, here and below.
    let turned = unsafe { node_of(turned) };
    guarded(sink, || turned.start().map(|()| true))
}

unsafe extern "C" fn step(turned: *mut c_void, sink: Sink) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    guarded(sink, || turned.step())
}

unsafe extern "C" fn has_news(turned: *mut c_void) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    // A panic here comes again in the step that follows, where it can be said.
    silently(YES, || Answer::from(turned.has_news()))
}

unsafe extern "C" fn deadline(turned: *mut c_void, at: *mut u64) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    silently(NO, || match turned.deadline() {
        Some(deadline) => {
            // SAFETY: the caller gives a place for one number.
            unsafe { at.write(deadline) };
            YES
        }
        None => NO,
    })
}

unsafe extern "C" fn holds_back(turned: *mut c_void) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    silently(NO, || Answer::from(turned.holds_back()))
}

unsafe extern "C" fn wants_to_stop(turned: *mut c_void) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    silently(NO, || Answer::from(turned.wants_to_stop()))
}

unsafe extern "C" fn begin_stop(turned: *mut c_void) {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    silently(NO, || {
        turned.begin_stop();
        YES
    });
}

unsafe extern "C" fn drain(turned: *mut c_void, sink: Sink) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    guarded(sink, || turned.drain())
}

unsafe extern "C" fn stop(turned: *mut c_void, sink: Sink) -> Answer {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    guarded(sink, || turned.stop().map(|()| true))
}

unsafe extern "C" fn ended(turned: *mut c_void, outcome: Answer) {
    // SAFETY: see `start`.
    let turned = unsafe { node_of(turned) };
    silently(NO, || {
        turned.ended(&match outcome {
            NO | YES => Ok(()),
            error if error & GIVES_UP != 0 => Err(RunError::GivesUp(String::new())),
            error => Err(RunError::Component { message: String::new(), exit: exit_of(error) }),
        });
        YES
    });
}

unsafe extern "C" fn close(turned: *mut c_void) {
    // SAFETY: [`open`] made it from a box of this type, and the table says that it is closed once.
    let turned = unsafe { Box::from_raw(turned.cast::<Turned>()) };
    silently(NO, || {
        drop(turned);
        YES
    });
}

/// An error in numbers.
pub(crate) fn answer_of(error: &RunError) -> Answer {
    let gives_up = matches!(error, RunError::GivesUp(_));
    ERROR + Answer::from(error.exit().code()) + if gives_up { GIVES_UP } else { 0 }
}

pub(crate) fn exit_of(answer: Answer) -> Exit {
    let code = (answer & !GIVES_UP) - ERROR;
    let known = [
        Exit::Usage,
        Exit::HostUnfit,
        Exit::CheckFailed,
        Exit::Inconclusive,
        Exit::NoMaster,
        Exit::CannotCreate,
        Exit::Permission,
    ];
    known.into_iter().find(|exit| Answer::from(exit.code()) == code).unwrap_or(Exit::Failed)
}

/// A panic is an error in the words that the one process has for its own nodes.
fn guarded(sink: Sink, call: impl FnOnce() -> Result<bool, RunError>) -> Answer {
    let error = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => return Answer::from(answer),
        Ok(Err(error)) => error,
        Err(panic) => {
            let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
            let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
            RunError::failed(format!("panicked: {}", words.unwrap_or_default()))
        }
    };
    // SAFETY: the sink is that of the call which this function is a part of.
    unsafe { sink.say(&error.to_string()) };
    answer_of(&error)
}

fn silently(otherwise: Answer, call: impl FnOnce() -> Answer) -> Answer {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(otherwise)
}
