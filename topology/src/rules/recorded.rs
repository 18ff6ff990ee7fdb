//! Keys of `[matching]` that mean something beside a recorded or quoted market only.

use super::Rules;
use crate::config::Fill;

impl Rules<'_> {
    /// Warns of those that mean nothing here.
    pub(super) fn keys_of_recorded_markets(&mut self) {
        let fill = self.config.matching.fill;
        let needs = |key: &str| match key {
            "displayed_first" => fill != Fill::Book,
            _ => matches!(fill, Fill::Exchange | Fill::External),
        };
        for key in ["self_trade_owner", "displayed_first", "call_auctions"] {
            let path = format!("matching.{key}");
            if needs(key) && self.rows.is_written(&path) {
                let wanted = if key == "displayed_first" { "\"book\"" } else { "\"book\" or \"quotes\"" };
                let message = format!("`{key}` means nothing: matching.fill is \"{fill}\", not {wanted}");
                self.warning(&path, message, "leave it out");
            }
        }
    }
}
