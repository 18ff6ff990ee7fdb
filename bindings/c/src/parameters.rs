//! A strategy's parameters.

use std::ffi::c_char;

use serde_json::{Map, Value};

use crate::colo_code::COLO_E_NOTHING;
use crate::fault::{Fault, at, guarded, text};

/// The parameters of a strategy: what the platform file says, and the command line over it. Valid during `create`.
pub struct colo_parameters {
    pub(crate) table: Map<String, Value>,
    /// Names that were asked for, so that others can be refused.
    pub(crate) known: Vec<String>,
}

impl colo_parameters {
    fn get(&mut self, name: &str) -> Result<&Value, Fault> {
        if !self.known.iter().any(|known| known == name) {
            self.known.push(name.to_owned());
        }
        self.table.get(name).ok_or(COLO_E_NOTHING.into())
    }

    /// A name that nobody asked for.
    pub(crate) fn unknown(&self) -> Option<&str> {
        self.table.keys().find(|name| !self.known.contains(name)).map(String::as_str)
    }
}

/// A whole number. `COLO_E_NOTHING` if it is not given: `value` stays as it is, so set the default before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_parameter_integer(
    parameters: *mut colo_parameters,
    name: *const c_char,
    value: *mut i64,
) -> i32 {
    guarded(|| {
        let (name, place) = (text!(name), at!(value));
        let found = at!(parameters).get(name)?;
        *place = found
            .as_i64()
            .ok_or_else(|| Fault::argument(format!("`{name}` is {found}, and must be a whole number")))?;
        Ok(0)
    })
}

/// A number; otherwise as `colo_parameter_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_parameter_number(
    parameters: *mut colo_parameters,
    name: *const c_char,
    value: *mut f64,
) -> i32 {
    guarded(|| {
        let (name, place) = (text!(name), at!(value));
        let found = at!(parameters).get(name)?;
        *place = found
            .as_f64()
            .ok_or_else(|| Fault::argument(format!("`{name}` is {found}, and must be a number")))?;
        Ok(0)
    })
}

/// A text, with a zero behind it, into `room` bytes; otherwise as `colo_parameter_integer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_parameter_text(
    parameters: *mut colo_parameters,
    name: *const c_char,
    value: *mut c_char,
    room: usize,
) -> i32 {
    guarded(|| {
        let name = text!(name);
        let found = at!(parameters).get(name)?;
        let text = found
            .as_str()
            .ok_or_else(|| Fault::argument(format!("`{name}` is {found}, and must be a text")))?;
        give_text(text, value, room)
    })
}

/// Copies a text with a zero behind it.
pub(crate) fn give_text(text: &str, place: *mut c_char, room: usize) -> Result<i32, Fault> {
    if text.len() >= room {
        return Err(Fault::argument(format!("{} bytes and a zero do not fit into {room}", text.len())));
    }
    at!(place);
    // SAFETY: what the header asks of callers: `room` bytes can be written there; the text and a zero are no more.
    unsafe {
        place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        place.add(text.len()).write(0);
    }
    Ok(0)
}
