//! What groups hear must be there.

use super::Rules;
use crate::config::{MarketData, MarketSource, StrategyGroup};

impl Rules<'_> {
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
        } else if let Some(builtin) = group.program.strip_prefix("builtin:") {
            let message = format!("`{builtin}` answers best prices and quotes, and would hear none");
            self.error(&path, message, help);
        }
    }
}
