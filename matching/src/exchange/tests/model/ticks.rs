//! Prices that are multiples of the tick.

use wire::Price;

/// The tick that holds at a price.
fn tick_at(ticks: &[(Price, Price)], price: i128) -> i128 {
    let holds = ticks.iter().rev().find(|(from, _)| i128::from(from.0) <= price);
    i128::from(holds.unwrap_or(&ticks[0]).1.0)
}

pub(in crate::exchange::tests) fn is_on_tick(ticks: &[(Price, Price)], price: i64) -> bool {
    i128::from(price) % tick_at(ticks, i128::from(price)) == 0
}

/// The lowest price on a tick that is not below.
pub(in crate::exchange::tests) fn round_up(ticks: &[(Price, Price)], price: i128) -> i128 {
    let tick = tick_at(ticks, price);
    let rounded = price + (-price).rem_euclid(tick);
    // A coarser or finer tick may begin on the way.
    let next = ticks.iter().skip(1).map(|(from, _)| i128::from(from.0)).find(|from| *from > price);
    match next {
        Some(from) if from <= rounded => round_up(ticks, from),
        _ => rounded,
    }
}

/// The highest price on a tick that is not above.
pub(in crate::exchange::tests) fn round_down(ticks: &[(Price, Price)], price: i128) -> i128 {
    let tick = tick_at(ticks, price);
    let rounded = price - price.rem_euclid(tick);
    let from = ticks.iter().skip(1).map(|(from, _)| i128::from(from.0)).rfind(|from| *from <= price);
    match from {
        Some(from) if rounded < from => round_down(ticks, from - 1),
        _ => rounded,
    }
}
