//! The kinds of flow, in numbers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of flow. The [module's documentation](super) has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// 48 % add, 42 % cancel, 10 % take, over 10,000 living orders.
    Mixed,
    /// Short queues near the best price, many cancels, few takes.
    Calm,
    /// The middle walks fast, levels come and go.
    Volatile,
    /// Sweeps through many levels, then rebuilding.
    Crash,
}

/// No such mix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no mix {0:?}: name one of mixed, calm, volatile, crash")]
pub struct UnknownMix(pub String);

impl Mix {
    /// All of them.
    pub const ALL: [Mix; 4] = [Mix::Mixed, Mix::Calm, Mix::Volatile, Mix::Crash];

    /// The name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Mixed => "mixed",
            Mix::Calm => "calm",
            Mix::Volatile => "volatile",
            Mix::Crash => "crash",
        }
    }

    /// Shares of adds and takes in thousandths while as many orders live as intended; the rest are cancels.
    pub(super) fn shares(self) -> (i64, i64) {
        match self {
            Mix::Mixed => (480, 100),
            Mix::Calm => (500, 20),
            Mix::Volatile => (460, 100),
            Mix::Crash => (600, 50),
        }
    }

    /// How many orders are to live at a time, over `levels` levels.
    pub(super) fn living(self, levels: u32) -> usize {
        let levels = levels as usize;
        match self {
            Mix::Mixed => 10_000,
            Mix::Calm => levels.min(10_000) + FLEETING,
            Mix::Volatile | Mix::Crash => (2 * levels).clamp(200, 10_000),
        }
    }

    /// The largest quantity of a take; of an add it is 100. In `mixed` a take is worth 0.6 of an add, so that 48 adds come to
    /// 42 cancels and 10 takes.
    pub(super) fn largest_take(self) -> u32 {
        match self {
            Mix::Mixed => 60,
            Mix::Calm | Mix::Volatile | Mix::Crash => 100,
        }
    }

    /// How far the middle may go to either side, in levels of the flow.
    pub(super) fn room(self) -> u32 {
        match self {
            Mix::Mixed | Mix::Calm => 0,
            Mix::Volatile | Mix::Crash => 1,
        }
    }
}

/// Orders in `calm` that live shortly.
pub(super) const FLEETING: usize = 60;

impl fmt::Display for Mix {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.pad(self.name())
    }
}

impl FromStr for Mix {
    type Err = UnknownMix;

    fn from_str(text: &str) -> Result<Mix, UnknownMix> {
        Mix::ALL.into_iter().find(|mix| mix.name() == text).ok_or_else(|| UnknownMix(text.to_owned()))
    }
}
