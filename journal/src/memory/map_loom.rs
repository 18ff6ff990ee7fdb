//! Files cannot be mapped in a model: the same functions, which always fail.

use std::fs::File;
use std::io;

use super::Region;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    ReadWrite,
}

pub(crate) fn reserve(_file: &File, _bytes: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn map(_file: &File, _bytes: u64, _access: Access) -> io::Result<Region> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn map_on_access(_file: &File, _bytes: u64, _access: Access) -> io::Result<Region> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn mirror(_file: &File, _bytes: u64, _page: u64, _access: Access) -> io::Result<Region> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn collapse(_region: &Region) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing is mapped.
pub fn map_large_rings_on_access(_bytes: u64) {}
