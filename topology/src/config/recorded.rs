//! Of `[matching]`: the rules beside a recorded or quoted market.

use settings::words;

words! {
    /// Whose orders must not trade with each other.
    pub enum SelfTradeOwner ("owner of orders") {
        /// What the set of rules says; beside a recorded or quoted market: strategy.
        AsRules = "as-rules",
        /// Those of one strategy.
        Strategy = "strategy",
        /// Those for one account; a strategy's own account is its own.
        Account = "account",
        /// Those of all strategies.
        Firm = "firm",
    }
}

words! {
    /// What strategies' orders do in a call auction or a halt of the recorded market.
    pub enum CallAuctionRule ("rule for call auctions") {
        /// New ones are refused until it is over.
        Refuse = "refuse",
        /// They are collected, and take part in the recorded cross and in the auction with which trading resumes.
        Uncross = "uncross",
    }
}
