//! Names of columns, by what they mean.

/// The order of the roles of an orders file.
pub(super) const ORDER_ROLES: [&str; 8] =
    ["time", "joint sequence", "stock", "order type", "order number", "price", "quantity", "side"];
/// The order of the roles of a trades file.
pub(super) const TRADE_ROLES: [&str; 8] =
    ["time", "joint sequence", "stock", "buy order", "sell order", "price", "quantity", "aggressor"];

type Names = &'static [&'static str];

/// Possible headers of each role, in one of the two known layouts.
struct Known {
    name: &'static str,
    orders: [Names; 8],
    trades: [Names; 8],
}

const DATE: Names = &["mddate", "tradedate", "tradingday", "actionday"];
const MONEY: Names = &["trademoney", "tradmoney"];

const KNOWN: [Known; 2] = [
    Known {
        name: "bizindex",
        orders: [
            &["ordertime"],
            &["bizindex"],
            &["securityid"],
            &["ordertype"],
            &["orderno"],
            &["orderprice"],
            &["balance"],
            &["orderbsflag"],
        ],
        trades: [
            &["tradtime", "tradetime"],
            &["bizindex"],
            &["securityid"],
            &["tradebuyno"],
            &["tradesellno"],
            &["tradprice", "tradeprice"],
            &["tradvolume", "tradevolume"],
            &["tradebsflag"],
        ],
    },
    Known {
        name: "applseqnum",
        orders: [
            &["mdtime"],
            &["applseqnum"],
            &["securityid", "htscsecurityid"],
            &["ordertype"],
            &["orderno"],
            &["orderprice"],
            &["orderqty"],
            &["orderbsflag"],
        ],
        trades: [
            &["mdtime"],
            &["applseqnum"],
            &["securityid", "htscsecurityid"],
            &["tradebuyno"],
            &["tradesellno"],
            &["tradeprice"],
            &["tradeqty"],
            &["tradebsflag"],
        ],
    },
];

/// Which headers the columns of an orders file and of a trades file have. Upper and lower case are the same.
///
/// ```
/// use md::source::sse::Layout;
/// assert!(Layout::named("applseqnum").is_some());
/// assert_eq!(Layout::NAMES, ["bizindex", "applseqnum"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) orders: [Vec<String>; 8],
    pub(super) trades: [Vec<String>; 8],
    pub(super) date: Vec<String>,
    pub(super) money: Vec<String>,
}

impl Layout {
    /// Names of the known layouts: that of the joint sequence's column.
    pub const NAMES: [&str; 2] = [KNOWN[0].name, KNOWN[1].name];

    /// The headers of both known layouts.
    pub fn recognised() -> Layout {
        Layout::of(&KNOWN)
    }

    /// Those of one known layout.
    pub fn named(name: &str) -> Option<Layout> {
        KNOWN.iter().position(|known| known.name == name).map(|place| Layout::of(&KNOWN[place..=place]))
    }

    /// Headers of one's own. For both files: time, joint sequence, stock. Then for orders: order type, order number,
    /// price, quantity, side; for trades: buy order, sell order, price, quantity, aggressor. The date is that of the
    /// rows, if they have one.
    pub fn custom(orders: [String; 8], trades: [String; 8], date: Option<String>) -> Layout {
        let one = |header: String| vec![header.trim().to_ascii_lowercase()];
        Layout {
            orders: orders.map(one),
            trades: trades.map(one),
            date: date.map(one).unwrap_or_default(),
            money: Vec::new(),
        }
    }

    fn of(known: &[Known]) -> Layout {
        let collect = |names: fn(&Known) -> &[Names; 8]| {
            std::array::from_fn(|role| {
                let mut all: Vec<String> = Vec::new();
                for &name in known.iter().flat_map(|known| names(known)[role]) {
                    if !all.iter().any(|known| known == name) {
                        all.push(name.to_owned());
                    }
                }
                all
            })
        };
        let owned = |names: Names| names.iter().map(|&name| name.to_owned()).collect();
        Layout {
            orders: collect(|known| &known.orders),
            trades: collect(|known| &known.trades),
            date: owned(DATE),
            money: owned(MONEY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recognised_is_both_known_layouts() {
        let both = Layout::recognised();
        assert_eq!(both.orders[0], ["ordertime", "mdtime"]);
        assert_eq!(both.trades[6], ["tradvolume", "tradevolume", "tradeqty"]);
        let second = Layout::named("applseqnum").unwrap();
        assert_eq!(second.orders[0], ["mdtime"]);
        assert!(Layout::named("level2").is_none());
    }
}
