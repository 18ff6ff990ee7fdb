//! From `[desk]` and `[[accounts]]` to the entries that open the accounts when the platform starts.

mod file;

use std::collections::BTreeSet;

use wire::{
    AccountAction, AccountChange, AccountId, AccountKind, AccountLimit, AccountOpen, AccountScope,
    AnyMessage, ChargeKind, ContractTerms, CostMethod, Currency, CurrencyRate, FeeEvent, FeeRule, FeeSide,
    Instrument, InstrumentId, LimitChange, LimitKind, MarginRule, Price, StrategyId, Symbol, Text, WideMoney,
};

use crate::config::{
    AccountConfig, AccountRules, ChargeEvent, ChargeLiquidity, ChargeRule, ChargeSide, CostRule, Decimal,
    DeskConfig, DeskLimits, FeeConfig, MarginConfig, Rate, SwitchedCheck,
};

use crate::market::{Market, has_rate};

pub use file::read_accounts;

/// The largest amount of one booking, as the accounts have it.
pub const MOST_AMOUNT: i128 = 1 << 100;

const WHO: &str = "platform file";
const WHY: &str = "opened at the start";

/// What is wrong with the accounts of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskFault {
    /// The key.
    pub path: String,
    /// What.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Why an account cannot be called so: a name is kept whole or refused, never cut.
fn name_fault(name: &str) -> Option<String> {
    if name.chars().any(char::is_control) {
        return Some(format!("the name {name:?} has a control character"));
    }
    Text::<32>::new(name).is_none().then(|| format!("the name `{name}` is longer than 32 bytes"))
}

/// Why an account cannot begin with so much.
fn deposit_fault(deposit: Decimal) -> Option<String> {
    if deposit.0 < 0 {
        return Some(format!("the deposit {deposit} is negative"));
    }
    let most = Decimal(MOST_AMOUNT);
    (deposit > most).then(|| format!("the deposit {deposit} is larger than a booking can be: {most}"))
}

/// Limits as entries, of one scope.
fn limits(scope: AccountScope, subject: u32, limits: &DeskLimits, out: &mut Vec<AnyMessage>) {
    let base = AccountLimit {
        subject,
        scope,
        limit: LimitKind::Position,
        change: LimitChange::Set,
        reserved: 0,
        instrument: InstrumentId(0),
        burst: 0,
        number: 0,
        amount: WideMoney::default(),
        who: Text::cut(WHO),
        why: Text::cut(WHY),
    };
    let number = |limit, value: Option<u64>| value.map(|number| AccountLimit { limit, number, ..base });
    let amount = |limit, value: Option<Decimal>| {
        value.map(|value| AccountLimit { limit, amount: WideMoney::from_wide(value.0), ..base })
    };
    let rate = |limit, value: Option<Rate>| {
        value.map(|rate| AccountLimit { limit, number: rate.number, burst: rate.burst, ..base })
    };
    let part = |limit, value: Option<Decimal>| {
        value.map(|value| AccountLimit { limit, number: u64::try_from(value.0).unwrap_or(0), ..base })
    };
    let all = [
        number(LimitKind::Position, limits.position),
        amount(LimitKind::GrossNotional, limits.gross_notional),
        number(LimitKind::OrderQuantity, limits.order_quantity),
        amount(LimitKind::OrderNotional, limits.order_notional),
        rate(LimitKind::OrderRate, limits.order_rate),
        rate(LimitKind::MessageRate, limits.message_rate),
        number(LimitKind::OpenOrders, limits.open_orders.map(u64::from)),
        amount(LimitKind::Loss, limits.loss),
        rate(LimitKind::RejectRate, limits.reject_rate),
        rate(LimitKind::RunawayRate, limits.runaway_rate),
        part(LimitKind::MarginCall, limits.margin_call),
        part(LimitKind::ForcedLiquidation, limits.forced_liquidation),
    ];
    out.extend(all.into_iter().flatten().map(AnyMessage::AccountLimit));
}

fn currency(config: &DeskConfig, own: Option<&str>) -> Currency {
    Currency::cut(own.unwrap_or(&config.currency))
}

fn symbol(prefix: Option<&str>) -> Symbol {
    prefix.and_then(Symbol::new).unwrap_or_default()
}

pub(crate) fn fee(row: &FeeConfig) -> FeeRule {
    FeeRule {
        account: AccountId(row.account),
        instrument: InstrumentId(0),
        prefix: symbol(row.symbols.as_deref()),
        charge: row.charge,
        kind: match row.kind {
            ChargeRule::Fee => ChargeKind::Fee,
            ChargeRule::Tax => ChargeKind::Tax,
        },
        side: match row.side {
            ChargeSide::Both => FeeSide::Both,
            ChargeSide::Buy => FeeSide::Buy,
            ChargeSide::Sell => FeeSide::Sell,
        },
        event: match row.event {
            ChargeEvent::Any => FeeEvent::Any,
            ChargeEvent::Open => FeeEvent::Open,
            ChargeEvent::Close => FeeEvent::Close,
            ChargeEvent::CloseToday => FeeEvent::CloseToday,
        },
        flags: match row.liquidity {
            ChargeLiquidity::Any => 0,
            ChargeLiquidity::Maker => FeeRule::MAKER,
            ChargeLiquidity::Taker => FeeRule::TAKER,
        },
        reserved: [0; 2],
        unit: u64::try_from(row.unit.0).unwrap_or(0),
        rate: u64::try_from(row.rate.0).unwrap_or(0),
        per_lot: WideMoney::from_wide(row.per_lot.0),
        minimum: WideMoney::from_wide(row.minimum.0),
        who: Text::cut(WHO),
        why: Text::cut(WHY),
    }
}

fn margin(row: &MarginConfig) -> MarginRule {
    let rate = |value: Decimal| u64::try_from(value.0).unwrap_or(0);
    MarginRule {
        account: AccountId(row.account),
        instrument: InstrumentId(0),
        prefix: symbol(row.symbols.as_deref()),
        long_rate: rate(row.long),
        short_rate: rate(row.short),
        long_per_lot: WideMoney::from_wide(row.long_per_lot.0),
        short_per_lot: WideMoney::from_wide(row.short_per_lot.0),
        who: Text::cut(WHO),
        why: Text::cut(WHY),
    }
}

/// An account's opening, its deposit and its limits.
pub fn account(config: &DeskConfig, account: &AccountConfig, out: &mut Vec<AnyMessage>) {
    let currency = currency(config, account.currency.as_deref());
    out.push(AnyMessage::AccountOpen(AccountOpen {
        account: AccountId(account.number),
        group: account.group,
        parent: AccountId(account.parent),
        kind: match account.kind {
            AccountRules::Cash => AccountKind::Cash,
            AccountRules::Margin => AccountKind::Margin,
            AccountRules::Futures => AccountKind::Futures,
        },
        method: match account.method {
            CostRule::Average => CostMethod::Average,
            CostRule::Fifo => CostMethod::Fifo,
            CostRule::Settlement => CostMethod::Settlement,
        },
        reserved: 0,
        currency,
        name: Text::cut(account.name.as_deref().unwrap_or_default()),
        who: Text::cut(WHO),
        why: Text::cut(WHY),
    }));
    if account.deposit.0 != 0 {
        out.push(AnyMessage::AccountChange(AccountChange {
            subject: account.number,
            scope: AccountScope::Account,
            action: AccountAction::Deposit,
            reserved: 0,
            amount: WideMoney::from_wide(account.deposit.0),
            currency,
            who: Text::cut(WHO),
            why: Text::cut(WHY),
        }));
    }
    limits(AccountScope::Account, account.number, &account.limits, out);
}

/// All entries with which the accounts begin, in the order in which they are taken. `seat_of` knows the strategies.
pub fn opening(
    config: &DeskConfig,
    accounts: &[AccountConfig],
    seat_of: impl Fn(&str) -> Option<StrategyId>,
) -> Vec<AnyMessage> {
    let mut out = vec![AnyMessage::CurrencyRate(CurrencyRate {
        currency: Currency::cut(&config.currency),
        rate: Decimal::ONE as u64,
    })];
    for row in &config.currencies {
        let rate = u64::try_from(row.rate.0).unwrap_or(0);
        out.push(AnyMessage::CurrencyRate(CurrencyRate { currency: Currency::cut(&row.name), rate }));
    }
    let of_all = |account: u32| account == 0;
    for row in config.fees.iter().filter(|row| of_all(row.account)) {
        out.push(AnyMessage::FeeRule(fee(row)));
    }
    for row in config.margins.iter().filter(|row| of_all(row.account)) {
        out.push(AnyMessage::MarginRule(margin(row)));
    }
    for check in &config.without {
        let limit = match check {
            SwitchedCheck::Money => LimitKind::Money,
            SwitchedCheck::PriceBand => LimitKind::PriceBand,
            SwitchedCheck::SelfTrade => LimitKind::SelfTrade,
            SwitchedCheck::ShortSale => LimitKind::ShortSale,
        };
        out.push(AnyMessage::AccountLimit(AccountLimit {
            subject: 0,
            scope: AccountScope::Platform,
            limit,
            change: LimitChange::Disable,
            reserved: 0,
            instrument: InstrumentId(0),
            burst: 0,
            number: 0,
            amount: WideMoney::default(),
            who: Text::cut(WHO),
            why: Text::cut(WHY),
        }));
    }
    limits(AccountScope::Platform, 0, &config.limits, &mut out);
    accounts.iter().for_each(|row| account(config, row, &mut out));
    for row in config.fees.iter().filter(|row| !of_all(row.account)) {
        out.push(AnyMessage::FeeRule(fee(row)));
    }
    for row in config.margins.iter().filter(|row| !of_all(row.account)) {
        out.push(AnyMessage::MarginRule(margin(row)));
    }
    config.groups.iter().for_each(|group| limits(AccountScope::Group, group.number, &group.limits, &mut out));
    for strategy in &config.strategies {
        if let Some(seat) = seat_of(&strategy.name) {
            limits(AccountScope::Strategy, seat.0.into(), &strategy.limits, &mut out);
        }
    }
    out
}

/// What the accounts need to know of an instrument that md has listed: what the desk says itself, then what the list has.
pub fn terms(config: &DeskConfig, market: &Market, instrument: &Instrument) -> ContractTerms {
    let own = Market::of_desk(config);
    let market = if market.is_empty() { &own } else { market };
    let row = market.contract(instrument.symbol.as_str());
    let mut flags = 0;
    for (is_so, flag) in [
        (row.tradable.unwrap_or(true), ContractTerms::TRADABLE),
        (row.shortable.unwrap_or(true), ContractTerms::SHORTABLE),
        (row.today_apart.unwrap_or(false), ContractTerms::TODAY_APART),
    ] {
        flags |= if is_so { flag } else { 0 };
    }
    // A list from before there were multipliers in it, as in an old recording, has none.
    let listed = Some(instrument.multiplier).filter(|multiplier| *multiplier > 0);
    let listed_currency = Some(instrument.currency.as_str()).filter(|currency| has_rate(config, currency));
    ContractTerms {
        instrument: instrument.id,
        flags,
        symbol: instrument.symbol,
        currency: currency(config, row.currency.as_deref().or(listed_currency)),
        multiplier: row.multiplier.or(listed).unwrap_or(1),
        price_low: if instrument.price_low.is_some() { instrument.price_low } else { Price::NONE },
        price_high: if instrument.price_high.is_some() { instrument.price_high } else { Price::NONE },
    }
}

/// Whether the accounts can be opened as the file says: what a desk would refuse, with its key.
///
/// # Errors
/// The first fault.
pub fn rehearse(config: &DeskConfig, accounts: &[AccountConfig]) -> Result<(), DeskFault> {
    let fault =
        |path: String, message: String, help: &str| Err(DeskFault { path, message, help: help.to_owned() });
    let mut money: BTreeSet<&str> = config.currencies.iter().map(|row| row.name.as_str()).collect();
    if money.len() < config.currencies.len() || money.contains(config.currency.as_str()) {
        return fault(
            "desk.currencies".to_owned(),
            "a currency is given twice".to_owned(),
            "give each other currency once; that of the desk has the rate 1",
        );
    }
    money.insert(&config.currency);
    for (index, row) in config.currencies.iter().enumerate() {
        if row.rate.0 <= 0 {
            let message = format!("{} is worth {}", row.name, row.rate);
            return fault(format!("desk.currencies.{index}.rate"), message, "give a positive rate");
        }
    }
    let mut known = BTreeSet::new();
    for (index, row) in accounts.iter().enumerate() {
        let path = |key: &str| format!("accounts.{index}.{key}");
        if !known.insert(row.number) {
            let message = format!("there are two accounts {}", row.number);
            return fault(path("number"), message, "give each its own number");
        }
        if row.parent != 0 && (row.parent == row.number || !known.contains(&row.parent)) {
            let message = format!("account {} is opened before its parent {}", row.number, row.parent);
            return fault(path("parent"), message, "list the parent first");
        }
        if let Some(own) = row.currency.as_deref().filter(|own| !money.contains(own)) {
            let message = format!("the currency {own} of account {} has no rate", row.number);
            return fault(path("currency"), message, "add it with [[desk.currencies]]");
        }
        if let Some(what) = row.name.as_deref().and_then(name_fault) {
            let message = format!("account {}: {what}", row.number);
            return fault(path("name"), message, "give a name of at most 32 bytes on one line");
        }
        if let Some(what) = deposit_fault(row.deposit) {
            let message = format!("account {}: {what}", row.number);
            return fault(path("deposit"), message, "give a deposit from 0 to 2^100 units of 0.000000001");
        }
    }
    for (index, row) in config.contracts.iter().enumerate() {
        if let Some(own) = row.currency.as_deref().filter(|own| !money.contains(own)) {
            let message = format!("the currency {own} has no rate");
            return fault(
                format!("desk.contracts.{index}.currency"),
                message,
                "add it with [[desk.currencies]]",
            );
        }
    }
    let rows = config.fees.iter().map(|row| row.account).enumerate().map(|row| ("fees", row));
    let margins = config.margins.iter().map(|row| row.account).enumerate().map(|row| ("margins", row));
    for (table, (index, account)) in rows.chain(margins) {
        if account != 0 && !known.contains(&account) {
            let message = format!("there is no account {account}");
            return fault(format!("desk.{table}.{index}.account"), message, "open it with [[accounts]]");
        }
    }
    let groups: BTreeSet<u32> = accounts.iter().map(|row| row.group).collect();
    for (index, group) in config.groups.iter().enumerate() {
        if !groups.contains(&group.number) {
            let message = format!("no account is in group {}", group.number);
            return fault(format!("desk.groups.{index}.number"), message, "set `group` of its accounts");
        }
    }
    Ok(())
}
