//! The language of a configuration file, described once: checked text in, typed values and good diagnostics out.
//!
//! # What this crate guarantees
//!
//! - All errors of a file come at once, each with file, line, column, a caret, and what to do ([`Diagnostics`]).
//! - Every key of the effective configuration knows its value, its origin and its documentation ([`Rows::settings`]).
//! - The check, the defaults, the list of settings and the JSON Schema come from one description ([`schema`]).
//! - A value from the command line (`--set a.b=c`) passes the same check, and a diagnostic shows the argument.
//! - No input makes it panic. It reads no file but in [`read_file`], and knows nothing of what a file is about.
//!
//! ```text
//! text, --set ──▶ Document ──▶ Draft<T> ──▶ rules between ──▶ Checked<T>
//!                (keys know    (each key     keys, by the    (value, rows,
//!                their place)   by itself)   caller           warnings)
//! ```
//!
//! # A language of two tables
//!
//! ```
//! use settings::schema::{Absent, Kind, Section};
//! use settings::{ByteSize, Origin};
//!
//! settings::words! {
//!     /// When a file is flushed.
//!     pub enum Flush ("rule for flushing") {
//!         /// After each record.
//!         Always = "always",
//!         /// When the buffer is full.
//!         Full = "full",
//!     }
//! }
//!
//! settings::section! {
//!     /// Where records go.
//!     pub struct Output {
//!         /// The file.
//!         path: String = String::new(), Absent::Required("write path = \"FILE\"");
//!         /// Bytes kept in memory.
//!         buffer: ByteSize = ByteSize::kib(64);
//!         /// When it is flushed.
//!         flush: Flush = Flush::Full;
//!     }
//! }
//!
//! settings::section! {
//!     /// A recorder.
//!     pub struct Recorder {
//!         /// Threads that write.
//!         threads: u32 = 1 => Kind::Integer { min: 1, max: 16 };
//!         /// Where records go.
//!         output: Vec<Output> = Vec::new() => Kind::Tables(<Output as Section>::TABLE);
//!     }
//! }
//!
//! let text = "threads = 2\n[[output]]\npath = \"a.bin\"\nbuffer = \"1MiB\"\n";
//! let mut recorder = settings::parse::<Recorder>("rec.toml", text, &["output.0.flush=always".to_owned()])?;
//! assert_eq!(recorder.value.output[0].flush, Flush::Always);
//! let threads = &recorder.rows.settings()[0];
//! assert_eq!(threads.origin, Origin::File { file: "rec.toml".to_owned(), line: 1, column: 1 });
//!
//! let wrong = settings::parse::<Recorder>("rec.toml", "threads = 99\n[[output]]\nbufer = 3\n", &[]).unwrap_err();
//! assert_eq!(wrong.errors(), 3);
//! assert!(wrong.to_string().contains("did you mean `buffer`?"));
//! # Ok::<(), settings::Diagnostics>(())
//! ```
#![forbid(unsafe_code)]

mod diagnostic;
mod document;
mod draft;
pub mod forms;
mod load;
mod report;
mod rows;
pub mod schema;
mod suggest;
mod units;

pub use diagnostic::{Diagnostic, Diagnostics, Location, Severity};
pub use document::{Document, Span, Table};
pub use draft::{Checked, Draft, parse};
pub use load::{LoadError, read_file};
pub use report::{Noted, Report, Sources};
pub use rows::{Origin, Rows, Setting};
pub use schema::json_schema;
pub use suggest::{nearest, or_list};
pub use units::{ByteSize, CpuList, TimeOfDay, duration};
