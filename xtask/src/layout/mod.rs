//! What bindings in other languages need to know of shared memory, made from the constants of `journal` and the table of
//! fields of `wire`: so no offset is written down twice.
//!
//! ```text
//!   journal::layout ─► journals ─┐                  ┌─► bindings/c/include/*.h
//!                                ├─► Group, Constant ┼─► bindings/go/layout/*.go
//!   wire::schema ────► messages ─┘                  ├─► bindings/java/…/*.java
//!                                                   └─► bindings/layout/*.py
//! ```

mod c;
mod go;
mod java;
mod journals;
mod messages;
mod names;
mod python;

pub use journals::journals;
pub use messages::messages;

/// A named number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// In capitals, words separated by `_`.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// What it is, in one line; empty where the name says it.
    pub doc: String,
}

/// A number as other languages have to write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Fits into 32 bits with a sign.
    Small(u32),
    /// 64 bits, without a sign: a hash, or a text of eight bytes.
    Word(u64),
    /// 64 bits with a sign.
    Signed(i64),
}

/// Constants that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they are.
    pub doc: String,
    /// In their order.
    pub constants: Vec<Constant>,
}

/// Every file that is made: where it lies below the workspace, and what is in it.
pub(crate) fn files() -> Vec<(String, String)> {
    let (journals, messages) = (journals(), messages());
    let of_journals =
        "Offsets of journals and the registry in bytes, and their constants: docs/journal-format.md.";
    let of_messages =
        "Numbers, sizes and offsets of the messages in bytes, enumerations, flags: docs/messages.md.";
    let files = [
        ("bindings/c/include/colo_layout.h", c::constants("COLO_LAYOUT_H", of_journals, &journals)),
        ("bindings/c/include/colo_messages.h", c::structures()),
        ("bindings/go/layout/journals.go", go::constants(of_journals, &journals)),
        ("bindings/go/layout/messages.go", go::constants(of_messages, &messages)),
        (
            "bindings/java/src/layout/colo/layout/Journals.java",
            java::constants("Journals", of_journals, &journals),
        ),
        (
            "bindings/java/src/layout/colo/layout/Messages.java",
            java::constants("Messages", of_messages, &messages),
        ),
        ("bindings/layout/journals.py", python::constants(of_journals, &journals)),
        ("bindings/layout/messages.py", python::constants(of_messages, &messages)),
    ];
    files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect()
}

/// The line that says where a file comes from.
const MADE: &str = "Made by `cargo xtask gen` from the constants of colo; do not edit.";
