//! A group, a strategy, or the platform: limits, and sums over what is in it.

use wire::{InstrumentId, Side, StrategyId};

use crate::amount::share;
use crate::limits::{Most, Watch};
use crate::state::state;
use crate::table::reach;

/// The net position of a scope in an instrument, and what works on top of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exposure {
    /// Bought less sold.
    pub(crate) net: i64,
    /// What orders at work may yet buy and sell.
    pub(crate) working: [i64; 2],
    /// Largest net position, either way.
    pub(crate) most: Most<i64>,
    /// What the net position cost, by moving average; has its sign.
    cost: i128,
}
state!(Exposure { net, working, most, cost });

impl Exposure {
    /// Books a fill; returns by how much the cost of what is open has grown, without its sign.
    pub(crate) fn trade(&mut self, side: Side, lots: i64, amount: i128) -> i128 {
        let before = self.cost.abs();
        let signed = lots.saturating_mul(side.sign());
        let sign = i128::from(side.sign());
        let open = self.net.saturating_abs();
        let closed = if self.net.signum() * side.sign() < 0 { open.min(lots) } else { 0 };
        self.cost -= share(self.cost, closed, open);
        self.cost += sign * (amount - share(amount, closed, lots));
        self.net = self.net.saturating_add(signed);
        self.cost.abs() - before
    }
}

/// Sums over all that a scope contains.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    pub(crate) watch: Watch,
    /// By instrument.
    pub(crate) exposures: Vec<Exposure>,
    /// What positions and working orders are worth, by currency.
    pub(crate) gross: Vec<i128>,
}
state!(Scope { watch, exposures, gross });

impl Scope {
    #[inline]
    pub(crate) fn exposure(&mut self, instrument: InstrumentId) -> &mut Exposure {
        reach(&mut self.exposures, instrument.0 as usize)
    }

    pub(crate) fn add_gross(&mut self, currency: u8, change: i128) {
        if change != 0 {
            *reach(&mut self.gross, usize::from(currency)) += change;
        }
    }
}

/// All scopes above accounts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scopes {
    /// By place, with their numbers.
    pub(crate) groups: Vec<(u32, Scope)>,
    /// By seat. Boxed: seats are many, strategies few.
    pub(crate) strategies: Vec<Option<Box<Scope>>>,
    pub(crate) platform: Scope,
}
state!(Scopes { groups, strategies, platform });

impl Scopes {
    /// The group, the strategy and the platform of an order, as far as they exist.
    pub(crate) fn of(&mut self, group: u32, strategy: StrategyId) -> [Option<&mut Scope>; 3] {
        let Scopes { groups, strategies, platform } = self;
        [
            groups.get_mut(group as usize).map(|(_, scope)| scope),
            strategies.get_mut(usize::from(strategy.0)).and_then(Option::as_deref_mut),
            Some(platform),
        ]
    }

    pub(crate) fn strategy(&mut self, strategy: StrategyId) -> &mut Scope {
        reach(&mut self.strategies, usize::from(strategy.0)).get_or_insert_default()
    }

    pub(crate) fn group(&self, number: u32) -> Option<u32> {
        self.groups.iter().position(|(known, _)| *known == number).map(|place| place as u32)
    }

    pub(crate) fn group_or_new(&mut self, number: u32) -> u32 {
        self.group(number).unwrap_or_else(|| {
            self.groups.push((number, Scope::default()));
            self.groups.len() as u32 - 1
        })
    }
}
