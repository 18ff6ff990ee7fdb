//! Keys of `[matching]` that mean something beside a recorded or quoted market only.

use super::Rules;
use crate::config::{Fill, SelfTradeOwner};

impl Rules<'_> {
    /// Warns of those that mean nothing here.
    pub(super) fn keys_of_recorded_markets(&mut self) {
        let fill = self.config.matching.fill;
        if fill == Fill::Exchange && self.config.matching.self_trade_owner == SelfTradeOwner::Firm {
            let message = "an exchange of strategies whose orders never trade with each other has no trades";
            self.error("matching.self_trade_owner", message, "write \"strategy\" or \"account\"");
        }
        let needs = |key: &str| match key {
            "displayed_first" => fill != Fill::Book,
            "self_trade_owner" => fill == Fill::External,
            _ => matches!(fill, Fill::Exchange | Fill::External),
        };
        for key in ["self_trade_owner", "displayed_first", "call_auctions"] {
            let path = format!("matching.{key}");
            if needs(key) && self.rows.is_written(&path) {
                let wanted = match key {
                    "displayed_first" => "\"book\"",
                    "self_trade_owner" => "\"exchange\", \"book\" or \"quotes\"",
                    _ => "\"book\" or \"quotes\"",
                };
                let message = format!("`{key}` means nothing: matching.fill is \"{fill}\", not {wanted}");
                self.warning(&path, message, "leave it out");
            }
        }
    }
}
