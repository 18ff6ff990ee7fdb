//! The strategy's positions, from its fills.

use wire::{Fill, Instrument, InstrumentId, MAX_INSTRUMENTS, Money, PositionState, Price, Quantity, Side};

/// The strategy's position in one instrument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Signed: short is negative.
    pub quantity: Quantity,
    /// All that was bought.
    pub bought: Quantity,
    /// All that was sold.
    pub sold: Quantity,
    /// What sales brought less what purchases cost, in 1e-9 of the currency.
    cash: i128,
    /// One unit of quantity is worth the price times this, and one.
    contract_less_one: u64,
}

impl Position {
    /// Profit and loss, realised and unrealised together, if what is open were closed at `mark`; with
    /// [`Price::NONE`] what is open counts nothing. Rounded once, from an exact amount, also after a late start.
    pub fn profit(&self, mark: Price) -> Money {
        let worth = || i128::from(self.quantity.0) * i128::from(mark.0);
        let open = if mark.is_some() { worth().saturating_mul(self.contract()) } else { 0 };
        Money::from_wide(self.cash.saturating_add(open))
    }

    /// What sales brought less what purchases cost.
    pub fn cash(&self) -> Money {
        Money::from_wide(self.cash)
    }

    fn trade(&mut self, side: Side, price: Price, quantity: Quantity) {
        let signed = Quantity(quantity.0.saturating_mul(side.sign()));
        self.quantity += signed;
        match side {
            Side::Buy => self.bought += quantity,
            Side::Sell => self.sold += quantity,
        }
        let paid = (i128::from(price.0) * i128::from(signed.0)).saturating_mul(self.contract());
        self.cash = self.cash.saturating_sub(paid);
    }

    fn contract(&self) -> i128 {
        i128::from(self.contract_less_one) + 1
    }

    /// As the ledger has it; its money is multiplied already.
    fn restore(&mut self, state: &PositionState) {
        (self.quantity, self.bought, self.sold) = (state.position, state.bought, state.sold);
        self.cash = state.cash.wide();
    }
}

/// By instrument id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Positions(Vec<Position>);

impl Positions {
    pub(crate) fn get(&self, instrument: InstrumentId) -> Position {
        self.0.get(instrument.0 as usize).copied().unwrap_or_default()
    }

    /// Makes room ahead of the first fill.
    pub(crate) fn reach(&mut self, instrument: InstrumentId) {
        let length = instrument.0 as usize + 1;
        if instrument.0 < MAX_INSTRUMENTS && self.0.len() < length {
            self.0.resize(length, Position::default());
        }
    }

    /// Notes what an instrument's price is multiplied by.
    pub(crate) fn list(&mut self, instrument: &Instrument) {
        self.reach(instrument.id);
        if let Some(position) = self.0.get_mut(instrument.id.0 as usize) {
            position.contract_less_one = instrument.contract() - 1;
        }
    }

    /// False for an impossible fill.
    pub(crate) fn on_fill(&mut self, fill: &Fill) -> bool {
        if fill.quantity <= Quantity::ZERO {
            return false;
        }
        self.reach(fill.instrument);
        let Some(position) = self.0.get_mut(fill.instrument.0 as usize) else { return false };
        position.trade(fill.side, fill.price, fill.quantity);
        true
    }

    pub(crate) fn restore(&mut self, state: &PositionState) {
        self.reach(state.instrument);
        if let Some(position) = self.0.get_mut(state.instrument.0 as usize) {
            position.restore(state);
        }
    }
}
