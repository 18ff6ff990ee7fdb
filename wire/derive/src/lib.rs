//! The derives of `wire`: a message's struct, its doc comments and the types of its fields become rows of the table of
//! fields, `wire::schema`.
//!
//! ```text
//! #[derive(Described)]                        a struct of named fields, repr(C)
//! #[described(present_with = "price")]        the whole is there only if that field holds something
//! #[field(column = "due_ns")]                 name in JSON and CSV, where it is not the field's own
//! #[field(none = 0)]                          the integer that stands for "nothing", where the type does not say
//! #[field(position)]                          a u64 that is a position in a journal; zero is none
//! #[field(flags)]                             a word of flags: the struct's FLAGS
//! #[field(since = 2)]                         the schema's version that brought the field
//!
//! #[derive(Enumeration)]                      an enum of one byte
//! #[member(name = "ioc")]                     printed name, where it is not the member's own in kebab-case
//! ```
//!
//! A field whose name begins with `reserved` is reserved: it is in the table, but holds nothing.
#![forbid(unsafe_code)]

mod enumeration;
mod record;
mod text;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `wire::schema::Described` and `wire::schema::FieldType` for a struct.
#[proc_macro_derive(Described, attributes(described, field))]
pub fn described(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    record::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `as_str`, `Display` and `wire::schema::FieldType` for an enum.
#[proc_macro_derive(Enumeration, attributes(member))]
pub fn enumeration(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    enumeration::expand(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}
