//! Printing: one JSON object, or tables for people.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One object, stable names.
    Json,
}

/// Writes text to standard output.
///
/// # Errors
/// [`Failure::Output`].
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Writes one JSON object to standard output.
///
/// # Errors
/// [`Failure::Output`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    print(&text)
}

/// A path as text, for JSON: what of its name is not UTF-8 is replaced, as JSON holds nothing else.
pub(crate) fn path(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// Text that somebody else wrote, for a terminal: what would steer it is shown as in `\n` and `\u{1b}`.
pub(crate) fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_control() {
            true => shown.extend(character.escape_default()),
            false => shown.push(character),
        }
    }
    shown
}

/// A bar on standard error for work of 100 parts; nothing where that is no terminal.
pub(crate) fn progress(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos:>3} %  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(100).with_style(style).with_message(what.to_owned())
}

/// A table without lines but one below its head; columns after the first `left` are aligned to the right.
pub(crate) fn table<S: ToString>(
    head: &[&str],
    left: usize,
    rows: impl IntoIterator<Item = Vec<S>>,
) -> String {
    made(head, left, rows, None)
}

/// As [`table`], for cells of whole sentences: on a terminal they are broken where it ends.
pub(crate) fn wrapped_table<S: ToString>(
    head: &[&str],
    left: usize,
    rows: impl IntoIterator<Item = Vec<S>>,
) -> String {
    made(head, left, rows, terminal_size::terminal_size().map(|(width, _)| width.0))
}

fn made<S: ToString>(
    head: &[&str],
    left: usize,
    rows: impl IntoIterator<Item = Vec<S>>,
    width: Option<u16>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(head.iter().map(ToString::to_string));
    for row in rows {
        table.add_row(row.iter().map(ToString::to_string));
    }
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        let widths = table.column_max_content_widths();
        for (column, content) in table.column_iter_mut().zip(widths) {
            // Words are not broken where that gains little.
            if content < width / 4 {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index >= left {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n") + "\n"
}

/// Bytes in the largest unit that keeps them readable.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value.fract() == 0.0 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A span of nanoseconds in the largest unit that keeps it readable.
pub(crate) fn duration(nanos: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    match UNITS.into_iter().find(|(size, _)| nanos >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", nanos as f64 / size as f64),
        None => format!("{nanos} ns"),
    }
}

/// A whole number with thin separators.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, with their name in the singular or plural.
pub(crate) fn count(value: u64, what: &str) -> String {
    format!("{} {what}{}", number(value), if value == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_are_readable() {
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(4 << 20), "4 MiB");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!((count(1, "call"), count(0, "call")), ("1 call".to_owned(), "0 calls".to_owned()));
        assert_eq!(count(12_000, "journal"), "12,000 journals");
        assert_eq!((duration(999), duration(1_500)), ("999 ns".to_owned(), "1.5 µs".to_owned()));
        assert_eq!(duration(61_200_000_000), "61.2 s");
    }
}
