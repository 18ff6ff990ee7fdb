//! `colo account show`: one account, as of this moment.

use accounts::{AccountView, PositionRow, Touched};
use node::Exit;
use serde::Serialize;
use topology::config::AccountChoice;
use topology::{NodeKind, TdSection, Topology};
use wire::{AccountId, AccountScope, StrategyId};

use super::args::{Show, TableFormat};
use super::list::Row;
use super::rows::{Limit, Money, Order, Position};
use crate::desk::{self, Kills};
use crate::failure::Failure;
use crate::output::{self, table};
use crate::verbs::instance::instance;

/// What `--format json` prints.
#[derive(Debug, Serialize)]
struct Account {
    instance: String,
    name: Option<String>,
    group: Option<u32>,
    parent: Option<u32>,
    method: Option<String>,
    #[serde(flatten)]
    state: Row,
    /// Its own kill switch, its group's, its strategy's, the platform's.
    kills: Vec<Kills>,
    money: Vec<Money>,
    positions: Vec<Position>,
    limits: Vec<Limit>,
    orders: Vec<Order>,
}

pub(super) fn show(arguments: &Show) -> Result<u8, Failure> {
    let instance = instance(arguments.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let section = desk::section(&topology);
    let (strategy, number) = match &arguments.strategy {
        Some(name) => (desk::strategy_seat(&topology, name)?, AccountId::OWN),
        None => (StrategyId(0), AccountId(arguments.account.unwrap_or_default())),
    };
    let following = desk::follow(&instance, section.as_ref())?;
    let desk = &following.follower.desk;
    let view = match number {
        AccountId::OWN => desk.account_of(strategy, number),
        number => desk.account(number),
    };
    let unknown = || match &arguments.strategy {
        Some(name) => Failure::new(Exit::Usage, without_own(name, trades_for(&topology, strategy).as_ref())),
        None => super::unknown(&instance, number.0),
    };
    let view = view.ok_or_else(unknown)?;
    if !following.errors.is_empty() {
        talk!(
            "{} frames of `{}` do not follow those before; `colo audit` says which",
            following.errors.len(),
            desk::DROPS
        );
    }
    let account =
        gather(instance.name(), &view, &following.follower, strategy, &topology).ok_or_else(unknown)?;
    match arguments.format {
        TableFormat::Json => output::print_json(&account)?,
        TableFormat::Csv => {
            let rows = desk.positions(strategy, number);
            let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
            output::print(&format!("{}\n{}", PositionRow::HEADER, lines.join("\n")))?;
        }
        TableFormat::Text => output::print(&text(&account))?,
    }
    Ok(Exit::Done.code())
}

/// For which accounts a strategy may trade, by its platform file.
fn trades_for(topology: &Topology, strategy: StrategyId) -> Option<AccountChoice> {
    let td = topology.nodes.iter().find(|node| node.kind == NodeKind::Td)?;
    let section: TdSection = serde_json::from_value(td.section.clone()).ok()?;
    section.strategies.into_iter().find(|one| one.seat == strategy.0).map(|one| one.accounts)
}

/// Why a strategy has no account of its own.
fn without_own(name: &str, accounts: Option<&AccountChoice>) -> String {
    let none = format!("strategy `{name}` has no account of its own");
    let listed = accounts.map_or(&[][..], AccountChoice::listed);
    match accounts {
        Some(accounts) if accounts.is_all() => {
            format!("{none}: it may trade for all accounts; `colo account list` lists them")
        }
        Some(_) if !listed.is_empty() && !listed.contains(&0) => {
            let numbers: Vec<String> = listed.iter().map(u32::to_string).collect();
            let which = if listed.len() == 1 { "account" } else { "accounts" };
            format!(
                "{none}: it trades for {which} {}; `colo account show {}` shows one",
                numbers.join(", "),
                numbers.first().map_or("", String::as_str)
            )
        }
        _ => format!("{none} yet: its first order opens it"),
    }
}

fn gather(
    instance: &str,
    view: &AccountView,
    follower: &accounts::Follower,
    strategy: StrategyId,
    topology: &Topology,
) -> Option<Account> {
    let desk = &follower.desk;
    let opened = desk.opened(view.account);
    let mut state = None;
    follower.states(Touched::All, |_, one| {
        let owner = view.owner.unwrap_or(wire::AccountState::NOBODY);
        if (one.account, one.owner) == (view.account, owner) {
            state = Some(one);
        }
    });
    let group = opened.as_ref().map_or(0, |opened| opened.group);
    let concerns = |kill: &&accounts::Kill| match kill.scope {
        AccountScope::Platform => true,
        AccountScope::Group => group != 0 && kill.subject == group,
        AccountScope::Strategy => view.owner.is_some_and(|owner| u32::from(owner.0) == kill.subject),
        AccountScope::Account => view.owner.is_none() && kill.subject == view.account.0,
    };
    let limits = match view.owner {
        Some(owner) => desk.limits(AccountScope::Strategy, owner.0.into()),
        None => desk.limits(AccountScope::Account, view.account.0),
    };
    let orders = desk.orders_at_work();
    let its = orders.iter().filter(|order| (order.account, order.owner) == (view.account, view.owner));
    Some(Account {
        instance: instance.to_owned(),
        name: opened.as_ref().map(|opened| opened.name.to_string()).filter(|name| !name.is_empty()),
        group: (group != 0).then_some(group),
        parent: opened.as_ref().map(|opened| opened.parent.0).filter(|parent| *parent != 0),
        method: opened.as_ref().map(|opened| opened.method.to_string()),
        state: Row::of(&state?, topology),
        kills: desk.fallen().iter().filter(concerns).map(|kill| Kills::of(kill, Some(topology))).collect(),
        money: desk.purses(strategy, view.account).iter().map(Money::of).collect(),
        positions: desk.positions(strategy, view.account).iter().map(|row| Position::of(row, desk)).collect(),
        limits: limits.iter().map(|limit| Limit::of(limit, desk)).collect(),
        orders: its.map(|order| Order::of(order, desk, topology)).collect(),
    })
}

fn text(account: &Account) -> String {
    let mut text = account.state.describe(account.name.as_deref());
    let mut details = Vec::new();
    if let Some(method) = &account.method {
        details.push(format!("cost method {method}"));
    }
    details.extend(account.group.map(|group| format!("group {group}")));
    details.extend(account.parent.map(|parent| format!("rules of account {parent}")));
    if !details.is_empty() {
        text.push_str(&format!("  {}\n", details.join(", ")));
    }
    for kill in &account.kills {
        text.push_str(&format!("  killed: {kill}\n"));
    }
    let head = [
        "money",
        "balance",
        "frozen",
        "margin",
        "deposits",
        "withdrawals",
        "realised",
        "variation",
        "invested",
        "fees",
        "taxes",
    ];
    let rows = account.money.iter().map(|money| {
        vec![
            &money.currency,
            &money.balance,
            &money.frozen,
            &money.margin,
            &money.deposits,
            &money.withdrawals,
            &money.realised,
            &money.variation,
            &money.invested,
            &money.fees,
            &money.taxes,
        ]
    });
    text.push_str(&format!("\n{}", table(&head, 1, rows)));
    if !account.positions.is_empty() {
        text.push_str(&format!("\n{}", positions(&account.positions)));
    }
    if !account.limits.is_empty() {
        let rows = account.limits.iter().map(|limit| {
            vec![limit.limit.clone(), limit.symbol.clone().unwrap_or_default(), limit.value.clone()]
        });
        text.push_str(&format!("\n{}", table(&["limit", "instrument", "value"], 2, rows)));
    }
    if !account.orders.is_empty() {
        let rows = account.orders.iter().map(|order| {
            vec![
                order.order_id.clone(),
                order.strategy.clone(),
                order.symbol.clone(),
                order.side.clone(),
                order.status.clone(),
                order.price.clone().unwrap_or_else(|| "-".to_owned()),
                order.quantity.to_string(),
                order.filled.to_string(),
                order.remaining.to_string(),
                order.frozen_money.clone(),
            ]
        });
        let head = [
            "order",
            "strategy",
            "instrument",
            "side",
            "status",
            "price",
            "quantity",
            "filled",
            "left",
            "frozen",
        ];
        text.push_str(&format!("\n{}", table(&head, 5, rows)));
    }
    text
}

fn positions(positions: &[Position]) -> String {
    let head = [
        "instrument",
        "long today",
        "yesterday",
        "frozen",
        "short today",
        "yesterday",
        "frozen",
        "long cost",
        "short cost",
        "mark",
        "realised",
        "unrealised",
        "charges",
        "margin",
    ];
    let rows = positions.iter().map(|row| {
        vec![
            row.symbol.clone(),
            row.long_today.to_string(),
            row.long_yesterday.to_string(),
            row.long_frozen.to_string(),
            row.short_today.to_string(),
            row.short_yesterday.to_string(),
            row.short_frozen.to_string(),
            row.long_cost.clone(),
            row.short_cost.clone(),
            row.mark.clone().unwrap_or_else(|| "-".to_owned()),
            row.realised.clone(),
            row.unrealised.clone(),
            row.charges.clone(),
            row.margin.clone(),
        ]
    });
    table(&head, 1, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::config::AccountRule;

    #[test]
    fn a_strategy_without_an_account_of_its_own_is_told_for_which_it_trades() {
        let listed = |numbers: &[u32]| AccountChoice::Listed(numbers.to_vec());
        for (accounts, word) in [
            (Some(listed(&[8, 7])), "it trades for accounts 8, 7; `colo account show 8`"),
            (Some(listed(&[8])), "it trades for account 8;"),
            (Some(AccountChoice::Rule(AccountRule::All)), "it may trade for all accounts"),
            (Some(listed(&[])), "its first order opens it"),
            (Some(listed(&[0, 7])), "its first order opens it"),
            (None, "its first order opens it"),
        ] {
            let said = without_own("noise-1", accounts.as_ref());
            assert!(said.contains("strategy `noise-1`") && said.contains(word), "{accounts:?}: {said}");
        }
    }
}
