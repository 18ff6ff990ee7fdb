//! The rules beside a recorded or quoted market, as the platform file chooses them.

use topology::config::{CallAuctionRule, MatchingConfig, Queue as QueueRule, SelfTradeOwner, SelfTradeRule};

use crate::engine::{CallAuctions, EngineOptions, FillModel, OrderOwner, Queue, SelfTrade};

/// The engine's options.
pub(super) fn options(config: &MatchingConfig, fill: FillModel) -> EngineOptions {
    EngineOptions {
        fill,
        self_trade: match config.self_trade {
            SelfTradeRule::AsRules | SelfTradeRule::CancelNewest => SelfTrade::CancelNewest,
            SelfTradeRule::CancelOldest => SelfTrade::CancelOldest,
            SelfTradeRule::CancelBoth => SelfTrade::CancelBoth,
            SelfTradeRule::Decrement => SelfTrade::Decrement,
            SelfTradeRule::Allow => SelfTrade::Allow,
        },
        owner: match config.self_trade_owner {
            SelfTradeOwner::AsRules | SelfTradeOwner::Strategy => OrderOwner::Strategy,
            SelfTradeOwner::Account => OrderOwner::Account,
            SelfTradeOwner::Firm => OrderOwner::Firm,
        },
        displayed_first: config.displayed_first,
        call_auctions: match config.call_auctions {
            CallAuctionRule::Refuse => CallAuctions::Refuse,
            CallAuctionRule::Uncross => CallAuctions::Uncross,
        },
        queue: match (config.queue, fill) {
            // What the file's word means beside quotes anyway.
            (QueueRule::Position, _) | (QueueRule::Through, FillModel::Quotes) => Queue::Position,
            (QueueRule::Through, FillModel::Book) => Queue::Through,
            (QueueRule::Touch, _) => Queue::Touch,
        },
        huge_pages: config.huge_pages,
        ..EngineOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_chooses_nothing_gets_the_rules_of_the_engine() {
        let config = MatchingConfig { queue: QueueRule::Position, ..MatchingConfig::default() };
        assert_eq!(options(&config, FillModel::Book), EngineOptions::default());
    }
}
