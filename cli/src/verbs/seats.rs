//! What several verbs print below the head of an instance.

use observe::{DamagedJournal, Seated};

/// Strategies that hold the process that they run in, for people; empty where there is none.
pub(super) fn held_text<'a>(seats: impl Iterator<Item = &'a Seated> + Clone) -> String {
    let said = seats.clone().filter_map(|seat| {
        let seconds = seat.in_callback_ms? as f64 / 1_000.0;
        let host = seats.clone().find(|host| host.kind == "host" && host.pid == seat.pid);
        let others = host.map(|host| format!(": nobody in {} gets anything", host.node)).unwrap_or_default();
        Some(format!("does not return: {} is in one callback for {seconds:.1} s{others}\n", seat.node))
    });
    said.collect()
}

/// The damaged journals for people; empty where there is none.
pub(super) fn damaged_text(damaged: &[DamagedJournal]) -> String {
    damaged.iter().map(|one| format!("damaged: journal {}: {}\n", one.journal, one.error)).collect()
}
