//! What groups hear must be there.

use super::Rules;
use crate::config::{Fill, MarketData, MarketSource, StrategyGroup};

impl Rules<'_> {
    /// History is heard for as long as the warm-up says.
    pub(super) fn warm_up(&mut self, group: &StrategyGroup, path: &str) {
        if group.history.is_some() && group.warm_up.is_zero() {
            let message = format!("`{}` has a history, and no time of it to warm up with", group.name);
            self.error(&format!("{path}.history"), message, "set warm_up = \"30m\", or leave history out");
        }
    }

    /// What a group hears of the market must be there, and its strategies must listen to it.
    pub(super) fn data(&mut self, group: &StrategyGroup, path: &str) {
        if group.data != MarketData::Flow || group.count == 0 {
            return;
        }
        let path = format!("{path}.data");
        let source = self.config.md.source;
        let help = "set data = \"best\" or \"depth\"";
        if source == MarketSource::Sim {
            let message =
                format!("`{}` hears the flow of orders, and md.source is \"sim\": it has none", group.name);
            self.error(&path, message, format!("{help}, replay a recorded day, or run an exchange"));
        } else if self.config.matching.fill == Fill::Quotes
            && let Some(fault) = group.data.fault_beside_quotes()
        {
            let message = format!("`{}` {fault}", group.name);
            self.error(&path, message, format!("{help}, or matching.fill = \"book\""));
        } else if let Some(builtin) = group.program.strip_prefix("builtin:") {
            let message = format!("`{builtin}` answers best prices and quotes, and would hear none");
            self.error(&path, message, help);
        }
    }
}
