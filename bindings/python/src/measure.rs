//! What the interpreter allocates, counted.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use pyo3::prelude::*;

/// `PyMemAllocatorEx`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Allocator {
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

/// The interpreter's domains: for memory, and for objects.
const DOMAINS: [c_int; 2] = [1, 2];

thread_local! {
    /// Blocks and bytes that this thread has asked for.
    static COUNTED: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

fn count(bytes: usize) {
    let (blocks, all) = COUNTED.get();
    COUNTED.set((blocks + 1, all + bytes as u64));
}

/// The allocator behind ours.
///
/// # Safety
/// `context` is what `Counting::begin` gave.
unsafe fn behind<'a>(context: *mut c_void) -> &'a Allocator {
    // SAFETY: as above; it is never freed.
    unsafe { &*context.cast::<Allocator>() }
}

unsafe extern "C" fn malloc(context: *mut c_void, bytes: usize) -> *mut c_void {
    count(bytes);
    // SAFETY: called by the interpreter with our context.
    unsafe { (behind(context).malloc)(behind(context).context, bytes) }
}

unsafe extern "C" fn calloc(context: *mut c_void, number: usize, bytes: usize) -> *mut c_void {
    count(number * bytes);
    // SAFETY: as in `malloc`.
    unsafe { (behind(context).calloc)(behind(context).context, number, bytes) }
}

unsafe extern "C" fn realloc(context: *mut c_void, place: *mut c_void, bytes: usize) -> *mut c_void {
    count(bytes);
    // SAFETY: as in `malloc`.
    unsafe { (behind(context).realloc)(behind(context).context, place, bytes) }
}

unsafe extern "C" fn free(context: *mut c_void, place: *mut c_void) {
    // SAFETY: as in `malloc`.
    unsafe { (behind(context).free)(behind(context).context, place) }
}

type Exchange = unsafe extern "C" fn(c_int, *mut Allocator);

/// A function of the interpreter that is not in its stable interface: it is looked for, and may be missing.
fn function(name: &std::ffi::CStr) -> Option<Exchange> {
    // SAFETY: a name that ends; the interpreter is loaded already.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: both functions that are asked for have this type since Python 3.4.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Exchange>(found) })
}

/// Counts until it is dropped.
struct Counting {
    set: Exchange,
    old: Vec<(c_int, Allocator)>,
}

impl Counting {
    fn begin() -> Option<Counting> {
        let (get, set) = (function(c"PyMem_GetAllocator")?, function(c"PyMem_SetAllocator")?);
        let old = DOMAINS.map(|domain| {
            let mut old = Allocator { context: std::ptr::null_mut(), malloc, calloc, realloc, free };
            // SAFETY: the interpreter's lock is held.
            unsafe { get(domain, &raw mut old) };
            // Never freed: the interpreter may have kept a copy. It is a few words for each measurement.
            let context = Box::into_raw(Box::new(old)).cast::<c_void>();
            let mut ours = Allocator { context, malloc, calloc, realloc, free };
            // SAFETY: the lock is held; ours hands out the memory of the one before, so each may free the other's.
            unsafe { set(domain, &raw mut ours) };
            (domain, old)
        });
        Some(Counting { set, old: old.to_vec() })
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        for (domain, allocator) in &mut self.old {
            // SAFETY: as in `begin`.
            unsafe { (self.set)(*domain, allocator) };
        }
    }
}

/// Calls a function, and says how often this thread allocated memory meanwhile and how many bytes, also what was freed at once. None
/// where the interpreter does not let others count.
#[pyfunction]
pub(crate) fn count_allocations(function: &Bound<'_, PyAny>) -> PyResult<Option<(u64, u64)>> {
    let Some(counting) = Counting::begin() else {
        function.call0()?;
        return Ok(None);
    };
    let before = COUNTED.get();
    let result = function.call0();
    let after = COUNTED.get();
    drop(counting);
    result?;
    Ok(Some((after.0 - before.0, after.1 - before.1)))
}
