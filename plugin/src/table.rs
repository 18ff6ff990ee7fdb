//! What both sides agree on.

use std::ffi::c_void;

use serde::{Deserialize, Serialize};

/// Begins each table.
pub(crate) const MAGIC: [u8; 8] = *b"COLOPLUG";
/// Grows with every change of what is in this file.
pub(crate) const ABI: u32 = 1;
/// The function that a plug-in exports. It answers with its table, which is there for ever.
#[cfg(feature = "load")]
pub(crate) const SYMBOL: &[u8] = b"colo_plugin\0";

/// What a call answers: no, yes, or 2 plus the exit code of an error, whose words went to the [`Sink`] before.
pub(crate) type Answer = i32;
pub(crate) const NO: Answer = 0;
pub(crate) const YES: Answer = 1;
pub(crate) const ERROR: Answer = 2;
/// Added to an error with which the run ends.
pub(crate) const GIVES_UP: Answer = 1 << 16;

/// Bytes of UTF-8 that the caller lends for the time of the call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Text {
    pub(crate) bytes: *const u8,
    pub(crate) length: usize,
}

/// Where the callee puts a text; it is copied.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Sink {
    pub(crate) to: *mut c_void,
    pub(crate) put: unsafe extern "C" fn(*mut c_void, Text),
}

/// Who gives seats, for a plug-in that is a host. Whoever has it calls `free` once, and nothing after that.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct FrontTable {
    pub(crate) front: *mut c_void,
    /// The seat of the node of this name: YES and its assignment, or NO and the reason.
    pub(crate) seat: unsafe extern "C" fn(*mut c_void, Text, Sink) -> Answer,
    /// The node in this seat has left.
    pub(crate) left: unsafe extern "C" fn(*mut c_void, u32),
    pub(crate) free: unsafe extern "C" fn(*mut c_void),
}

/// What a plug-in offers. The first four fields are the same in every version.
///
/// All functions but `check` and `open` take what `open` gave, from one thread at a time, until `close`.
#[derive(Debug)]
#[repr(C)]
pub struct Table {
    pub(crate) magic: [u8; 8],
    pub(crate) abi: u32,
    /// Of this table.
    pub(crate) bytes: u32,
    /// [`formats`] of the plug-in.
    pub(crate) formats: u64,
    /// Version of colo that it was built from: UTF-8, filled up with zeros.
    pub(crate) version: [u8; 24],
    /// 1: a panic unwinds, and is caught. 0: it aborts the process.
    pub(crate) unwinds: u32,
    pub(crate) reserved: u32,
    /// Whether the strategy takes these parameters (a JSON object); an error's words say why not.
    pub(crate) check: unsafe extern "C" fn(Text, Sink) -> Answer,
    /// Sets a node up: a [`Request`] as JSON. The last pointer receives what the others take.
    pub(crate) open: unsafe extern "C" fn(Text, FrontTable, Sink, *mut *mut c_void) -> Answer,
    pub(crate) start: unsafe extern "C" fn(*mut c_void, Sink) -> Answer,
    pub(crate) step: unsafe extern "C" fn(*mut c_void, Sink) -> Answer,
    pub(crate) has_news: unsafe extern "C" fn(*mut c_void) -> Answer,
    /// YES: the time is stored.
    pub(crate) deadline: unsafe extern "C" fn(*mut c_void, *mut u64) -> Answer,
    pub(crate) holds_back: unsafe extern "C" fn(*mut c_void) -> Answer,
    pub(crate) wants_to_stop: unsafe extern "C" fn(*mut c_void) -> Answer,
    pub(crate) begin_stop: unsafe extern "C" fn(*mut c_void),
    pub(crate) drain: unsafe extern "C" fn(*mut c_void, Sink) -> Answer,
    pub(crate) stop: unsafe extern "C" fn(*mut c_void, Sink) -> Answer,
    /// How the node ended: NO, or the error's answer.
    pub(crate) ended: unsafe extern "C" fn(*mut c_void, Answer),
    pub(crate) close: unsafe extern "C" fn(*mut c_void),
}

const _: () = assert!(size_of::<Table>() == 8 + 4 + 4 + 8 + 24 + 8 + 13 * size_of::<usize>(), "no padding");

/// What a node is set up from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) instance: String,
    /// Where its log goes.
    pub(crate) log: std::path::PathBuf,
    pub(crate) assignment: node::protocol::Assignment,
}

/// A number that differs between any two versions whose journals, messages or registrations differ: FNV-1a.
pub fn formats() -> u64 {
    let mut hash = Fnv::new();
    hash.word(journal::layout::layout_hash());
    hash.word(u64::from(node::protocol::PROTOCOL_VERSION));
    hash.text(env!("CARGO_PKG_VERSION"));
    for message in wire::schema::TABLE {
        hash.word(u64::from(message.id));
        hash.text(message.record.name);
        hash.word(message.record.size as u64);
        for field in message.record.fields {
            hash.text(field.name);
            hash.word(field.offset as u64);
        }
    }
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    fn word(&mut self, word: u64) {
        word.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    fn text(&mut self, text: &str) {
        text.bytes().chain([0]).for_each(|byte| self.byte(byte));
    }
}

impl Text {
    pub(crate) fn of(text: &str) -> Text {
        Text { bytes: text.as_ptr(), length: text.len() }
    }

    /// The text.
    ///
    /// # Safety
    /// The caller of the function that got it lends the bytes until that returns, and this is not kept longer.
    pub(crate) unsafe fn read<'a>(self) -> &'a str {
        // SAFETY: the caller's contract; a null pointer comes with no length, and is replaced.
        let bytes: &[u8] = match self.bytes.is_null() {
            true => &[],
            // SAFETY: as above.
            false => unsafe { std::slice::from_raw_parts(self.bytes, self.length) },
        };
        std::str::from_utf8(bytes).unwrap_or("(no UTF-8)")
    }
}

impl Sink {
    /// Into this string.
    pub(crate) fn into(text: &mut String) -> Sink {
        Sink { to: std::ptr::from_mut(text).cast(), put }
    }

    /// Hands a text over.
    ///
    /// # Safety
    /// The call that brought this sink has not returned.
    pub(crate) unsafe fn say(self, text: &str) {
        // SAFETY: who made the sink keeps its target until the call returns, and copies.
        unsafe { (self.put)(self.to, Text::of(text)) }
    }
}

/// # Safety
/// `to` is the string of [`Sink::into`], borrowed until the call returns that the sink was made for.
unsafe extern "C" fn put(to: *mut c_void, text: Text) {
    // SAFETY: the contract above, and nobody else has the string meanwhile: it is mutably borrowed for that call.
    let (to, text) = unsafe { (&mut *to.cast::<String>(), text.read()) };
    to.clear();
    to.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_go_through_a_sink_whole() {
        let mut text = "old".to_owned();
        let sink = Sink::into(&mut text);
        // SAFETY: the string is there, and nobody else uses it.
        unsafe { sink.say("µs and more") };
        assert_eq!(text, "µs and more");
        let nothing = Text { bytes: std::ptr::null(), length: 0 };
        // SAFETY: null is read as nothing.
        assert_eq!(unsafe { nothing.read() }, "");
    }

    #[test]
    fn formats_are_the_same_each_time_and_no_small_number() {
        assert_eq!(formats(), formats());
        assert!(formats() > u64::from(u32::MAX));
    }
}
