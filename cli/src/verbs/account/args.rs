//! The command line of `colo account`, `colo kill` and `colo revive`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use topology::config::{Decimal, Rate};
use wire::{AccountKind, ChargeKind, CostMethod, FeeEvent, FeeRule, FeeSide, LimitKind};

use crate::args::InstanceArgument;
use crate::desk::ScopeArguments;
use crate::output::Format;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  colo account list
  colo account show 7
  colo account deposit 7 100000 --why funding

Changes are entries: each names who and why, and is kept. They go to td through `desk.entries`, in memory, also while master is \
dead. Exit code 1 when td refuses one, 5 when td does not answer: then it takes effect when td runs.")]
pub(crate) enum AccountVerb {
    /// Open an account.
    Open(Open),
    /// Money comes in.
    Deposit(Transfer),
    /// Money goes out.
    Withdraw(Transfer),
    /// No new orders and no withdrawals.
    Freeze(Change),
    /// End a freeze.
    Unfreeze(Change),
    /// End an account that is empty.
    Close(Change),
    /// Set or lift a limit of an account, a group, a strategy or the platform.
    Limit(Limit),
    /// Set a charge on fills.
    Fee(Fee),
    /// Set how much margin positions take.
    Margin(Margin),
    /// Set what a currency is worth.
    Rate(CurrencyRateArguments),
    /// List all accounts.
    List(List),
    /// Show one account: money, positions, limits, orders at work.
    Show(Show),
}

/// Who changes something, and why.
#[derive(Debug, Args)]
pub(crate) struct Signed {
    /// For which reason; kept with the entry.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
    /// Who does it, instead of the user's login name.
    #[arg(long, value_name = "NAME")]
    pub(crate) who: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// Whether an entry that looks like a slip is meant.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Force {
    /// Take it although it looks like a slip, or closes positions by force or kills at once.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Which instance, and how the answer is printed.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account open 7 --why mandate
  colo account open 8 --kind futures --method fifo --group 2 --currency CNY --name hedge --why mandate -i demo")]
pub(crate) struct Open {
    /// Its number, never given out twice.
    #[arg(value_name = "NUMBER")]
    pub(crate) account: u32,
    /// By which rules it trades.
    #[arg(long, default_value = "margin", value_parser = kinds())]
    pub(crate) kind: AccountKind,
    /// Which cost leaves when part of a position is closed.
    #[arg(long, default_value = "average", value_parser = methods())]
    pub(crate) method: CostMethod,
    /// Its group.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) group: u32,
    /// The account whose charges and margins hold where it has none of its own.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) parent: u32,
    /// In which money its limits and its equity are counted; else that of the desk.
    #[arg(long, value_name = "CURRENCY")]
    pub(crate) currency: Option<String>,
    /// Its name.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account deposit 7 100000 --why funding
  colo account withdraw 7 0.01 --currency USD --why fee --who ann -i demo --format json")]
pub(crate) struct Transfer {
    /// Which account.
    #[arg(value_name = "NUMBER")]
    pub(crate) account: u32,
    /// How much, exact to nine places.
    pub(crate) amount: Decimal,
    /// In which currency; else the account's.
    #[arg(long, value_name = "CURRENCY")]
    pub(crate) currency: Option<String>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account freeze 7 --why dispute
  colo account unfreeze 7 --why settled -i demo
  colo account close 7 --why ended --format json")]
pub(crate) struct Change {
    /// Which account.
    #[arg(value_name = "NUMBER")]
    pub(crate) account: u32,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account limit position 1000 --account 7 --instrument SIM001 --why mandate
  colo account limit loss 50000.5 --group 2 --why mandate
  colo account limit order-rate 500/50 --strategy takers-1 --why test
  colo account limit loss none --all --why lifted
  colo account limit money off --all --why paper

VALUE is a whole number, an amount of money (gross-notional, order-notional, loss), a rate with what may come at once (500/50), a part \
of equity (margin-call, forced-liquidation), or `none`: no such limit any more. Of the checks money, price-band, self-trade and \
short-sale it is `on` or `off`, with --all. Each is explained in docs/accounts.md.")]
pub(crate) struct Limit {
    /// What is limited.
    #[arg(value_parser = limits())]
    pub(crate) limit: LimitKind,
    /// How much, or `none`, `on`, `off`.
    pub(crate) value: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArguments,
    /// Only in this instrument, by symbol or number; of positions.
    #[arg(long, value_name = "INSTRUMENT")]
    pub(crate) instrument: Option<String>,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

/// For which account and instruments a rule holds.
#[derive(Debug, Args)]
pub(crate) struct RuleOf {
    /// For this account; else for all.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) account: u32,
    /// In this instrument, by symbol or number.
    #[arg(long, value_name = "INSTRUMENT", conflicts_with = "symbols")]
    pub(crate) instrument: Option<String>,
    /// In instruments whose names begin like this; else in all.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) symbols: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account fee 1 --rate 0.0025 --minimum 5 --unit 0.01 --why tariff
  colo account fee 2 --kind tax --side sell --rate 0.0005 --symbols 60 --why stamp
  colo account fee 1 --account 7 --instrument SIM001 --per-lot 1.5 --event close-today --why tariff")]
pub(crate) struct Fee {
    /// Which charge, 1 to 8: an order pays each number once, by the most specific rule.
    #[arg(value_name = "CHARGE")]
    pub(crate) charge: u16,
    #[command(flatten)]
    pub(crate) of: RuleOf,
    /// Who gets it.
    #[arg(long, default_value = "fee", value_parser = charges())]
    pub(crate) kind: ChargeKind,
    /// For purchases, sales, or both.
    #[arg(long, default_value = "both", value_parser = sides())]
    pub(crate) side: FeeSide,
    /// For what opens, what closes, or all.
    #[arg(long, default_value = "any", value_parser = events())]
    pub(crate) event: FeeEvent,
    /// For orders that rested, that came in, or both.
    #[arg(long, default_value = "any", value_parser = liquidities())]
    pub(crate) liquidity: u8,
    /// Part of what the fills are worth.
    #[arg(long, default_value = "0")]
    pub(crate) rate: Decimal,
    /// For each lot.
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    pub(crate) per_lot: Decimal,
    /// Least that an order pays once it has traded.
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    pub(crate) minimum: Decimal,
    /// What it is rounded up to.
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    pub(crate) unit: Decimal,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account margin --long 0.1 --short 0.12 --symbols IF --why exchange
  colo account margin --account 7 --long-per-lot 1000 --short-per-lot 1000 --why house")]
pub(crate) struct Margin {
    #[command(flatten)]
    pub(crate) of: RuleOf,
    /// Of a long position, part of what it is worth.
    #[arg(long, default_value = "0", value_name = "RATE")]
    pub(crate) long: Decimal,
    /// Of a short one.
    #[arg(long, default_value = "0", value_name = "RATE")]
    pub(crate) short: Decimal,
    /// Of a long position, for each lot.
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    pub(crate) long_per_lot: Decimal,
    /// Of a short one.
    #[arg(long, default_value = "0", value_name = "AMOUNT")]
    pub(crate) short_per_lot: Decimal,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account rate USD 7.1

A rate is reference data: its entry keeps neither who nor why.")]
pub(crate) struct CurrencyRateArguments {
    /// Which currency.
    pub(crate) currency: String,
    /// What one of it is worth in the currency of the desk.
    pub(crate) rate: Decimal,
    #[command(flatten)]
    pub(crate) force: Force,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// How a table is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people.
    #[default]
    Text,
    /// One object.
    Json,
    /// One table, with a line of columns.
    Csv,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account list
  colo account list demo --format csv > accounts.csv

Read from what the ledger publishes; where it has published nothing, from the drop copy. An account that strategies have without one \
of the desk's is shown as `own of NODE`.")]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Text for people, one JSON object, or CSV.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo account show 7
  colo account show 7 demo --format json
  colo account show --strategy takers-1
  colo account show 7 --format csv > positions.csv

Computed from the ledger's last snapshot and the drop copy behind it: as of this moment. CSV: its positions.")]
pub(crate) struct Show {
    /// Which account.
    #[arg(value_name = "NUMBER", required_unless_present = "strategy")]
    pub(crate) account: Option<u32>,
    /// The own account of this strategy, by its node's name.
    #[arg(long, value_name = "NODE", conflicts_with = "account")]
    pub(crate) strategy: Option<String>,
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Text for people, one JSON object, or CSV.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo revive --strategy takers-1 --why tested
  colo revive --all --why checked -i demo --format json

From then on td takes orders again. Orders that worked when the switch fell still must end.")]
pub(crate) struct Revive {
    #[command(flatten)]
    pub(crate) scope: ScopeArguments,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo kill --all --why runaway
  colo kill --account 7 --why limits
  colo kill --strategy takers-1 --why test --wait 1m -i demo --format json

From then on td refuses new orders and replaces of what is killed, and what works must end: td cancels it, and sends again what the \
market refuses. Waits until all has ended, and prints how many orders have, and why others still work. Killed again, it cancels \
again. Only `colo revive` lifts the switch; what had to end still must.

Exit code 0 when all orders have ended, 4 when some still work and td goes on, 130 when the wait was interrupted, 1 when td refuses \
it, 5 when td does not answer: then it takes effect when td runs.")]
pub(crate) struct Kill {
    #[command(flatten)]
    pub(crate) scope: ScopeArguments,
    #[command(flatten)]
    pub(crate) signed: Signed,
    /// How long to wait for the end of the orders; 0s: not at all.
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = humantime::parse_duration)]
    pub(crate) wait: std::time::Duration,
}

/// A member of an enumeration of messages, by its name there.
fn member<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names: Vec<&'static str> = all.iter().map(|member| name(*member)).collect();
    PossibleValuesParser::new(names).try_map(move |text| {
        all.iter().copied().find(|member| name(*member) == text).ok_or("there is no such word")
    })
}

fn kinds() -> impl TypedValueParser<Value = AccountKind> {
    member(&[AccountKind::Cash, AccountKind::Margin, AccountKind::Futures], |kind| kind.as_str())
}

fn methods() -> impl TypedValueParser<Value = CostMethod> {
    member(&[CostMethod::Average, CostMethod::Fifo, CostMethod::Settlement], |method| method.as_str())
}

fn charges() -> impl TypedValueParser<Value = ChargeKind> {
    member(&[ChargeKind::Fee, ChargeKind::Tax], |kind| kind.as_str())
}

fn sides() -> impl TypedValueParser<Value = FeeSide> {
    member(&[FeeSide::Both, FeeSide::Buy, FeeSide::Sell], |side| side.as_str())
}

fn events() -> impl TypedValueParser<Value = FeeEvent> {
    member(&[FeeEvent::Any, FeeEvent::Open, FeeEvent::Close, FeeEvent::CloseToday], |event| event.as_str())
}

fn liquidities() -> impl TypedValueParser<Value = u8> {
    member(&[0, FeeRule::MAKER, FeeRule::TAKER], |liquidity| match liquidity {
        FeeRule::MAKER => "maker",
        FeeRule::TAKER => "taker",
        _ => "any",
    })
}

/// All kinds of limits.
const LIMITS: &[LimitKind] = &[
    LimitKind::Position,
    LimitKind::GrossNotional,
    LimitKind::OrderQuantity,
    LimitKind::OrderNotional,
    LimitKind::OrderRate,
    LimitKind::MessageRate,
    LimitKind::OpenOrders,
    LimitKind::Loss,
    LimitKind::RejectRate,
    LimitKind::RunawayRate,
    LimitKind::MarginCall,
    LimitKind::ForcedLiquidation,
    LimitKind::Money,
    LimitKind::PriceBand,
    LimitKind::SelfTrade,
    LimitKind::ShortSale,
];

fn limits() -> impl TypedValueParser<Value = LimitKind> {
    member(LIMITS, |limit| limit.as_str())
}

impl Limit {
    /// Only positions are limited by instrument: of another limit it would say more than takes effect.
    pub(crate) fn demand_scope(&self) -> Result<(), String> {
        match &self.instrument {
            Some(_) if self.limit != LimitKind::Position => Err(format!(
                "--instrument belongs to `position`: {} is limited in all instruments together; leave --instrument out",
                self.limit
            )),
            _ => Ok(()),
        }
    }

    /// The value as the entry has it: whole number, burst, amount.
    pub(crate) fn number(&self) -> Result<(u64, u32, i128), String> {
        let text = &self.value;
        let whole = || text.parse::<u64>().map_err(|_| format!("`{text}` is no whole number"));
        match self.limit {
            LimitKind::Position | LimitKind::OrderQuantity | LimitKind::OpenOrders => {
                whole().map(|number| (number, 0, 0))
            }
            LimitKind::GrossNotional | LimitKind::OrderNotional | LimitKind::Loss => {
                text.parse().map(|amount: Decimal| (0, 0, amount.0))
            }
            LimitKind::OrderRate
            | LimitKind::MessageRate
            | LimitKind::RejectRate
            | LimitKind::RunawayRate => text.parse().map(|rate: Rate| (rate.number, rate.burst, 0)),
            LimitKind::MarginCall | LimitKind::ForcedLiquidation => {
                let part: Decimal = text.parse()?;
                let number = u64::try_from(part.0).map_err(|_| format!("`{text}` is no part of equity"))?;
                Ok((number, 0, 0))
            }
            LimitKind::Money | LimitKind::PriceBand | LimitKind::SelfTrade | LimitKind::ShortSale => {
                Err(format!("the check {} is `on` or `off`", self.limit))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::{Arguments, Verb};

    #[test]
    fn an_instrument_belongs_to_limits_of_positions_alone() {
        for (limit, is_good) in
            [("position", true), ("loss", false), ("open-orders", false), ("money", false)]
        {
            let line = format!("colo account limit {limit} 5 --account 8 --instrument SIM001 --why x");
            let Verb::Account(AccountVerb::Limit(parsed)) =
                Arguments::try_parse_from(line.split(' ')).unwrap().verb
            else {
                panic!("{line} is another verb")
            };
            let said = parsed.demand_scope();
            assert_eq!(said.is_ok(), is_good, "{line}: {said:?}");
            assert!(said.err().is_none_or(|said| said.contains("leave --instrument out")), "{line}");
        }
    }

    /// A terminal breaks lines where it is too narrow; with breaks of our own in it a sentence stands in pieces.
    #[test]
    fn sentences_of_the_help_stand_on_one_line() {
        let command = Arguments::command();
        let account = command.find_subcommand("account").unwrap();
        let verbs = ["kill", "revive", "settle", "audit"].map(|verb| command.find_subcommand(verb).unwrap());
        for verb in account.get_subcommands().chain([account]).chain(verbs) {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in help.lines().filter(|line| !line.is_empty() && !line.starts_with("  ")) {
                let is_whole = line.ends_with(['.', ':']);
                assert!(is_whole, "`{}` breaks off in the middle of a sentence: {line}", verb.get_name());
            }
        }
    }
}
