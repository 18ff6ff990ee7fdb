//! The columns of both tables: what stands in each, what it is sorted by, and which go first where the terminal is narrow.

use std::cmp::Ordering;

use observe::{JournalRates, NodeRates};

use super::view::Shown;
use crate::output::{bytes, number, table};

/// What a row is sorted by.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub(super) enum Key {
    Text(String),
    Number(f64),
}

pub(super) struct Column<T> {
    pub(super) name: &'static str,
    /// Columns of a higher number go first where there is no room; those of 0 stay.
    rank: u8,
    text: fn(&T) -> String,
    key: fn(&T) -> Key,
}

const fn column<T>(name: &'static str, rank: u8, text: fn(&T) -> String, key: fn(&T) -> Key) -> Column<T> {
    Column { name, rank, text, key }
}

pub(super) const NODES: &[Column<NodeRates>] = &[
    column("node", 0, |row| row.seated.node.clone(), |row| Key::Text(row.seated.node.clone())),
    column("state", 1, |row| row.seated.state.clone(), |row| Key::Text(row.seated.state.clone())),
    column("wait", 5, |row| row.seated.mode.clone(), |row| Key::Text(row.seated.mode.clone())),
    column(
        "cpu",
        6,
        |row| shown(row.seated.cpu),
        |row| Key::Number(row.seated.cpu.map_or(-1.0, |cpu| cpu as f64)),
    ),
    column("cpu %", 3, |row| tenths(row.cpu_percent), |row| of(row.cpu_percent)),
    column("read/s", 4, |row| rate(row.frames_read_per_s), |row| Key::Number(row.frames_read_per_s)),
    column("written/s", 5, |row| rate(row.frames_written_per_s), |row| Key::Number(row.frames_written_per_s)),
    column("wakes/s", 4, |row| rate(row.wakes_per_s), |row| Key::Number(row.wakes_per_s)),
    column("orders/s", 5, |row| rate(row.orders_per_s), |row| Key::Number(row.orders_per_s)),
    column("lag", 1, |row| bytes(row.lag_bytes), |row| Key::Number(row.lag_bytes as f64)),
    column("lost", 2, |row| bytes(row.lost_bytes), |row| Key::Number(row.lost_bytes as f64)),
    column("t2o p50", 2, |row| tenths(row.t2o_p50_us), |row| of(row.t2o_p50_us)),
    column("p99 µs", 3, |row| tenths(row.t2o_p99_us), |row| of(row.t2o_p99_us)),
];

pub(super) const JOURNALS: &[Column<JournalRates>] = &[
    column("journal", 0, |row| row.journal.clone(), |row| Key::Text(row.journal.clone())),
    column("writer", 3, writer, |row| Key::Text(writer(row))),
    column("frames/s", 1, |row| rate(row.frames_per_s), |row| Key::Number(row.frames_per_s)),
    column("bytes/s", 4, |row| bytes(row.bytes_per_s.round() as u64), |row| Key::Number(row.bytes_per_s)),
    column("wakes/s", 5, |row| rate(row.wakes_per_s), |row| Key::Number(row.wakes_per_s)),
    column("full/s", 3, |row| rate(row.full_per_s), |row| Key::Number(row.full_per_s)),
    column("readers", 6, |row| row.readers.to_string(), |row| Key::Number(row.readers as f64)),
    column("lag", 1, |row| bytes(row.lag_bytes), |row| Key::Number(row.lag_bytes as f64)),
    column("of", 4, last_reader, |row| Key::Text(last_reader(row))),
    column("lost", 2, |row| bytes(row.lost_bytes), |row| Key::Number(row.lost_bytes as f64)),
];

/// Rows of a table, sorted as is wished.
pub(super) fn sorted<'a, T>(mut rows: Vec<&'a T>, columns: &[Column<T>], shown: &Shown) -> Vec<&'a T> {
    let Some(column) = shown.by.and_then(|by| columns.get(by)) else { return rows };
    rows.sort_by(|a, b| {
        let order = (column.key)(a).partial_cmp(&(column.key)(b)).unwrap_or(Ordering::Equal);
        if shown.is_rising { order } else { order.reverse() }
    });
    rows
}

/// A table in at most `width` columns of the terminal: what has no room is left out, what matters least first. Its text, and
/// how many columns are missing.
pub(super) fn drawn<T>(
    rows: &[&T],
    columns: &[Column<T>],
    left: usize,
    shown: &Shown,
    width: usize,
) -> (String, usize) {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    loop {
        let head: Vec<String> = kept.iter().map(|index| head(columns[*index].name, *index, shown)).collect();
        let head: Vec<&str> = head.iter().map(String::as_str).collect();
        let of_row = |row: &&T| kept.iter().map(|index| (columns[*index].text)(row)).collect::<Vec<_>>();
        let text = table(&head, kept.iter().filter(|index| **index < left).count(), rows.iter().map(of_row));
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        let least = kept.iter().max_by_key(|index| (columns[**index].rank, **index)).copied();
        match least {
            Some(least) if widest > width && columns[least].rank > 0 => kept.retain(|index| *index != least),
            _ => return (text, columns.len() - kept.len()),
        }
    }
}

fn head(name: &str, index: usize, shown: &Shown) -> String {
    match shown.by {
        Some(by) if by == index => format!("{name}{}", if shown.is_rising { '▲' } else { '▼' }),
        _ => name.to_owned(),
    }
}

fn writer(row: &JournalRates) -> String {
    match (&row.writer, row.writer_state) {
        (Some(writer), "alive") => writer.clone(),
        (Some(writer), state) => format!("{writer}, {state}"),
        (None, _) => "-".to_owned(),
    }
}

fn last_reader(row: &JournalRates) -> String {
    row.lag_reader.clone().unwrap_or_else(|| "-".to_owned())
}

fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

fn tenths(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

/// What is not known is less than all that is.
fn of(value: Option<f64>) -> Key {
    Key::Number(value.unwrap_or(f64::NEG_INFINITY))
}

pub(super) fn rate(value: f64) -> String {
    number(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column<(&str, f64)>] = &[
        column("name", 0, |row| row.0.to_owned(), |row| Key::Text(row.0.to_owned())),
        column("number", 1, |row| row.1.to_string(), |row| Key::Number(row.1)),
        column("again", 2, |row| row.1.to_string(), |row| Key::Number(row.1)),
    ];

    #[test]
    fn rows_are_sorted_by_numbers_as_numbers() {
        let rows = [("a", 9.0), ("b", 100.0), ("c", 20.0)];
        let names = |shown: &Shown| -> String {
            sorted(rows.iter().collect(), COLUMNS, shown).iter().map(|row| row.0).collect()
        };
        assert_eq!(names(&Shown::default()), "abc");
        assert_eq!(names(&Shown { by: Some(1), ..Shown::default() }), "bca");
        assert_eq!(names(&Shown { by: Some(1), is_rising: true, first: 0 }), "acb");
        assert_eq!(names(&Shown { by: Some(0), ..Shown::default() }), "cba");
    }

    #[test]
    fn where_there_is_no_room_what_matters_least_is_left_out() {
        let rows = [("first", 1.0)];
        let rows: Vec<_> = rows.iter().collect();
        let missing = |width| drawn(&rows, COLUMNS, 1, &Shown::default(), width).1;
        assert_eq!((missing(80), missing(15), missing(3)), (0, 1, 2));
        let (text, _) = drawn(&rows, COLUMNS, 1, &Shown { by: Some(1), ..Shown::default() }, 80);
        assert!(text.contains("number▼"), "{text}");
    }
}
