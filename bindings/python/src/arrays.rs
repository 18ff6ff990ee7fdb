//! Messages as numpy's records.

use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use wire::schema::{Described, Kind, Record};
use wire::{Message, Quote};

use crate::context::Context as Seen;
use crate::messages::{by_class, is_shown, references};

/// Quotes that are handed over together at most.
pub(crate) const MOST: usize = 64;

/// numpy's type of a record.
pub(crate) fn of_record<'py>(py: Python<'py>, record: &'static Record) -> PyResult<Bound<'py, PyAny>> {
    described(py, record, 0, &[])
}

/// The same with fields before it, `before` bytes in all.
pub(crate) fn described<'py>(
    py: Python<'py>,
    record: &'static Record,
    before: usize,
    more: &[(&str, &str, usize)],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    let dtype = |format: Bound<'py, PyAny>| numpy.call_method1("dtype", (format,));
    let plain = |format: &str| Ok::<_, PyErr>(format.into_pyobject(py)?.into_any());
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for (name, format, offset) in more {
        names.append(name)?;
        formats.append(format)?;
        offsets.append(offset)?;
    }
    for field in record.fields.iter().filter(|field| is_shown(field)) {
        let format = match field.kind {
            Kind::Text => plain(&format!("S{}", field.size))?,
            Kind::Opaque => plain(&format!("V{}", field.size))?,
            Kind::WideMoney => {
                let halves = PyList::new(py, [("low", "<u8"), ("high", "<i8")])?;
                dtype(halves.into_any())?
            }
            Kind::Record(inner) => of_record(py, inner)?,
            Kind::List(inner) => {
                let count = field.size / inner.size.max(1);
                dtype((of_record(py, inner)?, (count,)).into_pyobject(py)?.into_any())?
            }
            kind => plain(&format!("<{}{}", if kind.is_signed() { 'i' } else { 'u' }, field.size))?,
        };
        names.append(field.name)?;
        formats.append(format)?;
        offsets.append(before + field.offset)?;
    }
    layout(py, &names, &formats, &offsets, before + record.size)
}

/// True for one of numpy's types of records.
pub(crate) fn is_dtype(kind: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(!kind.hasattr("__mro__")? && kind.hasattr("itemsize")? && !kind.getattr("names")?.is_none())
}

/// A type of numpy's with fields before it, `before` bytes in all.
pub(crate) fn foreign<'py>(
    dtype: &Bound<'py, PyAny>,
    before: usize,
    more: &[(&str, &str, usize)],
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for (name, format, offset) in more {
        names.append(name)?;
        formats.append(format)?;
        offsets.append(offset)?;
    }
    let fields = dtype.getattr("fields")?;
    for name in dtype.getattr("names")?.try_iter()? {
        let name = name?;
        let field = fields.get_item(&name)?;
        names.append(name)?;
        formats.append(field.get_item(0)?)?;
        offsets.append(before + field.get_item(1)?.extract::<usize>()?)?;
    }
    let size = before + dtype.getattr("itemsize")?.extract::<usize>()?;
    layout(py, &names, &formats, &offsets, size)
}

fn layout<'py>(
    py: Python<'py>,
    names: &Bound<'py, PyList>,
    formats: &Bound<'py, PyList>,
    offsets: &Bound<'py, PyList>,
    size: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let description = PyDict::new(py);
    description.set_item("names", names)?;
    description.set_item("formats", formats)?;
    description.set_item("offsets", offsets)?;
    description.set_item("itemsize", size)?;
    numpy(py)?.call_method1("dtype", (description,))
}

fn numpy(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("numpy").map_err(|error| {
        let text = "arrays need numpy: pip install 'colo[arrays]'";
        let told = PyTypeError::new_err(text);
        told.set_cause(py, Some(error));
        told
    })
}

/// numpy's type of a message: `colo.dtype(colo.Quote)`.
#[pyfunction]
pub(crate) fn dtype<'py>(class: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let (_, record) =
        by_class(class).ok_or_else(|| PyValueError::new_err("name a message, as colo.Quote"))?;
    of_record(class.py(), record)
}

/// Memory that numpy owns, as bytes.
pub(crate) struct Memory {
    array: Py<PyAny>,
    buffer: PyBuffer<u8>,
}

impl Memory {
    pub(crate) fn new(py: Python<'_>, bytes: usize) -> PyResult<Memory> {
        let array = numpy(py)?.call_method1("zeros", (bytes, "u1"))?;
        let buffer = PyBuffer::get(&array)?;
        Ok(Memory { array: array.unbind(), buffer })
    }

    /// The first so many records of the same memory, which no one can change.
    pub(crate) fn records<'py>(
        &self,
        dtype: &Bound<'py, PyAny>,
        count: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = dtype.py();
        let bytes = dtype.getattr("itemsize")?.extract::<isize>()? * count as isize;
        let part = self.array.bind(py).get_item(PySlice::new(py, 0, bytes, 1))?;
        let records = part.call_method1("view", (dtype,))?;
        records.call_method1("setflags", (false,))?;
        Ok(records)
    }

    /// Writes there; false where it does not fit.
    #[inline]
    pub(crate) fn put(&self, offset: usize, bytes: &[u8]) -> bool {
        if offset + bytes.len() > self.buffer.len_bytes() {
            return false;
        }
        // SAFETY: within the memory, which the buffer keeps where it is; under the interpreter's lock.
        unsafe {
            self.buffer
                .buf_ptr()
                .cast::<u8>()
                .add(offset)
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        true
    }

    fn get(&self, offset: usize, length: usize) -> &[u8] {
        if offset + length > self.buffer.len_bytes() {
            return &[];
        }
        // SAFETY: as in `put`.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast::<u8>().add(offset), length) }
    }
}

/// The quotes that wait to be handed over together, and the arrays that show them: made once, unless somebody keeps one.
pub(crate) struct Batch {
    memory: Memory,
    records: Py<PyAny>,
    dtype: Py<PyAny>,
    /// By length: the context and the array of so many.
    arguments: Vec<Option<Py<PyTuple>>>,
    /// References to the memory when only we have some.
    known: isize,
    length: usize,
}

impl Batch {
    pub(crate) fn new(py: Python<'_>) -> PyResult<Batch> {
        let dtype = of_record(py, Quote::RECORD)?;
        Batch::with(py, dtype.unbind())
    }

    fn with(py: Python<'_>, dtype: Py<PyAny>) -> PyResult<Batch> {
        let memory = Memory::new(py, MOST * size_of::<Quote>())?;
        let records = memory.records(dtype.bind(py), MOST)?.unbind();
        let known = references(memory.array.bind(py));
        let arguments = (0..=MOST).map(|_| None).collect();
        Ok(Batch { memory, records, dtype, arguments, known, length: 0 })
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Keeps a quote; true when no other one fits.
    #[inline]
    pub(crate) fn push(&mut self, quote: &Quote) -> bool {
        self.memory.put(self.length * size_of::<Quote>(), quote.bytes());
        self.length += 1;
        self.length == MOST
    }

    pub(crate) fn first(&self) -> Option<Quote> {
        Quote::decode(self.memory.get(0, size_of::<Quote>())).ok()
    }

    /// The arguments of a call with all that is kept.
    pub(crate) fn arguments(&mut self, py: Python<'_>, seen: &Py<Seen>) -> PyResult<Py<PyTuple>> {
        if let Some(Some(arguments)) = self.arguments.get(self.length) {
            return Ok(arguments.clone_ref(py));
        }
        let slice = PySlice::new(py, 0, self.length as isize, 1);
        let array = self.records.bind(py).get_item(slice)?;
        let arguments = PyTuple::new(py, [seen.clone_ref(py).into_any(), array.unbind()])?.unbind();
        self.known += 1;
        self.arguments[self.length] = Some(arguments.clone_ref(py));
        Ok(arguments)
    }

    /// After the call: begins anew, in other memory where somebody keeps an array of this one.
    pub(crate) fn reuse(&mut self, py: Python<'_>) -> PyResult<()> {
        let handed = self.arguments[self.length].as_ref();
        let is_kept = match handed {
            Some(arguments) => references(&arguments.bind(py).get_item(1)?) > 2,
            None => false,
        };
        self.length = 0;
        if is_kept || references(self.memory.array.bind(py)) > self.known {
            *self = Batch::with(py, self.dtype.clone_ref(py))?;
        }
        Ok(())
    }
}
