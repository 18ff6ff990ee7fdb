//! `colo account list`.

use accounts::Touched;
use node::Exit;
use serde::Serialize;
use topology::Topology;
use wire::{AccountState, WideMoney};

use super::args::{List, TableFormat};
use crate::desk;
use crate::failure::Failure;
use crate::output::{self, count, table};
use crate::verbs::instance::instance;

/// One account, as it is printed.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    account: u32,
    /// Whose own account it is: a node.
    strategy: Option<String>,
    kind: String,
    currency: String,
    balance: String,
    equity: String,
    available: String,
    frozen: String,
    margin: String,
    risk_ratio: Option<String>,
    day_result: String,
    open_orders: u32,
    is_frozen: bool,
    is_closed: bool,
    is_killed: bool,
    /// Position in the drop copy before which everything is contained.
    drops_position: u64,
}

const COLUMNS: &[&str] = &[
    "account",
    "strategy",
    "kind",
    "currency",
    "balance",
    "equity",
    "available",
    "frozen",
    "margin",
    "risk_ratio",
    "day_result",
    "open_orders",
    "is_frozen",
    "is_closed",
    "is_killed",
    "drops_position",
];

impl Row {
    pub(super) fn of(state: &AccountState, topology: &Topology) -> Row {
        let owner = Some(state.owner).filter(|owner| *owner != AccountState::NOBODY);
        let money = |amount: WideMoney| amount.to_string();
        let is = |flag: u8| state.flags & flag != 0;
        Row {
            account: state.account.0,
            strategy: owner.map(|owner| desk::strategy_name(Some(topology), owner)),
            kind: state.kind.to_string(),
            currency: state.currency.to_string(),
            balance: money(state.balance),
            equity: money(state.equity),
            available: money(state.available),
            frozen: money(state.frozen),
            margin: money(state.margin),
            risk_ratio: ratio(state.risk_ratio),
            day_result: money(state.day_result),
            open_orders: state.open_orders,
            is_frozen: is(AccountState::FROZEN),
            is_closed: is(AccountState::CLOSED),
            is_killed: is(AccountState::KILLED),
            drops_position: state.drops,
        }
    }

    fn name(&self) -> String {
        match &self.strategy {
            Some(strategy) => format!("own of {strategy}"),
            None => self.account.to_string(),
        }
    }

    fn standing(&self) -> String {
        let words = [(self.is_closed, "closed"), (self.is_killed, "killed"), (self.is_frozen, "frozen")];
        let said: Vec<&str> = words.iter().filter(|(is_so, _)| *is_so).map(|(_, word)| *word).collect();
        if said.is_empty() { "open".to_owned() } else { said.join(", ") }
    }

    /// The account in two lines.
    pub(super) fn describe(&self, name: Option<&str>) -> String {
        let called = name.map_or(String::new(), |name| format!(" ({})", output::escaped(name)));
        format!(
            "account {}{called}: {}, {}; as of td.drops@{}\n  {}: equity {}, available {}, margin {} (ratio {}), result of the \
             day {}; {} at work\n",
            self.name(),
            self.kind,
            self.standing(),
            self.drops_position,
            self.currency,
            self.equity,
            self.available,
            self.margin,
            self.risk_ratio.as_deref().unwrap_or("without equity"),
            self.day_result,
            count(self.open_orders.into(), "order"),
        )
    }

    fn cells(&self) -> Vec<String> {
        let flag = |is: bool| is.to_string();
        vec![
            self.account.to_string(),
            self.strategy.clone().unwrap_or_default(),
            self.kind.clone(),
            self.currency.clone(),
            self.balance.clone(),
            self.equity.clone(),
            self.available.clone(),
            self.frozen.clone(),
            self.margin.clone(),
            self.risk_ratio.clone().unwrap_or_default(),
            self.day_result.clone(),
            self.open_orders.to_string(),
            flag(self.is_frozen),
            flag(self.is_closed),
            flag(self.is_killed),
            self.drops_position.to_string(),
        ]
    }
}

/// Margin as a part of equity; none where there is margin and no equity.
fn ratio(ratio: u64) -> Option<String> {
    (ratio != u64::MAX).then(|| WideMoney::from_wide(ratio.into()).to_string())
}

pub(super) fn list(arguments: &List) -> Result<u8, Failure> {
    let instance = instance(arguments.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let states = match desk::states(&instance)? {
        Some(states) if !states.is_empty() => states,
        _ => {
            let section = desk::section(&topology);
            let following = desk::follow(&instance, section.as_ref())?;
            let mut states = Vec::new();
            following.follower.states(Touched::All, |_, state| states.push(state));
            states
        }
    };
    let rows: Vec<Row> = states.iter().map(|state| Row::of(state, &topology)).collect();
    match arguments.format {
        TableFormat::Json => {
            output::print_json(&serde_json::json!({ "instance": instance.name(), "accounts": rows }))?;
        }
        TableFormat::Csv => output::print(&csv(COLUMNS, rows.iter().map(Row::cells)))?,
        TableFormat::Text => output::print(&text(&rows))?,
    }
    Ok(Exit::Done.code())
}

/// Lines of CSV under a line of columns.
fn csv(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let lines = rows.map(|cells| cells.join(","));
    std::iter::once(columns.join(",")).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
}

fn text(rows: &[Row]) -> String {
    let head = [
        "account",
        "kind",
        "standing",
        "currency",
        "balance",
        "equity",
        "available",
        "frozen",
        "margin",
        "ratio",
        "day result",
        "orders",
    ];
    let cells = rows.iter().map(|row| {
        vec![
            row.name(),
            row.kind.clone(),
            row.standing(),
            row.currency.clone(),
            row.balance.clone(),
            row.equity.clone(),
            row.available.clone(),
            row.frozen.clone(),
            row.margin.clone(),
            row.risk_ratio.clone().unwrap_or_else(|| "-".to_owned()),
            row.day_result.clone(),
            row.open_orders.to_string(),
        ]
    });
    table(&head, 4, cells)
}
