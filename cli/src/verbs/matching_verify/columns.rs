//! `--columns`: the headers of the files.

use std::path::Path;

use md::source::sse::Layout;
use node::Exit;
use settings::schema::Absent;
use settings::section;

use crate::failure::Failure;

section! {
    /// Headers of the orders file.
    pub struct OrderColumns {
        /// Time of day.
        time: String = String::new(), Absent::Required("write time = \"HEADER\"");
        /// Joint sequence of orders and trades.
        sequence: String = String::new(), Absent::Required("write sequence = \"HEADER\"");
        /// Number of the stock.
        stock: String = String::new(), Absent::Required("write stock = \"HEADER\"");
        /// Add (A, 2) or cancel (D, 10).
        kind: String = String::new(), Absent::Required("write kind = \"HEADER\"");
        /// Number of the order.
        order: String = String::new(), Absent::Required("write order = \"HEADER\"");
        /// Price.
        price: String = String::new(), Absent::Required("write price = \"HEADER\"");
        /// Quantity.
        quantity: String = String::new(), Absent::Required("write quantity = \"HEADER\"");
        /// Buy (B, 1) or sell (S, 2).
        side: String = String::new(), Absent::Required("write side = \"HEADER\"");
    }
}

section! {
    /// Headers of the trades file.
    pub struct TradeColumns {
        /// Time of day.
        time: String = String::new(), Absent::Required("write time = \"HEADER\"");
        /// Joint sequence of orders and trades.
        sequence: String = String::new(), Absent::Required("write sequence = \"HEADER\"");
        /// Number of the stock.
        stock: String = String::new(), Absent::Required("write stock = \"HEADER\"");
        /// Number of the buyer's order.
        buy: String = String::new(), Absent::Required("write buy = \"HEADER\"");
        /// Number of the seller's order.
        sell: String = String::new(), Absent::Required("write sell = \"HEADER\"");
        /// Price.
        price: String = String::new(), Absent::Required("write price = \"HEADER\"");
        /// Quantity.
        quantity: String = String::new(), Absent::Required("write quantity = \"HEADER\"");
        /// Whose order came in: buyer (B, 1), seller (S, 2), none (N, 0).
        aggressor: String = String::new(), Absent::Required("write aggressor = \"HEADER\"");
    }
}

section! {
    /// Headers of both files.
    pub struct ColumnNames {
        /// Of the orders file.
        orders: OrderColumns = OrderColumns::default(), Absent::Required("write [orders] with the headers of the orders file");
        /// Of the trades file.
        trades: TradeColumns = TradeColumns::default(), Absent::Required("write [trades] with the headers of the trades file");
        /// Date of a row in either file, if there is one.
        date: Option<String> = None;
    }
}

/// The layout of that name, or that a file describes; without a name, both known ones.
///
/// # Errors
/// [`Exit::Usage`]: neither a known layout nor a file, or a file that is wrong.
pub(super) fn layout(name: Option<&str>) -> Result<Layout, Failure> {
    let Some(name) = name else { return Ok(Layout::recognised()) };
    if let Some(layout) = Layout::named(name) {
        return Ok(layout);
    }
    let path = Path::new(name);
    if !path.is_file() {
        let known = Layout::NAMES.join(", ");
        let message =
            format!("--columns {name}: no such layout and no such file; expected {known}, or a TOML file");
        return Err(Failure::new(Exit::Usage, message));
    }
    let unusable = |error: settings::LoadError| Failure::new(Exit::Usage, error.to_string());
    let text = settings::read_file(path).map_err(unusable)?;
    let names =
        settings::parse::<ColumnNames>(name, &text, &[]).map_err(|error| unusable(error.into()))?.value;
    let ColumnNames { orders, trades, date } = names;
    let orders = [
        orders.time,
        orders.sequence,
        orders.stock,
        orders.kind,
        orders.order,
        orders.price,
        orders.quantity,
        orders.side,
    ];
    let trades = [
        trades.time,
        trades.sequence,
        trades.stock,
        trades.buy,
        trades.sell,
        trades.price,
        trades.quantity,
        trades.aggressor,
    ];
    Ok(Layout::custom(orders, trades, date))
}
