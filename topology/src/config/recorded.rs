//! Of `[matching]`: the rules beside a recorded or quoted market.

use settings::words;

words! {
    /// What happens when an order would trade with one of its owner, and does not say itself.
    pub enum SelfTradeRule ("rule for self-trades") {
        /// What the set of rules says; beside a recorded or quoted market: cancel-newest.
        AsRules = "as-rules",
        /// They trade.
        Allow = "allow",
        /// What is left of the incoming order is cancelled.
        CancelNewest = "cancel-newest",
        /// The resting order is cancelled.
        CancelOldest = "cancel-oldest",
        /// Both are cancelled.
        CancelBoth = "cancel-both",
        /// Both lose the smaller open quantity, without a trade.
        Decrement = "decrement",
    }
}

words! {
    /// Whose orders must not trade with each other.
    pub enum SelfTradeOwner ("owner of orders") {
        /// Those of one strategy.
        Strategy = "strategy",
        /// Those for one account; a strategy's own account is its own.
        Account = "account",
        /// Those of all strategies.
        Firm = "firm",
    }
}

words! {
    /// What strategies' orders do in a call auction of the recorded market.
    pub enum CallAuctionRule ("rule for call auctions") {
        /// New ones are refused until it is over.
        Refuse = "refuse",
        /// They are collected, and trade at the price of the recorded auction.
        Uncross = "uncross",
    }
}
