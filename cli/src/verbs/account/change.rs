//! The verbs that change something: each makes an entry, and says what became of it.

use std::os::unix::fs::MetadataExt;

use accounts::Refusal;
use node::{Exit, InstanceDir};
use serde::Serialize;
use topology::config::Decimal;
use wire::{
    AccountAction, AccountChange, AccountId, AccountLimit, AccountOpen, AccountScope, Currency, CurrencyRate,
    FeeRule, InstrumentId, LimitChange, LimitKind, MarginRule, Symbol, Text, WideMoney,
};

use accounts::Entry;

use super::Ends;
use super::args::{
    Change, CurrencyRateArguments, Fee, Force, Limit, Margin, Open, Place, RuleOf, Signed, Transfer,
};
use super::slips;
use crate::desk::{self, Entered, Outcome, Sent};
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::verbs::instance::instance;

/// What `--format json` prints of a change.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    instance: String,
    what: String,
    who: Option<String>,
    why: Option<String>,
    /// `taken`, `again`, `refused` or `waiting`.
    state: &'static str,
    /// Position of the entry in `desk.entries`.
    entry: u64,
    /// Where in `td.drops` it took effect, and when.
    position: Option<u64>,
    time_ns: Option<u64>,
    refusal: Option<String>,
    refusal_number: Option<u32>,
    #[serde(flatten)]
    pub(crate) ends: Option<Ends>,
}

impl Report {
    pub(crate) fn new(instance: &InstanceDir, what: String, by: Option<&By>, entered: &Entered) -> Report {
        let (state, taken) = match entered.outcome {
            Outcome::Taken { position, time } => ("taken", Some((position, time))),
            Outcome::Refused { .. } => ("refused", None),
            Outcome::Waiting => ("waiting", None),
        };
        let number = match entered.outcome {
            Outcome::Refused { number, .. } => Some(number),
            _ => None,
        };
        Report {
            instance: instance.name().to_owned(),
            what,
            who: by.map(|by| by.who.to_string()),
            why: by.map(|by| by.why.to_string()),
            state,
            entry: entered.position,
            position: taken.map(|(position, _)| position),
            time_ns: taken.map(|(_, time)| time),
            refusal: entered.outcome.refusal(),
            refusal_number: number,
            ends: None,
        }
    }

    /// Where it took effect, if it did.
    pub(crate) fn position(&self) -> Option<u64> {
        self.position
    }

    /// What is killed already may be killed again: td cancels again what still works.
    pub(crate) fn accept_again(&mut self) {
        if self.refusal_number == Some(Refusal::Already.number()) {
            (self.state, self.refusal, self.refusal_number) = ("again", None, None);
        }
    }

    /// True when a switch has fallen, by this entry or one before.
    pub(crate) fn has_killed(&self) -> bool {
        matches!(self.state, "taken" | "again")
    }

    /// Prints it; the exit code.
    pub(crate) fn print(&self, format: Format) -> Result<u8, Failure> {
        match format {
            Format::Json => output::print_json(self)?,
            Format::Text => {
                if let Some(text) = self.text() {
                    output::print(&text)?;
                }
            }
        }
        match &self.refusal {
            Some(refusal) => Err(Failure::new(Exit::Failed, format!("{}: refused: {refusal}", self.what))),
            None if self.state == "waiting" => Ok(Exit::Inconclusive.code()),
            None => Ok(self.ends.as_ref().map_or(Exit::Done.code(), Ends::code)),
        }
    }

    fn text(&self) -> Option<String> {
        match (self.state, self.position) {
            ("taken", Some(position)) => {
                let ends = self.ends.as_ref().map_or(String::new(), |ends| format!("\n{}", ends.text()));
                Some(format!("{}: took effect at {}@{position}{ends}", self.what, desk::DROPS))
            }
            ("again", _) => {
                let ends = self.ends.as_ref().map_or(String::new(), |ends| format!("\n{}", ends.text()));
                Some(format!(
                    "{}: it was killed before; what still works is cancelled again{ends}",
                    self.what
                ))
            }
            ("waiting", _) => Some(format!(
                "{}: entered at position {}; it takes effect when td runs, once: do not enter it again; `colo account list` shows \
                 the balance then",
                self.what, self.entry
            )),
            _ => None,
        }
    }
}

/// Who does it and why, as an entry keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct By {
    pub(crate) who: Text<32>,
    pub(crate) why: Text<64>,
}

impl By {
    pub(crate) fn new(who: Option<&str>, why: &str) -> Result<By, Failure> {
        let login;
        let who = match who {
            Some(who) => who,
            None => {
                login = login_name();
                &login
            }
        };
        let why = text(why, "--why")?;
        Ok(By { who: text(who, "--who")?, why })
    }

    fn of(signed: &Signed) -> Result<By, Failure> {
        By::new(signed.who.as_deref(), &signed.why)
    }
}

fn usage(message: String) -> Failure {
    Failure::new(Exit::Usage, message)
}

/// A text of an entry: it is kept whole or refused, never cut.
fn text<const N: usize>(value: &str, flag: &str) -> Result<Text<N>, Failure> {
    if value.trim().is_empty() {
        return Err(usage(format!("{flag} is empty: entries say who does what, and why")));
    }
    kept(value, flag)
}

/// A text that may be empty.
fn kept<const N: usize>(value: &str, flag: &str) -> Result<Text<N>, Failure> {
    if value.chars().any(char::is_control) {
        let shown = output::escaped(value);
        return Err(usage(format!("{flag} `{shown}` has a control character: write one line of text")));
    }
    Text::new(value).ok_or_else(|| usage(format!("{flag} `{value}` is longer than {N} bytes")))
}

/// The name of the user that this process runs as.
fn login_name() -> String {
    let uid = std::fs::metadata("/proc/self").map(|own| own.uid()).ok();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let known = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, id) = (fields.next()?, fields.nth(1)?);
        (id.parse().ok() == uid).then(|| name.to_owned())
    });
    let other = || std::env::var("USER").ok().filter(|name| !name.is_empty());
    known.or_else(other).unwrap_or_else(|| uid.map_or("unknown".to_owned(), |uid| format!("uid {uid}")))
}

pub(crate) fn currency(text: &str) -> Result<Currency, Failure> {
    Currency::new(text)
        .filter(|currency| !currency.is_empty())
        .ok_or_else(|| usage(format!("`{text}` is no currency: one to eight letters, as in CNY")))
}

/// An amount of a rule in 1e-9, where only a positive one of 64 bits makes sense.
fn small(value: Decimal, flag: &str) -> Result<u64, Failure> {
    u64::try_from(value.0).map_err(|_| usage(format!("{flag} {value} is negative or too large")))
}

fn wide(value: Decimal) -> WideMoney {
    WideMoney::from_wide(value.0)
}

/// Makes one entry and prints what became of it.
fn one(place: &Place, what: String, by: Option<&By>, entry: Sent) -> Result<u8, Failure> {
    let instance = instance(place.instance.name())?;
    send(&instance, what, by, entry)?.print(place.format)
}

/// Makes one entry and prints what became of it, unless it looks like a slip.
fn asked(
    instance: &InstanceDir,
    what: String,
    by: Option<&By>,
    (entry, force): (&Entry, Force),
    place: &Place,
) -> Result<u8, Failure> {
    slips::demand(instance, entry, force.force)?;
    let sent = match entry {
        Entry::Open(entry) => Sent::new(entry),
        Entry::Change(entry) => Sent::new(entry),
        Entry::Limit(entry) => Sent::new(entry),
        Entry::Fee(entry) => Sent::new(entry),
        Entry::Margin(entry) => Sent::new(entry),
        Entry::Terms(entry) => Sent::new(entry),
        Entry::Rate(entry) => Sent::new(entry),
        Entry::Price(entry) => Sent::new(entry),
        Entry::Settle(entry) => Sent::new(entry),
    };
    send(instance, what, by, sent)?.print(place.format)
}

/// Makes one entry.
pub(crate) fn send(
    instance: &InstanceDir,
    what: String,
    by: Option<&By>,
    entry: Sent,
) -> Result<Report, Failure> {
    let entered = desk::enter(instance, &[entry])?;
    let entered =
        entered.first().ok_or_else(|| Failure::new(Exit::Failed, "the entry was not made".to_owned()))?;
    Ok(Report::new(instance, what, by, entered))
}

pub(super) fn open(arguments: &Open) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    let name = kept(&arguments.name, "--name")?;
    let place = &arguments.signed.place;
    let instance = instance(place.instance.name())?;
    desk::demand(&instance)?;
    let home = match &arguments.currency {
        Some(own) => currency(own)?,
        None => {
            let section = desk::section(&desk::topology(&instance)?);
            currency(&section.map_or_else(|| "CNY".to_owned(), |section| section.config.currency))?
        }
    };
    let entry = AccountOpen {
        account: AccountId(arguments.account),
        group: arguments.group,
        parent: AccountId(arguments.parent),
        kind: arguments.kind,
        method: arguments.method,
        reserved: 0,
        currency: home,
        name,
        who: by.who,
        why: by.why,
    };
    let what = format!("account {} opened", arguments.account);
    send(&instance, what, Some(&by), Sent::new(&entry))?.print(place.format)
}

/// An entry about a scope, without money.
pub(crate) fn change(scope: AccountScope, subject: u32, action: AccountAction, by: &By) -> AccountChange {
    AccountChange {
        subject,
        scope,
        action,
        reserved: 0,
        amount: WideMoney::default(),
        currency: Currency::EMPTY,
        who: by.who,
        why: by.why,
    }
}

pub(super) fn transfer(arguments: &Transfer, action: AccountAction) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    let place = &arguments.signed.place;
    let instance = instance(place.instance.name())?;
    desk::demand(&instance)?;
    let money = match &arguments.currency {
        Some(own) => currency(own)?,
        None => own_currency(&instance, arguments.account)?,
    };
    let entry = AccountChange {
        amount: wide(arguments.amount),
        currency: money,
        ..change(AccountScope::Account, arguments.account, action, &by)
    };
    let what = format!("account {}: {action} {} {money}", arguments.account, arguments.amount);
    asked(&instance, what, Some(&by), (&Entry::Change(entry), arguments.force), place)
}

/// The currency that an account counts in.
fn own_currency(instance: &InstanceDir, account: u32) -> Result<Currency, Failure> {
    if let Some(states) = desk::states(instance)?
        && let Some(state) = states
            .iter()
            .find(|state| state.account.0 == account && state.owner == wire::AccountState::NOBODY)
    {
        return Ok(state.currency);
    }
    let section = desk::section(&desk::topology(instance)?);
    let following = desk::follow(instance, section.as_ref())?;
    let known = following.follower.desk.account(AccountId(account));
    known.map(|account| account.currency).ok_or_else(|| super::unknown(instance, account))
}

pub(super) fn simple(arguments: &Change, action: AccountAction) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    let entry = change(AccountScope::Account, arguments.account, action, &by);
    let what = format!("account {}: {action}", arguments.account);
    one(&arguments.signed.place, what, Some(&by), Sent::new(&entry))
}

pub(super) fn limit(arguments: &Limit) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    arguments.demand_scope().map_err(usage)?;
    let place = &arguments.signed.place;
    let instance = instance(place.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let (scope, subject) = arguments.scope.scope(&topology)?;
    let (change, (number, burst, amount)) = match arguments.value.as_str() {
        "none" => (LimitChange::Lift, (0, 0, 0)),
        "on" => (LimitChange::Enable, (0, 0, 0)),
        "off" => (LimitChange::Disable, (0, 0, 0)),
        _ => (LimitChange::Set, arguments.number().map_err(usage)?),
    };
    let is_check = matches!(
        arguments.limit,
        LimitKind::Money | LimitKind::PriceBand | LimitKind::SelfTrade | LimitKind::ShortSale
    );
    let is_switched = matches!(change, LimitChange::Enable | LimitChange::Disable);
    if is_check != is_switched {
        let takes = if is_check { "`on` or `off`" } else { "a number or `none`" };
        return Err(usage(format!("{} takes {takes}, not `{}`", arguments.limit, arguments.value)));
    }
    let entry = AccountLimit {
        subject,
        scope,
        limit: arguments.limit,
        change,
        reserved: 0,
        instrument: optional_instrument(&instance, arguments.instrument.as_deref())?,
        burst,
        number,
        amount: WideMoney::from_wide(amount),
        who: by.who,
        why: by.why,
    };
    let of = desk::scope_name(scope, subject, Some(&topology));
    let what = format!("{of}: {} {}", arguments.limit, arguments.value);
    asked(&instance, what, Some(&by), (&Entry::Limit(entry), arguments.force), place)
}

fn optional_instrument(instance: &InstanceDir, text: Option<&str>) -> Result<InstrumentId, Failure> {
    text.map_or(Ok(InstrumentId(0)), |text| desk::instrument(instance, text))
}

/// The instance, and which instruments a rule is for.
fn rule(of: &RuleOf, place: &Place) -> Result<(InstanceDir, InstrumentId, Symbol), Failure> {
    let prefix = prefix(of.symbols.as_deref())?;
    let instance = instance(place.instance.name())?;
    desk::demand(&instance)?;
    let number = optional_instrument(&instance, of.instrument.as_deref())?;
    Ok((instance, number, prefix))
}

/// How the names of a rule's instruments begin; nothing: of all.
fn prefix(symbols: Option<&str>) -> Result<Symbol, Failure> {
    match symbols {
        None => Ok(Symbol::default()),
        Some("") => Err(usage("--symbols is empty: leave it out where the rule is for all".to_owned())),
        Some(text) => Symbol::new(text)
            .ok_or_else(|| usage(format!("--symbols `{text}` is longer than a symbol can be"))),
    }
}

pub(super) fn fee(arguments: &Fee) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    let place = &arguments.signed.place;
    let (instance, instrument, prefix) = rule(&arguments.of, place)?;
    let entry = FeeRule {
        account: AccountId(arguments.of.account),
        instrument,
        prefix,
        charge: arguments.charge,
        kind: arguments.kind,
        side: arguments.side,
        event: arguments.event,
        flags: arguments.liquidity,
        reserved: [0; 2],
        unit: small(arguments.unit, "--unit")?,
        rate: small(arguments.rate, "--rate")?,
        per_lot: wide(arguments.per_lot),
        minimum: wide(arguments.minimum),
        who: by.who,
        why: by.why,
    };
    let what = format!("charge {} set", arguments.charge);
    asked(&instance, what, Some(&by), (&Entry::Fee(entry), arguments.force), place)
}

pub(super) fn margin(arguments: &Margin) -> Result<u8, Failure> {
    let by = By::of(&arguments.signed)?;
    let place = &arguments.signed.place;
    let (instance, instrument, prefix) = rule(&arguments.of, place)?;
    let entry = MarginRule {
        account: AccountId(arguments.of.account),
        instrument,
        prefix,
        long_rate: small(arguments.long, "--long")?,
        short_rate: small(arguments.short, "--short")?,
        long_per_lot: wide(arguments.long_per_lot),
        short_per_lot: wide(arguments.short_per_lot),
        who: by.who,
        why: by.why,
    };
    asked(&instance, "margin set".to_owned(), Some(&by), (&Entry::Margin(entry), arguments.force), place)
}

pub(super) fn rate(arguments: &CurrencyRateArguments) -> Result<u8, Failure> {
    let entry =
        CurrencyRate { currency: currency(&arguments.currency)?, rate: small(arguments.rate, "the rate")? };
    let what = format!("{} is worth {}", arguments.currency, arguments.rate);
    let instance = instance(arguments.place.instance.name())?;
    desk::demand(&instance)?;
    asked(&instance, what, None, (&Entry::Rate(entry), arguments.force), &arguments.place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_rule_without_symbols_is_for_all_instruments() {
        assert_eq!(prefix(None).unwrap(), Symbol::default());
        assert_eq!(prefix(Some("IF")).unwrap().as_str(), "IF");
        assert!(refusal(prefix(Some(""))).contains("leave it out"));
        assert!(refusal(prefix(Some(&"x".repeat(25)))).contains("longer than a symbol"));
    }

    #[test]
    fn what_an_entry_keeps_is_one_line_of_text() {
        for (who, why, flag) in [
            (Some("ann"), "one\ntwo", "--why `one\\ntwo`"),
            (Some("\u{1b}[2J"), "test", "--who `\\u{1b}[2J`"),
            (Some("a\u{7f}nn"), "test", "--who"),
            (Some("ann"), "a\0b", "--why"),
        ] {
            let said = refusal(By::new(who, why));
            assert!(said.contains(flag) && said.contains("control character"), "{said}");
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
        assert!(refusal(kept::<32>("a\tb", "--name")).contains("--name"));
        assert!(kept::<32>("", "--name").unwrap().is_empty());
        assert_eq!(By::new(Some("Änne"), "“fine”").unwrap().why.as_str(), "“fine”");
    }
}
