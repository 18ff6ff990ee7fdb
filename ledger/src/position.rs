//! One position, by the average-cost method.

use wire::{InstrumentId, Money, PositionState, Price, Quantity, Side, StrategyId, WideMoney};

/// One strategy's position in one instrument: its quantity, its cost, and its profit and loss.
///
/// # Method
///
/// Amounts are whole numbers of 1e-9 of the currency (price units times quantity times what a contract multiplies by), 128
/// bits wide.
///
/// - A fill in the direction of the position, or from flat, adds `price × quantity` to the cost of what is open.
/// - A fill against it closes at the average cost: of the cost of what is open the closed part leaves, in
///   proportion to quantity. The difference to what the fill paid is realised.
/// - A fill of more than is open closes all of it and opens the rest at its own price, as two fills would.
///
/// # Rounding
///
/// The cost that leaves at a partial close is rounded towards zero to 1e-9; what is cut off stays with the open
/// part, and comes out when the position is flat or flips. So each partial close moves less than 1e-9 between
/// realised and unrealised, and nothing is ever lost:
///
/// ```text
///     realised + unrealised = cash + position × mark × contract          exactly
/// ```
///
/// where `cash` is what sales brought less what purchases cost. A [`PositionState`] has cash exactly, and so the sum
/// ([`PositionState::profit`]); each of the two parts is rounded towards zero to 1e-6 there, and the average price to
/// 1e-9.
///
/// ```
/// use ledger::Position;
/// use wire::{Price, Quantity, Side};
///
/// let bought = Position::of(1).trade(Side::Buy, Price(10), Quantity(3)).unwrap();
/// let position = bought.trade(Side::Sell, Price(16), Quantity(1)).unwrap();
/// assert_eq!((position.quantity(), position.average_price()), (2, Price(10)));
/// assert_eq!((position.realised(), position.unrealised(Price(9))), (6, -2));
/// assert_eq!(position.realised() + position.unrealised(Price(9)), position.cash() + 2 * 9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    quantity: i64,
    /// Of what is open; has the sign of `quantity`.
    cost: i128,
    cash: i128,
    bought: i64,
    sold: i64,
    fills: u64,
    orders: u64,
    /// One unit of quantity is worth the price times this, and one; so that nothing is one.
    contract_less_one: u64,
}

impl Position {
    /// Nothing held, nothing done, in an instrument whose price is multiplied by 1.
    pub const FLAT: Position = Position::of(1);

    /// Nothing held, nothing done; one unit of quantity is worth the price times `contract`
    /// ([`wire::Instrument::contract`]).
    pub const fn of(contract: u64) -> Position {
        Position {
            quantity: 0,
            cost: 0,
            cash: 0,
            bought: 0,
            sold: 0,
            fills: 0,
            orders: 0,
            contract_less_one: contract.saturating_sub(1),
        }
    }

    fn contract(&self) -> i128 {
        i128::from(self.contract_less_one) + 1
    }

    /// The position after a fill; `None` when `quantity` is not positive or an amount would overflow.
    #[must_use]
    pub fn trade(&self, side: Side, price: Price, quantity: Quantity) -> Option<Position> {
        if quantity.0 <= 0 {
            return None;
        }
        let signed = side.sign() * quantity.0;
        let against = self.quantity.signum() * side.sign() < 0;
        let open = self.quantity.unsigned_abs();
        let closed = if against { open.min(quantity.0.unsigned_abs()) } else { 0 };
        let opened = i128::from(quantity.0) - i128::from(closed);
        let paid = (i128::from(price.0) * i128::from(signed)).checked_mul(self.contract())?;
        let added = (i128::from(price.0) * opened * i128::from(side.sign())).checked_mul(self.contract())?;
        let left = self.cost.checked_sub(share(self.cost, closed, open)?)?;
        let total = |before: i64, of: Side| {
            if side == of { before.checked_add(quantity.0) } else { Some(before) }
        };
        Some(Position {
            // The lowest `i64` has no positive twin: leave it out, so that a sign can always be turned.
            quantity: self.quantity.checked_add(signed).filter(|&sum| sum != i64::MIN)?,
            cost: left.checked_add(added)?,
            cash: self.cash.checked_sub(paid)?,
            bought: total(self.bought, Side::Buy)?,
            sold: total(self.sold, Side::Sell)?,
            fills: self.fills.saturating_add(1),
            orders: self.orders,
            contract_less_one: self.contract_less_one,
        })
    }

    /// Counts an order that matching accepted.
    pub(crate) fn count_order(&mut self) {
        self.orders = self.orders.saturating_add(1);
    }

    /// What is held; short is negative.
    pub fn quantity(&self) -> i64 {
        self.quantity
    }

    /// What sales brought less what purchases cost, in 1e-9.
    pub fn cash(&self) -> i128 {
        self.cash
    }

    /// Average price of what is open, rounded towards zero; zero when flat.
    pub fn average_price(&self) -> Price {
        if self.quantity == 0 {
            return Price::ZERO;
        }
        let average = self.cost / (i128::from(self.quantity) * self.contract());
        Price(average.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// Profit and loss of what was closed, in 1e-9.
    pub fn realised(&self) -> i128 {
        self.cash.saturating_add(self.cost)
    }

    /// Profit and loss of what is open at this price, in 1e-9; zero for [`Price::NONE`].
    pub fn unrealised(&self, mark: Price) -> i128 {
        if mark.is_some() { self.value(mark).saturating_sub(self.cost) } else { 0 }
    }

    /// Number of fills.
    pub(crate) fn fills(&self) -> u64 {
        self.fills
    }

    /// Number of orders that matching accepted.
    pub(crate) fn orders(&self) -> u64 {
        self.orders
    }

    /// The message with this position.
    pub fn state(&self, strategy: StrategyId, instrument: InstrumentId, mark: Price) -> PositionState {
        PositionState {
            strategy,
            reserved: 0,
            instrument,
            position: Quantity(self.quantity),
            average_price: self.average_price(),
            realised: Money::from_wide(self.realised()),
            unrealised: Money::from_wide(self.unrealised(mark)),
            mark_price: mark,
            bought: Quantity(self.bought),
            sold: Quantity(self.sold),
            fills: self.fills,
            orders: self.orders,
            cash: WideMoney::from_wide(self.cash),
        }
    }

    /// A position whose [`state`](Position::state) is this message.
    ///
    /// Cash is exact in the message, and so is the position's total profit and loss at any later mark. The cost of what is open is
    /// known from rounded amounts: one is taken that rounds to the average price and to the realised and unrealised
    /// amounts, so that each of these is off by less than 1e-6.
    pub(crate) fn from_state(state: &PositionState, contract: u64) -> Position {
        let empty = Position::of(contract);
        let quantity = state.position.0;
        let held = i128::from(quantity).saturating_mul(empty.contract());
        let cash = state.cash.wide();
        let rounded = i128::from(state.average_price.0).saturating_mul(held);
        let (low, high) = around(rounded, held.abs());
        let (mut least, mut most) = if quantity == 0 { (0, 0) } else { (low, high) };
        let mut narrow = |low: i128, high: i128| {
            (least, most) = (low.clamp(least, most), high.clamp(least, most));
        };
        if quantity != 0 {
            let (low, high) = around(i128::from(state.realised.0) * 1_000, 1_000);
            narrow(low.saturating_sub(cash), high.saturating_sub(cash));
            if state.mark_price.is_some() {
                let value = state.position.wide(state.mark_price).saturating_mul(empty.contract());
                let (low, high) = around(i128::from(state.unrealised.0) * 1_000, 1_000);
                narrow(value - high, value - low);
            }
        }
        Position {
            quantity,
            cost: least,
            cash,
            bought: state.bought.0,
            sold: state.sold.0,
            fills: state.fills,
            orders: state.orders,
            ..empty
        }
    }

    fn value(&self, mark: Price) -> i128 {
        Quantity(self.quantity).wide(mark).saturating_mul(self.contract())
    }
}

/// The amounts that are this one once they are rounded towards zero to a multiple of `step`.
fn around(rounded: i128, step: i128) -> (i128, i128) {
    let slack = step - 1;
    match rounded.signum() {
        1 => (rounded, rounded + slack),
        -1 => (rounded - slack, rounded),
        _ => (-slack, slack),
    }
}

/// `amount × part / whole`, rounded towards zero, without a product that could overflow where the result does not.
/// Zero for nothing of nothing.
fn share(amount: i128, part: u64, whole: u64) -> Option<i128> {
    if part == 0 {
        return Some(0);
    }
    let (part, whole) = (i128::from(part), i128::from(whole));
    // Quotient and remainder have the sign of the amount, so that both roundings go the same way.
    let even = (amount / whole).checked_mul(part)?;
    even.checked_add((amount % whole) * part / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traded(fills: &[(Side, i64, i64)]) -> Position {
        fills.iter().fold(Position::FLAT, |position, &(side, price, quantity)| {
            position.trade(side, Price(price), Quantity(quantity)).unwrap()
        })
    }

    use Side::{Buy, Sell};

    #[test]
    fn adding_averages_and_closing_keeps_the_average() {
        let position = traded(&[(Buy, 10, 100), (Buy, 20, 300)]);
        assert_eq!((position.quantity(), position.average_price()), (400, Price(17)), "17.5 towards zero");
        let position = traded(&[(Buy, 10, 100), (Buy, 20, 300), (Sell, 30, 200)]);
        assert_eq!((position.realised(), position.unrealised(Price(0))), (2_500, -3_500));
        assert_eq!(position.average_price(), Price(17));
    }

    #[test]
    fn a_flip_closes_all_and_opens_the_rest_at_the_fills_price() {
        let position = traded(&[(Buy, 10, 100), (Sell, 13, 250)]);
        assert_eq!((position.quantity(), position.average_price()), (-150, Price(13)));
        assert_eq!((position.realised(), position.unrealised(Price(12))), (300, 150));
        assert_eq!(
            position,
            Position { fills: 2, ..traded(&[(Buy, 10, 100), (Sell, 13, 100), (Sell, 13, 150)]) }
        );
        let position = traded(&[(Sell, 10, 5), (Buy, 7, 10)]);
        assert_eq!((position.quantity(), position.realised()), (5, 15));
    }

    #[test]
    fn flat_leaves_nothing_behind_whatever_was_rounded() {
        let position = traded(&[(Buy, 10, 1), (Buy, 11, 2), (Sell, 20, 1), (Sell, 20, 1), (Sell, 20, 1)]);
        assert_eq!((position.quantity(), position.average_price()), (0, Price(0)));
        assert_eq!((position.realised(), position.unrealised(Price(99))), (60 - 32, 0));
        assert_eq!((position.bought, position.sold, position.fills()), (3, 3, 5));
    }

    #[test]
    fn short_positions_and_negative_prices_have_their_signs_right() {
        let position = traded(&[(Sell, -5, 10)]);
        assert_eq!((position.cash(), position.average_price()), (-50, Price(-5)));
        assert_eq!((position.unrealised(Price(-8)), position.unrealised(Price::NONE)), (30, 0));
    }

    #[test]
    fn money_is_multiplied_by_the_contract_and_prices_are_not() {
        let position = Position::of(50).trade(Buy, Price(10), Quantity(4)).unwrap();
        let position = position.trade(Sell, Price(13), Quantity(1)).unwrap();
        assert_eq!((position.quantity(), position.average_price()), (3, Price(10)));
        assert_eq!((position.realised(), position.unrealised(Price(9))), (150, -150));
        assert_eq!(position.cash(), -50 * (4 * 10 - 13));
        let state = position.state(StrategyId(1), InstrumentId(1), Price(9));
        assert_eq!(state.profit(50), 0);
        let restored = Position::from_state(&state, 50);
        assert_eq!((restored.quantity(), restored.cash()), (3, position.cash()));
        assert_eq!(restored.average_price(), Price(10));
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        assert_eq!(Position::FLAT.trade(Buy, Price(1), Quantity(0)), None);
        assert_eq!(Position::FLAT.trade(Buy, Price(1), Quantity(i64::MIN)), None);
        let most = Position::FLAT.trade(Sell, Price(i64::MIN), Quantity(i64::MAX)).unwrap();
        assert_eq!((most.quantity(), most.average_price()), (-i64::MAX, Price(i64::MIN)));
        assert_eq!(most.trade(Sell, Price(1), Quantity(1)), None);
        assert_eq!(most.trade(Buy, Price(1), Quantity(i64::MAX)).map(|flat| flat.quantity()), Some(0));
    }

    #[test]
    fn a_share_is_exact_where_the_product_would_overflow() {
        let amount = (1_i128 << 125) + 12_345;
        assert_eq!(share(amount, 1 << 40, 1 << 40), Some(amount));
        assert_eq!(share(-7, 1, 2), Some(-3));
        assert_eq!(share(7, 2, 3), Some(4));
        assert_eq!(share(0, 0, 0), Some(0));
    }
}
