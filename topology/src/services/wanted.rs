//! What md publishes of the market: only what somebody wants.

use crate::config::{Fill, MarketData, PlatformConfig, StrategyGroup};

/// The groups that have strategies.
fn groups(config: &PlatformConfig) -> impl Iterator<Item = &StrategyGroup> {
    config.strategies.iter().filter(|group| group.count > 0)
}

/// True if a strategy hears it, or the gateway.
fn is_heard(config: &PlatformConfig, data: MarketData) -> bool {
    groups(config).any(|group| group.data == data)
        || config.gateway.as_ref().is_some_and(|gateway| gateway.data == data)
}

/// Whether md publishes it.
///
/// The ledger values positions by the depth, or where there is none by the best, so that one of the two is always there.
pub(crate) fn is_published(config: &PlatformConfig, data: MarketData) -> bool {
    match data {
        MarketData::Depth => {
            // An engine that fills from quotes walks their levels.
            is_heard(config, data) || config.matching.fill == Fill::Quotes || is_read(config, QUOTES)
                // Without strategies somebody from outside may come for it.
                || groups(config).next().is_none()
        }
        MarketData::Best => {
            is_heard(config, data) || is_read(config, BEST) || !is_published(config, MarketData::Depth)
        }
        MarketData::Flow => {
            config.md.source.has_flow() && (config.matching.fill == Fill::Book || is_heard(config, data))
        }
    }
}

/// The journals of the depth and of the best.
pub(crate) const QUOTES: &str = "md.quotes";
pub(crate) const BEST: &str = "md.best";

/// True if a service of the file reads the journal of that name. A pattern wants what there is.
fn is_read(config: &PlatformConfig, journal: &str) -> bool {
    config.service.iter().flat_map(|service| &service.reads).any(|read| read.journal == journal)
}
