//! A class for each message and enumeration, made from the table of fields.
//!
//! An instance shows bytes: those of an event up to the end of its call, or a copy of its own. Fields are read where they lie.

use std::ffi::{CString, c_void};

use pyo3::exceptions::{PyRuntimeError, PySystemError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use wire::schema::{Enumeration, Field, Kind, Record, TABLE};

/// An instance: the bytes that it shows, and behind it room for a copy of them.
#[repr(C)]
pub(crate) struct Shown {
    head: ffi::PyObject,
    bytes: *const u8,
    record: &'static Record,
}

/// How a getter reads.
struct Getter {
    offset: usize,
    size: usize,
    kind: Kind,
}

struct Class {
    record: &'static Record,
    class: Py<PyAny>,
}

struct Named {
    enumeration: &'static Enumeration,
    class: Py<PyAny>,
    /// By byte.
    members: Vec<Option<Py<PyAny>>>,
}

struct Classes {
    classes: Vec<Class>,
    named: Vec<Named>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

/// All records, parts before what they are part of, and all enumerations.
pub(crate) fn parts() -> (Vec<&'static Record>, Vec<&'static Enumeration>) {
    fn add(
        record: &'static Record,
        records: &mut Vec<&'static Record>,
        named: &mut Vec<&'static Enumeration>,
    ) {
        if records.iter().any(|known| known.name == record.name) {
            return;
        }
        for field in record.fields {
            match field.kind {
                Kind::Enum(kind) if !named.iter().any(|known| known.name == kind.name) => named.push(kind),
                Kind::Record(inner) | Kind::List(inner) => add(inner, records, named),
                _ => {}
            }
        }
        records.push(record);
    }
    let (mut records, mut named) = (Vec::new(), Vec::new());
    TABLE.iter().for_each(|message| add(message.record, &mut records, &mut named));
    (records, named)
}

/// `immediate-or-cancel` → `IMMEDIATE_OR_CANCEL`.
pub(crate) fn member_name(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_").to_uppercase()
}

/// True for the fields that Python sees.
pub(crate) fn is_shown(field: &Field) -> bool {
    !matches!(field.kind, Kind::Reserved)
}

/// True for the price levels of a book, which Python sees as pairs.
pub(crate) fn is_level(record: &Record) -> bool {
    record.name == "Level"
}

/// The parts of the first level of a list: `bids` → `bid_price`, `bid_quantity`.
pub(crate) fn best_of(field: &Field) -> Vec<(String, &'static Field)> {
    match field.kind {
        Kind::List(record) if is_level(record) => {
            let single = field.name.trim_end_matches('s');
            record.fields.iter().map(|part| (format!("{single}_{}", part.name), part)).collect()
        }
        _ => Vec::new(),
    }
}

/// Adds the classes to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let (records, enumerations) = parts();
    let made = CLASSES.get_or_try_init(py, || {
        let named = enumerations.iter().map(|kind| name(py, kind)).collect::<PyResult<_>>()?;
        let classes = records
            .iter()
            .map(|record| Ok(Class { record, class: class(py, record)? }))
            .collect::<PyResult<_>>()?;
        Ok::<_, PyErr>(Classes { classes, named })
    })?;
    for class in &made.classes {
        module.add(class.record.name, &class.class)?;
    }
    for named in &made.named {
        module.add(named.enumeration.name, &named.class)?;
    }
    module.add("NO_PRICE", wire::Price::NONE.0)?;
    module.add("PRICE_ONE", wire::Price::ONE)?;
    module.add("MONEY_ONE", wire::Money::ONE)?;
    Ok(())
}

/// An enumeration as an `enum.IntEnum`.
fn name(py: Python<'_>, enumeration: &'static Enumeration) -> PyResult<Named> {
    let members = PyDict::new(py);
    for member in enumeration.members {
        members.set_item(member_name(member.name), member.value)?;
    }
    let more = PyDict::new(py);
    more.set_item("module", "colo")?;
    let class = py.import("enum")?.getattr("IntEnum")?.call((enumeration.name, members), Some(&more))?;
    let mut by_byte = Vec::new();
    for byte in 0..=u8::MAX {
        let is_member = enumeration.members.iter().any(|member| member.value == byte);
        by_byte.push(if is_member { Some(class.call1((byte,))?.unbind()) } else { None });
    }
    Ok(Named { enumeration, class: class.unbind(), members: by_byte })
}

/// A text that lives as long as the process: classes do.
fn leaked(text: &str) -> *const std::ffi::c_char {
    CString::new(text.replace('\0', "")).unwrap_or_default().into_raw()
}

fn class(py: Python<'_>, record: &'static Record) -> PyResult<Py<PyAny>> {
    let mut getters = Vec::new();
    let mut add = |name: &str, doc: &str, getter: Getter| {
        getters.push(ffi::PyGetSetDef {
            name: leaked(name),
            get: Some(get),
            set: None,
            doc: leaked(doc),
            closure: Box::into_raw(Box::new(getter)).cast::<c_void>(),
        });
    };
    for field in record.fields.iter().filter(|field| is_shown(field)) {
        let Field { name, doc, offset, size, kind, .. } = *field;
        add(name, doc, Getter { offset, size, kind });
        for (name, part) in best_of(field) {
            let Field { doc, size, kind, .. } = *part;
            add(&name, doc, Getter { offset: offset + part.offset, size, kind });
        }
    }
    getters.push(ffi::PyGetSetDef::default());
    let methods = [
        ffi::PyMethodDef {
            ml_name: c"copy".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: copy },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: c"copy($self, /)\n--\n\nA copy that stays valid beyond the call.".as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ];
    let slot = |slot, pfunc: *mut c_void| ffi::PyType_Slot { slot, pfunc };
    let mut slots = [
        slot(ffi::Py_tp_doc, leaked(record.doc).cast_mut().cast()),
        slot(ffi::Py_tp_getset, Box::leak(getters.into_boxed_slice()).as_mut_ptr().cast()),
        slot(ffi::Py_tp_methods, Box::leak(Box::new(methods)).as_mut_ptr().cast()),
        slot(ffi::Py_tp_repr, represent as *mut c_void),
        slot(0, std::ptr::null_mut()),
    ];
    let mut spec = ffi::PyType_Spec {
        name: leaked(&format!("colo.{}", record.name)),
        basicsize: (size_of::<Shown>() + record.size) as i32,
        itemsize: 0,
        flags: (ffi::Py_TPFLAGS_DEFAULT
            | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION
            | ffi::Py_TPFLAGS_IMMUTABLETYPE) as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the spec is whole, its texts and tables are never freed; instances are as large as it says.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)) }.map(Bound::unbind)
}

/// An instance that shows nothing yet.
pub(crate) fn blank(py: Python<'_>, record: &'static Record) -> PyResult<Py<PyAny>> {
    let found =
        CLASSES.get(py).and_then(|all| all.classes.iter().find(|class| class.record.name == record.name));
    let Some(class) = found else {
        return Err(PySystemError::new_err(format!("there is no class {}", record.name)));
    };
    // SAFETY: a class of ours; the instance is new, as large as `Shown` and a message, and zeroed.
    unsafe {
        let new = ffi::PyType_GenericAlloc(class.class.as_ptr().cast(), 0);
        let new = Bound::from_owned_ptr_or_err(py, new)?;
        (*new.as_ptr().cast::<Shown>()).record = class.record;
        Ok(new.unbind())
    }
}

/// An instance with a copy of these bytes, of which there are as many as the record has.
pub(crate) fn copied(py: Python<'_>, record: &'static Record, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    let new = blank(py, record)?;
    if bytes.len() < record.size {
        return Err(PySystemError::new_err(format!("{} bytes are no {}", bytes.len(), record.name)));
    }
    // SAFETY: behind `Shown` there is room for a message, as its class says.
    unsafe {
        let shown = new.as_ptr().cast::<Shown>();
        let room = shown.add(1).cast::<u8>();
        room.copy_from_nonoverlapping(bytes.as_ptr(), record.size);
        (*shown).bytes = room;
    }
    Ok(new)
}

/// A copy of a message.
pub(crate) fn message<M: wire::Message + wire::schema::Described>(
    py: Python<'_>,
    message: &M,
) -> PyResult<Py<PyAny>> {
    copied(py, M::RECORD, message.bytes())
}

/// Points an instance of ours at the bytes of an event, or at nothing.
pub(crate) fn show(view: &Py<PyAny>, bytes: *const u8) {
    // SAFETY: made by `blank`, so it begins as `Shown`; under the interpreter's lock, as every access.
    unsafe { (*view.as_ptr().cast::<Shown>()).bytes = bytes };
}

/// How many references to an object there are.
pub(crate) fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: an object, under the interpreter's lock.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// The member of an enumeration with this byte.
pub(crate) fn member(py: Python<'_>, enumeration: &str, byte: u8) -> Option<Py<PyAny>> {
    let named = CLASSES.get(py)?.named.iter().find(|named| named.enumeration.name == enumeration)?;
    named.members.get(usize::from(byte))?.as_ref().map(|member| member.clone_ref(py))
}

fn stale(record: &Record) -> PyErr {
    PyRuntimeError::new_err(format!(
        "this {} was valid up to the end of its call only; keep {}.copy()",
        record.name,
        record.name.to_lowercase()
    ))
}

/// The bytes that it shows.
///
/// # Safety
/// `object` is an instance of one of our classes.
unsafe fn bytes_of<'a>(object: *mut ffi::PyObject) -> PyResult<(&'static Record, &'a [u8])> {
    // SAFETY: what the caller says; the bytes are those of a whole message while the pointer is not null.
    unsafe {
        let shown = &*object.cast::<Shown>();
        if shown.bytes.is_null() {
            return Err(stale(shown.record));
        }
        Ok((shown.record, std::slice::from_raw_parts(shown.bytes, shown.record.size)))
    }
}

extern "C" fn get(object: *mut ffi::PyObject, closure: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, with an instance and what `class` gave for the field.
    unsafe {
        let getter = &*closure.cast::<Getter>();
        let shown = &*object.cast::<Shown>();
        if shown.bytes.is_null() {
            stale(shown.record).restore(Python::assume_attached());
            return std::ptr::null_mut();
        }
        let place = shown.bytes.add(getter.offset);
        // The usual fields without a detour.
        match (getter.kind, getter.size) {
            (kind, 8) if kind.is_signed() => ffi::PyLong_FromLongLong(place.cast::<i64>().read_unaligned()),
            (
                Kind::Unsigned | Kind::Time | Kind::Position | Kind::Order | Kind::Instrument | Kind::Account,
                8,
            ) => ffi::PyLong_FromUnsignedLongLong(place.cast::<u64>().read_unaligned()),
            (Kind::Unsigned | Kind::Instrument | Kind::Account, 4) => {
                ffi::PyLong_FromUnsignedLongLong(place.cast::<u32>().read_unaligned().into())
            }
            _ => {
                let py = Python::assume_attached();
                let bytes = std::slice::from_raw_parts(place, getter.size);
                match value(py, getter.kind, bytes) {
                    Ok(value) => value.into_ptr(),
                    Err(error) => {
                        error.restore(py);
                        std::ptr::null_mut()
                    }
                }
            }
        }
    }
}

pub(crate) fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What a field holds.
fn value(py: Python<'_>, kind: Kind, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    let plain = unsigned(bytes);
    Ok(match kind {
        Kind::WideMoney => {
            let (low, high) = bytes.split_at(bytes.len() / 2);
            let wide = i128::from(unsigned(high) as i64) << 64 | i128::from(unsigned(low));
            wide.into_pyobject(py)?.into_any().unbind()
        }
        kind if kind.is_signed() => {
            let shift = 64 - 8 * bytes.len().min(8);
            (((plain << shift) as i64) >> shift).into_pyobject(py)?.into_any().unbind()
        }
        Kind::Text => {
            let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..length]).into_pyobject(py)?.into_any().unbind()
        }
        Kind::Enum(enumeration) => match member(py, enumeration.name, plain as u8) {
            Some(member) => member,
            None => plain.into_pyobject(py)?.into_any().unbind(),
        },
        Kind::Record(record) => copied(py, record, bytes)?,
        Kind::List(record) => {
            let mut items = Vec::new();
            for bytes in bytes.chunks_exact(record.size) {
                if let Some(field) = record.present_with.and_then(|index| record.fields.get(index))
                    && field
                        .none
                        .is_some_and(|none| none as u64 == unsigned(&bytes[field.offset..][..field.size]))
                {
                    break;
                }
                items.push(if is_level(record) {
                    pair(py, record, bytes)?
                } else {
                    copied(py, record, bytes)?
                });
            }
            PyTuple::new(py, items)?.into_any().unbind()
        }
        Kind::Opaque => PyBytes::new(py, bytes).into_any().unbind(),
        _ => plain.into_pyobject(py)?.into_any().unbind(),
    })
}

/// A level as a pair of its price and its quantity.
fn pair(py: Python<'_>, record: &Record, bytes: &[u8]) -> PyResult<Py<PyAny>> {
    let parts = record.fields.iter().map(|field| value(py, field.kind, &bytes[field.offset..][..field.size]));
    Ok(PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)?.into_any().unbind())
}

fn answer(made: PyResult<Py<PyAny>>) -> *mut ffi::PyObject {
    match made {
        Ok(object) => object.into_ptr(),
        Err(error) => {
            // SAFETY: called by the interpreter.
            error.restore(unsafe { Python::assume_attached() });
            std::ptr::null_mut()
        }
    }
}

extern "C" fn copy(object: *mut ffi::PyObject, _none: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, with an instance.
    let (py, shown) = unsafe { (Python::assume_attached(), bytes_of(object)) };
    answer(shown.and_then(|(record, bytes)| copied(py, record, bytes)))
}

extern "C" fn represent(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: called by the interpreter, with an instance.
    let (py, shown) = unsafe { (Python::assume_attached(), bytes_of(object)) };
    let text = |record: &Record, bytes: &[u8]| {
        let mut parts = Vec::new();
        for field in record.fields.iter().filter(|field| is_shown(field)) {
            let value = value(py, field.kind, &bytes[field.offset..][..field.size])?;
            parts.push(format!("{}={}", field.name, value.bind(py).repr()?));
        }
        let text = format!("{}({})", record.name, parts.join(", "));
        Ok(text.into_pyobject(py)?.into_any().unbind())
    };
    answer(match shown {
        Ok((record, bytes)) => text(record, bytes),
        // Debuggers show it.
        // SAFETY: as above.
        Err(_) => unsafe {
            let text = format!("<{} whose call has ended>", (*object.cast::<Shown>()).record.name);
            text.into_pyobject(py).map(|text| text.into_any().unbind()).map_err(Into::into)
        },
    })
}

/// The record of a class of ours, with the number of its message.
pub(crate) fn by_class(class: &Bound<'_, PyAny>) -> Option<(u16, &'static Record)> {
    let all = CLASSES.get(class.py())?;
    let record = all.classes.iter().find(|known| known.class.is(class))?.record;
    TABLE.iter().find(|message| message.record.name == record.name).map(|message| (message.id, record))
}

/// The record of a message with this number.
pub(crate) fn by_number(id: u16) -> Option<&'static Record> {
    TABLE.iter().find(|message| message.id == id).map(|message| message.record)
}

/// The message that an instance of ours shows.
pub(crate) fn decoded<M: wire::Message + wire::schema::Described>(object: &Bound<'_, PyAny>) -> PyResult<M> {
    let (class, all) = (object.get_type(), CLASSES.get(object.py()));
    let known = all.and_then(|all| all.classes.iter().find(|known| known.class.is(&class)));
    if known.is_none_or(|known| known.record.name != M::RECORD.name) {
        return Err(PyTypeError::new_err(format!("a {} is needed, this is a {class}", M::RECORD.name)));
    }
    // SAFETY: an instance of one of our classes, as was just looked up.
    let (_, bytes) = unsafe { bytes_of(object.as_ptr()) }?;
    M::decode(bytes).map_err(|error| PyTypeError::new_err(error.to_string()))
}
