//! Instruments by their names.

use journal::Journal;
use node::{Exit, InstanceDir};
use wire::{Instrument, Message};

use crate::failure::Failure;
use crate::verbs::instance;

/// Where md lists them.
pub(crate) const JOURNAL: &str = "md.instruments";

/// What md has listed.
pub(crate) fn listed(instance: &InstanceDir) -> Result<Vec<Instrument>, Failure> {
    let journal = Journal::open_read_only(super::journal::files(instance, JOURNAL)?)?;
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    let mut listed = Vec::new();
    while let Ok(Some(frame)) = reader.read() {
        listed.extend(one(frame.message_id, frame.payload));
    }
    Ok(listed)
}

/// The instrument that a message lists, if that is what it does.
pub(crate) fn one(message_id: u16, payload: &[u8]) -> Option<Instrument> {
    (message_id == Instrument::ID).then(|| Instrument::decode(payload).ok()).flatten()
}

/// The one of this name or number.
pub(crate) fn find(listed: &[Instrument], wanted: &str) -> Result<Instrument, Failure> {
    let by_number = wanted.parse::<u32>().ok();
    let found = listed
        .iter()
        .find(|instrument| instrument.symbol.to_string() == wanted || Some(instrument.id.0) == by_number);
    found.copied().ok_or_else(|| {
        let symbols: Vec<String> = listed.iter().map(|instrument| instrument.symbol.to_string()).collect();
        let known: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let message = match listed {
            [] => "md has listed no instrument yet".to_owned(),
            _ => format!("there is no instrument `{wanted}`{}", instance::suggestion(wanted, &known)),
        };
        Failure::new(Exit::Usage, message)
    })
}
