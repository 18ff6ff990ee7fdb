//! The checks, each a pure function of what it looks at. `docs/accounts.md` lists them in their order.

mod money;
mod numbers;
mod position;
mod price;
mod standing;

pub(crate) use money::{gross, money};
pub(crate) use numbers::{open_orders, order_notional, order_quantity};
pub(crate) use position::{position, short_sale};
pub(crate) use price::{crosses, price, worst_prices};
pub(crate) use standing::{account, rate, tradable};
