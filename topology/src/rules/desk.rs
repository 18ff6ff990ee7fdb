//! Accounts: whom they belong to, who trades for them, and whether they have room.

use std::collections::BTreeSet;

use settings::{ByteSize, Report, Rows};

use super::Rules;
use super::room::{PART, Short, named, working_orders};
use super::tables::Tables;
use crate::config::PlatformConfig;
use crate::desk;
use crate::market::{Market, has_rate};
use crate::paths;

/// Bytes that a snapshot takes for an account with positions in eight instruments.
const ACCOUNT_BYTES: u64 = 6 << 10;
/// Bytes that it takes for an order, one at work or one that is remembered.
const ORDER_BYTES: u64 = 512;
/// Room for so many orders at work is made without being asked for.
const MOST_ORDERS: u64 = 32_768;

/// Bytes of a snapshot of all accounts, with so many orders at work.
fn snapshot(config: &PlatformConfig, orders: u64) -> u64 {
    let accounts = u64::from(config.desk.most_accounts) * ACCOUNT_BYTES;
    accounts + orders.saturating_add(config.desk.remembered.into()).saturating_mul(ORDER_BYTES)
}

fn ring_for(snapshot: u64) -> ByteSize {
    ByteSize(snapshot.saturating_mul(PART).min(1 << 32).next_power_of_two().max(1 << 20))
}

/// Bytes of `ledger.desk`, unless the file says otherwise.
pub(crate) fn snapshots_capacity(config: &PlatformConfig) -> ByteSize {
    ring_for(snapshot(config, working_orders(config).unwrap_or(0).min(MOST_ORDERS)))
}

/// Notes a ring of snapshots that is named too small.
fn snapshots_fit(rules: &mut Rules<'_>) {
    let config = rules.config;
    let journal = &config.journal;
    let rings = [
        ("journal.ledger.desk.capacity", &journal.ledger.desk),
        ("journal.ledger.capacity", &journal.ledger.ring),
        ("journal.capacity", &journal.ring),
    ];
    let Some(named) = named(&rings) else { return };
    let orders = working_orders(config).unwrap_or(0);
    let most = snapshot(config, orders);
    let what = format!("{} accounts and the {orders} orders that may work", config.desk.most_accounts);
    Short { journal: "ledger.desk", named, most, what, enough: ring_for(most) }.warn(rules);
}

/// Bytes of `td.drops`, unless the file says otherwise: half of it goes by between two snapshots, which cost what the accounts do.
pub(crate) fn drops_capacity(config: &PlatformConfig) -> ByteSize {
    let accounts = u64::from(config.desk.most_accounts);
    ByteSize((accounts * 2 * ACCOUNT_BYTES).next_power_of_two().clamp(16 << 20, 128 << 20))
}

/// The money of instruments must be worth something to the accounts.
pub(crate) fn currencies(config: &PlatformConfig, market: &Market, rows: &Rows, report: &mut Report) {
    if !config.keeps_accounts() || config.md.instruments_file.is_none() {
        return;
    }
    let foreign: BTreeSet<&str> = market.currencies().filter(|name| !has_rate(&config.desk, name)).collect();
    if let Some(name) = foreign.first() {
        report
            .error(
                rows.place("md.instruments_file"),
                format!("the currency {name} of its instruments has no rate"),
            )
            .help(format!("add it with [[desk.currencies]], or set desk.currency = \"{name}\""));
    }
}

pub(super) fn check(rules: &mut Rules<'_>) {
    let config = rules.config;
    let desk = &config.desk;
    Tables { under: "desk.", rows: rules.rows, report: rules.report }.check(
        &desk.contracts,
        &desk.fees,
        &desk.margins,
    );
    if !config.keeps_accounts() {
        for group in config.strategies.iter().filter(|group| !group.accounts.is_own()) {
            let path = format!("{}.accounts", paths::group(rules.rows, &group.name));
            rules.error(
                &path,
                format!("`{}` trades for accounts, and there are none", group.name),
                "open them with [[accounts]], or name a file of them with desk.file",
            );
        }
        return;
    }
    snapshots_fit(rules);
    let listed: BTreeSet<u32> = config.accounts.iter().map(|account| account.number).collect();
    if config.accounts.len() > config.desk.most_accounts as usize {
        rules.error(
            "desk.most_accounts",
            format!(
                "there are {} accounts, and room for {}",
                config.accounts.len(),
                config.desk.most_accounts
            ),
            format!("set desk.most_accounts = {}", config.accounts.len().next_power_of_two()),
        );
    }
    // Whether a file has them, is seen when it is read.
    if config.desk.file.is_none() {
        for group in &config.strategies {
            let unknown =
                group.accounts.listed().iter().find(|account| **account != 0 && !listed.contains(account));
            if let Some(account) = unknown {
                let path = format!("{}.accounts", paths::group(rules.rows, &group.name));
                let known: Vec<String> = listed.iter().take(5).map(u32::to_string).collect();
                let help = match known.is_empty() {
                    true => "open it with [[accounts]]".to_owned(),
                    false => format!("open it with [[accounts]]; there are {}", known.join(", ")),
                };
                rules.error(&path, format!("there is no account {account}"), help);
            }
        }
        if let Err(refused) = desk::rehearse(&config.desk, &config.accounts) {
            rules.error(&refused.path, refused.message, refused.help);
        }
    }
    let names: BTreeSet<String> = config
        .strategies
        .iter()
        .flat_map(|group| (1..=group.count).map(move |number| format!("{}-{number}", group.name)))
        .collect();
    for (index, strategy) in config.desk.strategies.iter().enumerate() {
        if !names.contains(&strategy.name) {
            let path = format!("desk.strategies.{index}.name");
            rules.error(
                &path,
                format!("there is no strategy `{}`", strategy.name),
                "name one as in takers-1",
            );
        }
    }
}
