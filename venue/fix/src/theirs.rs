//! The market's own names of orders (OrderID, 37): what it reports by itself need not have ours. Pure.

use std::collections::{HashMap, VecDeque};

use fix_codec::codec::Message;

/// So many are remembered.
const REMEMBERED: usize = 65_536;

/// Our names by the market's, the latest of them.
#[derive(Debug, Default)]
pub(crate) struct Theirs {
    names: HashMap<String, String>,
    row: VecDeque<String>,
}

impl Theirs {
    pub(crate) fn note(&mut self, message: &Message) {
        let (Some(theirs), Some(ours)) = (message.get(37), message.get(11)) else { return };
        if theirs == "NONE" || ours.is_empty() || self.names.contains_key(theirs) {
            return;
        }
        self.names.insert(theirs.to_owned(), ours.to_owned());
        self.row.push_back(theirs.to_owned());
        if self.row.len() > REMEMBERED
            && let Some(oldest) = self.row.pop_front()
        {
            self.names.remove(&oldest);
        }
    }

    /// With our name as the one before (41), where the report has none that says it.
    pub(crate) fn complete(&self, message: &Message) -> Message {
        let mut whole = message.clone();
        if message.get(41).is_none()
            && let Some(ours) = message.get(37).and_then(|theirs| self.names.get(theirs))
        {
            whole.fields.push((41, ours.clone()));
        }
        whole
    }
}
