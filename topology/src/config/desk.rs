//! `[[accounts]]` and `[desk]`: whose money is traded with, and by which rules.

use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use settings::schema::{Absent, Form, Kind, Section};
use settings::{described, duration, section, words};

use super::PlatformConfig;

/// An exact decimal number with up to nine places, in 1e-9: `"0.1"`, `1000000`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(pub i128);

impl Decimal {
    /// One, in its units.
    pub const ONE: i128 = 1_000_000_000;

    /// As a price; `None` where it is too large for one.
    pub fn price(self) -> Option<wire::Price> {
        i64::try_from(self.0).ok().map(wire::Price)
    }
}

impl FromStr for Decimal {
    type Err = String;

    fn from_str(text: &str) -> Result<Decimal, String> {
        let shape =
            || "write a number with up to nine places behind the point, as in 1000000 or 0.025".to_owned();
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (whole, places) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(places) || places.len() > 9 {
            return Err(shape());
        }
        if digits.ends_with('.') {
            return Err(shape());
        }
        let whole: i128 = whole.parse().map_err(|_| "the number is too large".to_owned())?;
        let places: i128 = format!("{places:0<9}").parse().map_err(|_| shape())?;
        let value = whole.checked_mul(Decimal::ONE).and_then(|whole| whole.checked_add(places));
        value.map(|value| Decimal(sign * value)).ok_or_else(|| "the number is too large".to_owned())
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        wire::WideMoney::from_wide(self.0).fmt(f)
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// How many a second, and how many at once: `"500"`, `"500/50"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// A second.
    pub number: u64,
    /// At once.
    pub burst: u32,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let shape =
            || "write how many a second, as in 500, or with how many at once, as in 500/50".to_owned();
        let (number, burst) = text.split_once('/').unwrap_or((text, text));
        let rate = Rate {
            number: number.trim().parse().map_err(|_| shape())?,
            burst: burst.trim().parse().map_err(|_| shape())?,
        };
        if rate.burst == 0 { Err(shape()) } else { Ok(rate) }
    }
}

impl std::fmt::Display for Rate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if u64::from(self.burst) == self.number {
            f.pad(&self.number.to_string())
        } else {
            f.pad(&format!("{}/{}", self.number, self.burst))
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

const DECIMAL: Form = Form {
    what: "an exact number",
    example: "\"0.025\"",
    pattern: "^-?[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| text.parse().map(|value: Decimal| value.to_string()),
    integer: true,
    longest: None,
};

const STEP: Form = Form {
    what: "a step of prices",
    example: "\"0.01\"",
    pattern: "^[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| match text.parse::<Decimal>()? {
        step if step.0 > 0 && step.price().is_some() => Ok(step.to_string()),
        _ => Err("a step above zero".to_owned()),
    },
    integer: true,
    longest: None,
};

/// The largest amount of a charge or a margin for each lot, as the accounts have it.
const MOST_CHARGE: i128 = 1 << 60;

const AMOUNT: Form = Form {
    what: "an amount of money",
    example: "\"1.25\"",
    pattern: "^[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| match text.parse::<Decimal>()? {
        amount if amount.0 < 0 => Err("an amount of 0 or more: there are no negative charges".to_owned()),
        amount if amount.0 > MOST_CHARGE => Err(format!("at most {}", Decimal(MOST_CHARGE))),
        amount => Ok(amount.to_string()),
    },
    integer: true,
    longest: None,
};

const PART_OF_VALUE: Form = Form {
    what: "a part of the value",
    example: "\"0.0001\"",
    pattern: "^0(\\.[0-9]{1,9})?$",
    parse: |text| {
        match text.parse::<Decimal>()? {
        part if (0..Decimal::ONE).contains(&part.0) => Ok(part.to_string()),
        _ => Err("0 or more and less than 1: a part of what the fills are worth, as in 0.0001 for a hundredth of a per cent"
            .to_owned()),
    }
    },
    integer: true,
    longest: None,
};

const MARGIN_RATE: Form = Form {
    what: "a part of the value",
    example: "\"0.1\"",
    pattern: "^[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| match text.parse::<Decimal>()? {
        part if (0..=1_000 * Decimal::ONE).contains(&part.0) => Ok(part.to_string()),
        _ => Err("from 0 to 1000, a part of what the position is worth, as in 0.1 for a tenth".to_owned()),
    },
    integer: true,
    longest: None,
};

const SHARE: Form = Form {
    what: "a part of the price",
    example: "\"0.1\"",
    pattern: "^[0-9]+(\\.[0-9]{1,9})?$",
    parse: |text| match text.parse::<Decimal>()? {
        share if share.0 > 0 && share.0 < Decimal::ONE => Ok(share.to_string()),
        _ => Err("more than 0 and less than 1, as in 0.1 for a tenth".to_owned()),
    },
    integer: true,
    longest: None,
};

const RATE: Form = Form {
    what: "a rate",
    example: "\"500/50\"",
    pattern: "^[0-9]+(/[0-9]+)?$",
    parse: |text| text.parse().map(|rate: Rate| rate.to_string()),
    integer: true,
    longest: None,
};

const CURRENCY: Form = Form {
    what: "a currency",
    example: "\"CNY\"",
    pattern: "^[A-Z0-9]{1,8}$",
    parse: |text| match text.len() {
        1..=8 if text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) => {
            Ok(text.to_owned())
        }
        _ => Err("one to eight capital letters or digits".to_owned()),
    },
    integer: false,
    longest: Some(8),
};

described! {
    Decimal = Kind::Parsed(&DECIMAL);
    Rate = Kind::Parsed(&RATE);
}

/// Largest number of an account.
const MOST_ACCOUNT: i64 = 1 << 20;

words! {
    /// By which rules an account trades.
    pub enum AccountRules ("kind of account") {
        /// Pays for what it buys, and sells only what it holds.
        Cash = "cash",
        /// Long or short; margin is frozen.
        Margin = "margin",
        /// Long and short apart, today's and yesterday's apart; margin is frozen.
        Futures = "futures",
    }
}

words! {
    /// Which cost leaves when part of a position is closed.
    pub enum CostRule ("cost method") {
        /// One moving average a side.
        Average = "average",
        /// The oldest lots first.
        Fifo = "fifo",
        /// The average of the day; settlement sets it to the settlement price.
        Settlement = "settlement",
    }
}

words! {
    /// Who gets a charge.
    pub enum ChargeRule ("kind of charge") {
        /// Broker or exchange.
        Fee = "fee",
        /// The state.
        Tax = "tax",
    }
}

words! {
    /// Which fills a charge is made for.
    pub enum ChargeSide ("side of a charge") {
        /// All.
        Both = "both",
        /// Purchases.
        Buy = "buy",
        /// Sales.
        Sell = "sell",
    }
}

words! {
    /// Which fills a charge is made for, by what they do to the position.
    pub enum ChargeEvent ("event of a charge") {
        /// All.
        Any = "any",
        /// What opens.
        Open = "open",
        /// What closes a position of an earlier day.
        Close = "close",
        /// What closes a position of today.
        CloseToday = "close-today",
    }
}

words! {
    /// Which fills a charge is made for, by whose order rested.
    pub enum ChargeLiquidity ("liquidity of a charge") {
        /// All.
        Any = "any",
        /// Those of an order that rested.
        Maker = "maker",
        /// Those of an order that came in.
        Taker = "taker",
    }
}

words! {
    /// A check that may be left out, of the whole platform.
    pub enum SwitchedCheck ("check") {
        /// Money and margin.
        Money = "money",
        /// Prices within the band.
        PriceBand = "price-band",
        /// Trades with another strategy of the account.
        SelfTrade = "self-trade",
        /// Short sales.
        ShortSale = "short-sale",
    }
}

section! {
    /// Limits of an account, a group, a strategy or the platform. What is not given is not limited.
    pub struct DeskLimits {
        /// Position in each instrument if all that works on one side fills.
        position: Option<u64> = None;
        /// What all positions and working orders are worth together.
        gross_notional: Option<Decimal> = None;
        /// Quantity of one order.
        order_quantity: Option<u64> = None;
        /// What one order is worth.
        order_notional: Option<Decimal> = None;
        /// New orders a second.
        order_rate: Option<Rate> = None;
        /// Requests of all kinds a second.
        message_rate: Option<Rate> = None;
        /// Orders that work at once.
        open_orders: Option<u32> = None;
        /// What may be lost in a day; past it, the kill switch falls.
        loss: Option<Decimal> = None;
        /// Refused orders a second; past it, the kill switch falls.
        reject_rate: Option<Rate> = None;
        /// New orders a second; past it, the kill switch falls.
        runaway_rate: Option<Rate> = None;
        /// Margin as a part of equity from which on more money is asked for; of accounts.
        margin_call: Option<Decimal> = None;
        /// Margin as a part of equity from which on positions are closed by force; of accounts.
        forced_liquidation: Option<Decimal> = None;
    }
}

section! {
    /// An account, opened when the platform starts.
    pub struct AccountConfig {
        /// Its number, which orders name; never given out twice.
        number: u32 = 0 => Kind::Integer { min: 1, max: MOST_ACCOUNT }, Absent::Required("write number = 7");
        /// Its name, up to 32 bytes.
        name: Option<String> = None;
        /// By which rules it trades.
        kind: AccountRules = AccountRules::Margin;
        /// Which cost leaves when part of a position is closed.
        method: CostRule = CostRule::Average;
        /// Its group; 0: none.
        group: u32 = 0;
        /// The account whose fees and margins hold where there are none of its own; 0: none.
        parent: u32 = 0 => Kind::Integer { min: 0, max: MOST_ACCOUNT };
        /// In which money its limits and its equity are counted.
        currency: Option<String> = None => Kind::Parsed(&CURRENCY), Absent::Derived("desk.currency");
        /// What it begins with, in its currency.
        deposit: Decimal = Decimal(0);
        /// Its limits.
        limits: DeskLimits = DeskLimits::default();
    }
}

section! {
    /// What is true of instruments; of each key the row that fits and has the longest name holds. What no row says, comes from
    /// md.instruments_file, then from what is known of the source.
    pub struct ContractConfig {
        /// Of instruments whose names begin like this (`?`: any character, `#`: a digit); absent: of all.
        symbols: Option<String> = None;
        /// Prices are multiples of this.
        tick: Option<Decimal> = None => Kind::Parsed(&STEP), Absent::Derived("0.01 of stocks, otherwise the smallest step of a price");
        /// Quantities are multiples of this.
        lot: Option<i64> = None => Kind::Integer { min: 1, max: 1_000_000_000 }, Absent::Derived("1");
        /// Largest quantity of one order; 0: no limit.
        max_quantity: Option<i64> = None => Kind::Integer { min: 0, max: 1_000_000_000_000 }, Absent::Derived("0");
        /// Lowest price of an order.
        price_low: Option<Decimal> = None;
        /// Highest price of an order.
        price_high: Option<Decimal> = None;
        /// The price that limits and td's band lie around all day, as the close of the day before. Not set: of simulated instruments their
        /// first; of a recorded day none, and td's band follows the last trade.
        reference_price: Option<Decimal> = None;
        /// Both, as a part of the reference price up and down: "0.1".
        price_limit: Option<Decimal> = None => Kind::Parsed(&SHARE);
        /// One unit of quantity is worth the price times this.
        multiplier: Option<u64> = None => Kind::Integer { min: 1, max: 1_000_000_000 }, Absent::Derived("1");
        /// In which money it is paid.
        currency: Option<String> = None => Kind::Parsed(&CURRENCY), Absent::Derived("desk.currency");
        /// It may be sold short.
        shortable: Option<bool> = None, Absent::Derived("true");
        /// Orders are taken.
        tradable: Option<bool> = None, Absent::Derived("true");
        /// The exchange tells closing today's position from closing an earlier day's.
        today_apart: Option<bool> = None, Absent::Derived("false");
    }
}

impl ContractConfig {
    /// Takes what `below` says and this does not.
    pub(crate) fn fill_from(&mut self, below: &ContractConfig) {
        fn fill<T: Clone>(own: &mut Option<T>, below: &Option<T>) {
            if own.is_none() {
                own.clone_from(below);
            }
        }
        // One limit that is said takes the place of both ends of those below.
        if self.price_low.is_none() && self.price_high.is_none() && self.price_limit.is_none() {
            self.price_low = below.price_low;
            self.price_high = below.price_high;
            self.price_limit = below.price_limit;
        }
        fill(&mut self.tick, &below.tick);
        fill(&mut self.reference_price, &below.reference_price);
        fill(&mut self.lot, &below.lot);
        fill(&mut self.max_quantity, &below.max_quantity);
        fill(&mut self.multiplier, &below.multiplier);
        fill(&mut self.currency, &below.currency);
        fill(&mut self.shortable, &below.shortable);
        fill(&mut self.tradable, &below.tradable);
        fill(&mut self.today_apart, &below.today_apart);
    }
}

section! {
    /// A charge on fills. Of the rows of a number that are for a fill (side, event, liquidity), the most specific holds.
    pub struct FeeConfig {
        /// Which charge: of its rows one holds for a fill.
        charge: u16 = 1 => Kind::Integer { min: 1, max: 8 };
        /// In instruments whose names begin like this; absent: in all.
        symbols: Option<String> = None;
        /// For which account; 0: for all.
        account: u32 = 0 => Kind::Integer { min: 0, max: MOST_ACCOUNT };
        /// Who gets it.
        kind: ChargeRule = ChargeRule::Fee;
        /// For purchases, sales, or both.
        side: ChargeSide = ChargeSide::Both;
        /// For opening, closing, or all.
        event: ChargeEvent = ChargeEvent::Any;
        /// For orders that rested, that came in, or both.
        liquidity: ChargeLiquidity = ChargeLiquidity::Any;
        /// Part of what the fills are worth, less than 1.
        rate: Decimal = Decimal(0) => Kind::Parsed(&PART_OF_VALUE);
        /// For each lot.
        per_lot: Decimal = Decimal(0) => Kind::Parsed(&AMOUNT);
        /// Least that an order pays once it has traded so.
        minimum: Decimal = Decimal(0) => Kind::Parsed(&AMOUNT);
        /// What it is rounded up to; 0: 1e-9.
        unit: Decimal = Decimal(0) => Kind::Parsed(&AMOUNT);
    }
}

section! {
    /// How much margin positions take. The most specific row holds.
    pub struct MarginConfig {
        /// In instruments whose names begin like this; absent: in all.
        symbols: Option<String> = None;
        /// For which account; 0: for all.
        account: u32 = 0 => Kind::Integer { min: 0, max: MOST_ACCOUNT };
        /// Of a long position, part of what it is worth.
        long: Decimal = Decimal(0) => Kind::Parsed(&MARGIN_RATE);
        /// Of a short one.
        short: Decimal = Decimal(0) => Kind::Parsed(&MARGIN_RATE);
        /// Of a long position, for each lot.
        long_per_lot: Decimal = Decimal(0) => Kind::Parsed(&AMOUNT);
        /// Of a short one.
        short_per_lot: Decimal = Decimal(0) => Kind::Parsed(&AMOUNT);
    }
}

section! {
    /// A currency beside that of the desk.
    pub struct CurrencyConfig {
        /// Which one.
        name: String = String::new() => Kind::Parsed(&CURRENCY), Absent::Required("write name = \"USD\"");
        /// What it is worth in the currency of the desk.
        rate: Decimal = Decimal(0), Absent::Required("write rate = \"7.1\"");
    }
}

section! {
    /// Limits of a group of accounts.
    pub struct DeskGroup {
        /// Its number.
        number: u32 = 0 => Kind::Integer { min: 1, max: MOST_ACCOUNT }, Absent::Required("write number = 1");
        /// Its limits.
        limits: DeskLimits = DeskLimits::default();
    }
}

section! {
    /// Limits of a strategy, over all accounts that it trades for. Those of `[td]` hold besides.
    pub struct DeskStrategy {
        /// The node, as in "makers-1".
        name: String = String::new() => Kind::Parsed(&crate::forms::MEMBER), Absent::Required("write name = \"makers-1\"");
        /// Its limits.
        limits: DeskLimits = DeskLimits::default();
    }
}

section! {
    /// The desk: what holds for all accounts. Accounts are kept where there is an `[[accounts]]`, a file of them, or `enabled`.
    pub struct DeskConfig {
        /// Whether accounts are kept: money, margin and limits checked, kill switches, the drop copy.
        enabled: bool = false, Absent::Derived("true where there are accounts");
        /// Further accounts, one a line: a CSV file whose first line names its columns, those of [[accounts]] and of its limits.
        file: Option<String> = None;
        /// In which money the platform counts.
        currency: String = "CNY".to_owned() => Kind::Parsed(&CURRENCY);
        /// Accounts that there is room for.
        most_accounts: u32 = 256 => Kind::Integer { min: 1, max: MOST_ACCOUNT };
        /// Ended orders that are remembered: for requests that come twice and fills that come late.
        remembered: u32 = 4_096;
        /// Least time between two marks of an instrument, at which losses count. In lock-step each quote marks.
        #[serde(with = "duration")]
        mark_every: Duration = Duration::from_millis(100);
        /// Checks that are not made.
        without: Vec<SwitchedCheck> = Vec::new();
        /// Limits of the platform as a whole.
        limits: DeskLimits = DeskLimits::default();
        /// Limits of groups of accounts.
        groups: Vec<DeskGroup> = Vec::new() => Kind::Tables(<DeskGroup as Section>::TABLE);
        /// Limits of strategies.
        strategies: Vec<DeskStrategy> = Vec::new() => Kind::Tables(<DeskStrategy as Section>::TABLE);
        /// Other currencies.
        currencies: Vec<CurrencyConfig> = Vec::new() => Kind::Tables(<CurrencyConfig as Section>::TABLE);
        /// What is true of instruments; none: lots of 1, shortable.
        contracts: Vec<ContractConfig> = Vec::new() => Kind::Tables(<ContractConfig as Section>::TABLE);
        /// Charges on fills.
        fees: Vec<FeeConfig> = Vec::new() => Kind::Tables(<FeeConfig as Section>::TABLE);
        /// Margin of positions.
        margins: Vec<MarginConfig> = Vec::new() => Kind::Tables(<MarginConfig as Section>::TABLE);
    }
}

impl PlatformConfig {
    /// Whether the platform keeps accounts.
    pub fn keeps_accounts(&self) -> bool {
        self.desk.enabled || self.desk.file.is_some() || !self.accounts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_print_as_they_were_written() {
        for (text, value) in
            [("0.1", 100_000_000), ("1000000", 1_000_000 * Decimal::ONE), ("-0.000000001", -1)]
        {
            let parsed: Decimal = text.parse().unwrap();
            assert_eq!((parsed.0, parsed.to_string().as_str()), (value, text));
        }
        for wrong in ["", "1.", ".5", "1e3", "0.0000000001", "--1", "1,5"] {
            assert!(wrong.parse::<Decimal>().is_err(), "{wrong}");
        }
        assert!("9".repeat(60).parse::<Decimal>().is_err());
    }

    #[test]
    fn a_rate_says_how_many_a_second_and_how_many_at_once() {
        assert_eq!("500".parse(), Ok(Rate { number: 500, burst: 500 }));
        assert_eq!("500/50".parse(), Ok(Rate { number: 500, burst: 50 }));
        assert!("500/0".parse::<Rate>().is_err() && "x".parse::<Rate>().is_err());
        assert_eq!(Rate { number: 500, burst: 50 }.to_string(), "500/50");
    }
}
