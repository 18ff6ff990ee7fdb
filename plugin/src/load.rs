//! The side that runs plug-ins.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::{Library, Symbol};
use node::protocol::Assignment;
use node::{Front, RunError, Steps};
use serde_json::Value;

use crate::export::{answer_of, exit_of};
use crate::table::{
    ABI, Answer, ERROR, FrontTable, GIVES_UP, MAGIC, NO, Request, SYMBOL, Sink, Table, Text, YES, formats,
};

/// A shared library cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The system does not load it, or it is no plug-in.
    #[error("{} cannot be loaded: {source}", path.display())]
    Load {
        /// Which.
        path: PathBuf,
        /// The system's answer.
        source: libloading::Error,
    },
    /// Something else has that name.
    #[error("{} is no plug-in of colo", .0.display())]
    NoPlugin(PathBuf),
    /// The table is of another version.
    #[error(
        "{} has version {found} of the interface of plug-ins, this colo has {ABI}: build both from one version of colo", path.display()
    )]
    Abi {
        /// Which.
        path: PathBuf,
        /// What it says.
        found: u32,
    },
    /// What it would write into the journals is of another version.
    #[error(
        "{} was built with colo {version}, whose journals or messages are other ones than those of this colo, {}: build both from one version",
        path.display(), env!("CARGO_PKG_VERSION")
    )]
    Formats {
        /// Which.
        path: PathBuf,
        /// What it was built from.
        version: String,
    },
    /// A panic in it would end the run.
    #[error(
        "{} aborts when it panics, which would end the whole run: build it without `panic = \"abort\"`", .0.display()
    )]
    Aborts(PathBuf),
}

/// A loaded plug-in. It stays loaded until the process ends: threads may have ends of their own in its code.
pub struct Plugin {
    path: PathBuf,
    table: &'static Table,
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Loads it, and looks whether it fits. Its constructors run: whoever names it trusts it as a program.
    ///
    /// # Errors
    /// [`PluginError`].
    pub fn load(path: &Path) -> Result<Plugin, PluginError> {
        let failed = |source| PluginError::Load { path: path.to_owned(), source };
        // SAFETY: what it runs while it is loaded is the user's own program, as everything that a platform file names.
        let library = ManuallyDrop::new(unsafe { Library::new(path) }.map_err(failed)?);
        // SAFETY: a function of this name and type is what `strategy_sdk::export!` makes; the magic below tells others.
        let table: Symbol<'_, unsafe extern "C" fn() -> *const Table> =
            unsafe { library.get(SYMBOL) }.map_err(failed)?;
        // SAFETY: as above.
        let table = unsafe { table() };
        // SAFETY: the table of a plug-in is there for ever, and the library stays.
        let table = unsafe { checked(path, table) }?;
        Ok(Plugin { path: path.to_owned(), table })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its strategy takes these parameters.
    ///
    /// # Errors
    /// Why not.
    pub fn check(&self, parameters: &Value) -> Result<(), String> {
        let (text, mut said) = (parameters.to_string(), String::new());
        // SAFETY: text and sink live until the call returns.
        match unsafe { (self.table.check)(Text::of(&text), Sink::into(&mut said)) } {
            NO | YES => Ok(()),
            _ => Err(said),
        }
    }

    /// Sets up a node with it.
    ///
    /// # Errors
    /// [`RunError`], in the plug-in's words and with its exit code.
    pub fn steps(
        &self,
        instance: &str,
        log: &Path,
        assignment: Assignment,
        front: Arc<dyn Front>,
    ) -> Result<Box<dyn Steps>, RunError> {
        let name = assignment.node.clone();
        let request = Request { instance: instance.to_owned(), log: log.to_owned(), assignment };
        let request = serde_json::to_string(&request).map_err(|error| RunError::failed(error.to_string()))?;
        let (mut said, mut turned) = (String::new(), std::ptr::null_mut());
        // SAFETY: all arguments live until the call returns, but the front, which the plug-in frees by its table.
        let answer = unsafe {
            (self.table.open)(Text::of(&request), remote(front), Sink::into(&mut said), &raw mut turned)
        };
        outcome(answer, &said)?;
        Ok(Box::new(Turned { name, table: self.table, turned }))
    }
}

/// The table, if it is one that this version can use.
///
/// # Safety
/// Null, or what a plug-in answered: the first four fields of a [`Table`], the rest as the number of the ABI says, there for ever.
unsafe fn checked(path: &Path, table: *const Table) -> Result<&'static Table, PluginError> {
    if table.is_null() || !table.is_aligned() {
        return Err(PluginError::NoPlugin(path.to_owned()));
    }
    // SAFETY: these fields are the same in every version.
    let (magic, abi, bytes) = unsafe { ((*table).magic, (*table).abi, (*table).bytes) };
    if magic != MAGIC {
        return Err(PluginError::NoPlugin(path.to_owned()));
    }
    if abi != ABI || bytes as usize != size_of::<Table>() {
        return Err(PluginError::Abi { path: path.to_owned(), found: abi });
    }
    // SAFETY: a table of this version, never changed.
    let table: &'static Table = unsafe { &*table };
    if table.formats != formats() {
        let version = String::from_utf8_lossy(&table.version).trim_end_matches('\0').to_owned();
        return Err(PluginError::Formats { path: path.to_owned(), version });
    }
    if table.unwinds == 0 {
        return Err(PluginError::Aborts(path.to_owned()));
    }
    Ok(table)
}

/// A node that a plug-in turns.
struct Turned {
    name: String,
    table: &'static Table,
    turned: *mut c_void,
}

impl Turned {
    fn call(&mut self, call: unsafe extern "C" fn(*mut c_void, Sink) -> Answer) -> Result<bool, RunError> {
        let mut said = String::new();
        // SAFETY: `turned` is what `open` gave, not closed before this is dropped, and `&mut self` says that nobody else uses
        // it; the sink lives until the call returns. So for the calls below.
        let answer = unsafe { call(self.turned, Sink::into(&mut said)) };
        outcome(answer, &said)
    }

    fn ask(&self, ask: unsafe extern "C" fn(*mut c_void) -> Answer) -> bool {
        // SAFETY: see `call`. Not `Send` nor `Sync`, so no other thread calls meanwhile.
        unsafe { ask(self.turned) == YES }
    }
}

impl Steps for Turned {
    fn name(&self) -> &str {
        &self.name
    }

    fn start(&mut self) -> Result<(), RunError> {
        self.call(self.table.start).map(drop)
    }

    fn step(&mut self) -> Result<bool, RunError> {
        self.call(self.table.step)
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.ask(self.table.has_news)
    }

    fn deadline(&self) -> Option<u64> {
        let mut at = 0;
        // SAFETY: see `call`; the number lives until it returns.
        let answer = unsafe { (self.table.deadline)(self.turned, &raw mut at) };
        (answer == YES).then_some(at)
    }

    fn holds_back(&self) -> bool {
        self.ask(self.table.holds_back)
    }

    fn wants_to_stop(&self) -> bool {
        self.ask(self.table.wants_to_stop)
    }

    fn begin_stop(&mut self) {
        // SAFETY: see `call`.
        unsafe { (self.table.begin_stop)(self.turned) }
    }

    fn drain(&mut self) -> Result<bool, RunError> {
        self.call(self.table.drain)
    }

    fn stop(&mut self) -> Result<(), RunError> {
        self.call(self.table.stop).map(drop)
    }

    fn ended(&self, outcome: &Result<(), RunError>) {
        let answer = outcome.as_ref().map_or_else(answer_of, |()| NO);
        // SAFETY: see `ask`.
        unsafe { (self.table.ended)(self.turned, answer) }
    }
}

impl Drop for Turned {
    fn drop(&mut self) {
        // SAFETY: once, and nothing is called after it.
        unsafe { (self.table.close)(self.turned) }
    }
}

fn outcome(answer: Answer, said: &str) -> Result<bool, RunError> {
    match answer {
        NO => Ok(false),
        YES => Ok(true),
        error if error & GIVES_UP != 0 => Err(RunError::GivesUp(said.to_owned())),
        error if error >= ERROR => {
            Err(RunError::Component { message: said.to_owned(), exit: exit_of(error) })
        }
        other => Err(RunError::failed(format!("its plug-in answered {other}, which means nothing"))),
    }
}

/// The front for a plug-in, which owns it from now on.
fn remote(front: Arc<dyn Front>) -> FrontTable {
    FrontTable { front: Box::into_raw(Box::new(front)).cast(), seat, left, free }
}

/// # Safety
/// `front` is of [`remote`] and not freed.
unsafe fn front_of<'a>(front: *mut c_void) -> &'a Arc<dyn Front> {
    // SAFETY: [`remote`] made it from a box of this type; it is shared from here on, and `Front` is `Sync`.
    unsafe { &*front.cast::<Arc<dyn Front>>() }
}

unsafe extern "C" fn seat(front: *mut c_void, name: Text, sink: Sink) -> Answer {
    // SAFETY: the plug-in has not freed it; the name is lent until this returns.
    let (front, name) = unsafe { (front_of(front), name.read()) };
    let seated = front
        .seat(name)
        .and_then(|assignment| serde_json::to_string(&assignment).map_err(|error| error.to_string()));
    let (answer, text) = match seated {
        Ok(text) => (YES, text),
        Err(reason) => (NO, reason),
    };
    // SAFETY: the sink is that of this call.
    unsafe { sink.say(&text) };
    answer
}

unsafe extern "C" fn left(front: *mut c_void, seat: u32) {
    // SAFETY: the plug-in has not freed it.
    unsafe { front_of(front) }.left(seat);
}

unsafe extern "C" fn free(front: *mut c_void) {
    // SAFETY: [`remote`] made it from a box of this type, and the plug-in frees it once.
    drop(unsafe { Box::from_raw(front.cast::<Arc<dyn Front>>()) });
}

#[cfg(test)]
mod tests {
    use node::Node;

    use super::*;
    use crate::export::{Export, table};

    struct Nothing;

    impl Export for Nothing {
        fn steps(_: Node) -> Result<Box<dyn Steps>, RunError> {
            Err(RunError::failed("there is nothing to run"))
        }

        fn check(parameters: Value) -> Result<(), String> {
            assert!(parameters.get("panics").is_none(), "as it was told");
            parameters.get("size").map(drop).ok_or_else(|| "`size` is missing".to_owned())
        }
    }

    fn plugin(change: impl FnOnce(&mut Table)) -> Result<Plugin, PluginError> {
        // SAFETY: just made, and copied before anybody else sees it.
        let mut table = unsafe { std::ptr::read(table::<Nothing>()) };
        change(&mut table);
        let path = PathBuf::from("libnothing.so");
        // SAFETY: a whole table, which is leaked.
        let table = unsafe { checked(&path, Box::leak(Box::new(table))) }?;
        Ok(Plugin { path, table })
    }

    fn refused(change: impl FnOnce(&mut Table)) -> String {
        plugin(change).unwrap_err().to_string()
    }

    #[test]
    fn a_plug_in_of_another_version_is_refused_with_both_versions() {
        assert!(plugin(|_| {}).is_ok());
        assert!(refused(|table| table.magic[0] = 0).contains("libnothing.so is no plug-in of colo"));
        let abi = refused(|table| table.abi = 7);
        assert!(abi.contains("has version 7") && abi.contains("this colo has 1"), "{abi}");
        assert!(refused(|table| table.bytes += 8).contains("interface of plug-ins"));
        let formats = refused(|table| table.formats ^= 1);
        assert!(formats.contains("was built with colo") && formats.contains("from one version"), "{formats}");
        assert!(refused(|table| table.unwinds = 0).contains("panic = \"abort\""));
    }

    #[test]
    fn parameters_are_checked_through_the_table_and_a_panic_is_an_error() {
        let plugin = plugin(|_| {}).unwrap();
        assert_eq!(plugin.check(&serde_json::json!({ "size": 1 })), Ok(()));
        assert_eq!(plugin.check(&serde_json::json!({})), Err("`size` is missing".to_owned()));
        let panicked = plugin.check(&serde_json::json!({ "panics": 1 })).unwrap_err();
        assert_eq!(panicked, "panicked: as it was told");
    }
}
