//! What is held and what is at work: from the accounts where they are kept, else from the ledger's last snapshot.

use std::collections::BTreeMap;

use accounts::{Desk, KillCause, SetLimit};
use node::InstanceDir;
use serde::Serialize;
use topology::{NodeKind, TdSection};
use utoipa::ToSchema;
use wire::{AccountAction, AccountChange, AccountScope, AccountState, LimitKind, Message, Price, WideMoney};

use super::Look;

/// Rows of positions at most: a page is no place for more.
const MOST_POSITIONS: usize = 200;

/// A kill switch that has fallen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct KillView {
    /// `account`, `group`, `strategy` or `platform`.
    pub(crate) scope: &'static str,
    /// Number of the account or group, or seat of the strategy.
    pub(crate) subject: u32,
    /// The same by its name.
    pub(crate) name: String,
    /// What let it fall: a person, or which limit.
    pub(crate) why: &'static str,
    /// The reason that was given with it; none where that is overwritten.
    pub(crate) reason: Option<String>,
    /// By whom.
    pub(crate) by: Option<String>,
}

impl KillView {
    /// The reason that was given; else what let it fall.
    pub(crate) fn shown(&self) -> &str {
        self.reason.as_deref().unwrap_or(self.why)
    }
}

/// Kills as they were entered: who and why, by what was killed, the latest of each.
fn entered(instance: &InstanceDir) -> BTreeMap<(&'static str, u32), (String, String)> {
    let mut entered = BTreeMap::new();
    let read = node::read_held(instance, crate::desk::ENTRIES, None, |frame| {
        if frame.message_id == AccountChange::ID
            && let Ok(change) = AccountChange::decode(frame.payload)
            && change.action == AccountAction::Kill
        {
            let what = (change.scope.as_str(), change.subject);
            entered.insert(what, (change.who.as_str().to_owned(), change.why.as_str().to_owned()));
        }
    });
    if let Err(error) = read {
        log::debug!("the reasons of kills cannot be read: {error}");
    }
    entered
}

/// A limit, and how much of it is used.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct LimitView {
    /// What is limited.
    pub(crate) limit: &'static str,
    /// In which instrument; none: in each, or in all.
    pub(crate) instrument: Option<u32>,
    /// The most that may be.
    pub(crate) most: String,
    /// What is; none where only td knows.
    pub(crate) used: Option<String>,
    /// Which part of it is used; 1: all of it.
    pub(crate) part: Option<f64>,
}

/// How an account stands.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct HolderView {
    /// Its number; zero: a strategy's own.
    pub(crate) account: u32,
    /// Whose own it is.
    pub(crate) owner: Option<String>,
    /// Its currency.
    pub(crate) currency: String,
    /// What it is worth.
    pub(crate) equity: String,
    /// What new orders may use.
    pub(crate) available: String,
    /// Profit and loss of the day; of a platform without accounts, since it was made.
    pub(crate) result: String,
    /// Orders at work.
    pub(crate) open_orders: u32,
    /// Its limits.
    pub(crate) limits: Vec<LimitView>,
}

/// Orders at work of one strategy for one account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct WorkingView {
    /// Who sent them.
    pub(crate) strategy: String,
    /// For which account; zero: its own.
    pub(crate) account: u32,
    /// Orders to buy.
    pub(crate) buys: u64,
    /// Orders to sell.
    pub(crate) sells: u64,
    /// All that this sender may have at work, over its accounts.
    pub(crate) most: Option<u32>,
}

/// A position.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct HeldView {
    /// Of which account; zero: a strategy's own.
    pub(crate) account: u32,
    /// Whose own it is.
    pub(crate) owner: Option<String>,
    /// In what.
    pub(crate) instrument: u32,
    /// Long lots.
    pub(crate) long: i64,
    /// Short lots.
    pub(crate) short: i64,
    /// Profit and loss of what was closed.
    pub(crate) realised: String,
    /// Of what is open.
    pub(crate) unrealised: String,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct Holdings {
    /// `accounts`, or `ledger` where none are kept: then as of its last snapshot.
    pub(crate) source: &'static str,
    /// Switches that have fallen.
    pub(crate) kills: Vec<KillView>,
    /// By the order of opening.
    pub(crate) holders: Vec<HolderView>,
    /// By strategy, then account.
    pub(crate) working: Vec<WorkingView>,
    /// The largest results first.
    pub(crate) positions: Vec<HeldView>,
    /// Positions that are not listed.
    pub(crate) more_positions: usize,
}

fn money(wide: i128) -> String {
    WideMoney::from_wide(wide).to_string()
}

/// Orders to buy and to sell, by sender and account.
#[derive(Default)]
struct Working(BTreeMap<(u16, u32), [u64; 2]>);

impl Working {
    fn add(&mut self, sender: u16, account: u32, side: wire::Side) {
        let counts = self.0.entry((sender, account)).or_default();
        counts[usize::from(side == wire::Side::Sell)] += 1;
    }

    fn view(self, look: &Look) -> Vec<WorkingView> {
        let most = most_working(look);
        let row = |((sender, account), [buys, sells]): ((u16, u32), [u64; 2])| WorkingView {
            strategy: look.name_of(u32::from(sender)),
            account,
            buys,
            sells,
            most: most.get(&sender).copied().filter(|most| *most > 0),
        };
        self.0.into_iter().map(row).collect()
    }
}

/// What td lets each sender have at work, by seat.
fn most_working(look: &Look) -> BTreeMap<u16, u32> {
    let td = look.topology.iter().flat_map(|made| &made.nodes).find(|node| node.kind == NodeKind::Td);
    let section: Option<TdSection> = td.and_then(|td| serde_json::from_value(td.section.clone()).ok());
    let limits = section.into_iter().flat_map(|section| section.strategies);
    limits.map(|limits| (limits.seat, limits.max_working_orders)).collect()
}

impl Holdings {
    pub(crate) fn read(
        instance: &InstanceDir,
        look: &Look,
        keeps_accounts: bool,
    ) -> Result<Holdings, String> {
        let mut read = match keeps_accounts {
            true => of_accounts(instance, look)?,
            false => of_ledger(instance, look)?,
        };
        let size = |row: &HeldView| std::cmp::Reverse((row.long.abs() + row.short.abs()) as u64);
        read.positions.sort_by_key(size);
        read.more_positions = read.positions.len().saturating_sub(MOST_POSITIONS);
        read.positions.truncate(MOST_POSITIONS);
        Ok(read)
    }
}

fn of_accounts(instance: &InstanceDir, look: &Look) -> Result<Holdings, String> {
    let accounts = node::Accounts::of(instance).map_err(|error| error.to_string())?;
    let states: Vec<AccountState> =
        accounts.iter().flat_map(node::Accounts::all).map(|(_, state)| state).collect();
    let mut read = crate::desk::with(instance, None, |desk| {
        let mut working = Working::default();
        for order in desk.orders_at_work() {
            let id = order.request.order_id;
            working.add(id.strategy().0, order.account.0, order.request.side);
        }
        let held = desk.all_positions();
        let name = |owner: Option<wire::StrategyId>| owner.map(|seat| look.name_of(u32::from(seat.0)));
        let positions = held.iter().filter_map(|row| {
            let (long, short) = (row.long_today + row.long_yesterday, row.short_today + row.short_yesterday);
            (long != 0 || short != 0 || row.realised != 0).then(|| HeldView {
                account: row.account.0,
                owner: name(row.owner),
                instrument: row.instrument.0,
                long,
                short,
                realised: money(row.realised),
                unrealised: money(row.unrealised),
            })
        });
        let fallen = desk.fallen();
        let entered = if fallen.is_empty() { BTreeMap::new() } else { entered(instance) };
        let kills = fallen.iter().map(|kill| {
            let entry = entered.get(&(kill.scope.as_str(), kill.subject)).cloned();
            let entry = entry.filter(|_| kill.cause == KillCause::Entry);
            kill_view(look, kill, entry)
        });
        Holdings {
            source: "accounts",
            kills: kills.collect(),
            holders: states.iter().map(|state| holder(look, desk, state, &held)).collect(),
            working: working.view(look),
            positions: positions.collect(),
            more_positions: 0,
        }
    })?;
    read.holders.retain(|holder| holder.owner.is_none() || holder.result != "0" || holder.open_orders > 0);
    Ok(read)
}

fn kill_view(look: &Look, kill: &accounts::Kill, entry: Option<(String, String)>) -> KillView {
    let name = match kill.scope {
        AccountScope::Strategy => look.name_of(kill.subject),
        AccountScope::Platform => look.state.instance.clone(),
        _ => kill.subject.to_string(),
    };
    let cause: KillCause = kill.cause;
    let (by, reason) = entry.unzip();
    KillView { scope: kill.scope.as_str(), subject: kill.subject, name, why: cause.why(), reason, by }
}

fn holder(look: &Look, desk: &Desk, state: &AccountState, held: &[accounts::PositionRow]) -> HolderView {
    let owner = (state.owner != AccountState::NOBODY).then_some(state.owner);
    let (scope, subject) = match owner {
        Some(seat) => (AccountScope::Strategy, u32::from(seat.0)),
        None => (AccountScope::Account, state.account.0),
    };
    let mine = |row: &&accounts::PositionRow| row.account == state.account && row.owner == owner;
    let mine: Vec<&accounts::PositionRow> = held.iter().filter(mine).collect();
    let mut limits: Vec<LimitView> =
        desk.limits(scope, subject).iter().map(|limit| used(limit, state, &mine)).collect();
    if state.margin.wide() > 0 {
        let bound = state.margin.wide() + state.frozen.wide();
        limits.push(of_money("money", None, state.equity.wide(), bound));
    }
    HolderView {
        account: state.account.0,
        owner: owner.map(|seat| look.name_of(u32::from(seat.0))),
        currency: state.currency.to_string(),
        equity: state.equity.to_string(),
        available: state.available.to_string(),
        result: state.day_result.to_string(),
        open_orders: state.open_orders,
        limits,
    }
}

fn part(used: f64, most: f64) -> Option<f64> {
    (most > 0.0).then(|| used / most)
}

fn of_money(limit: &'static str, instrument: Option<u32>, most: i128, used: i128) -> LimitView {
    LimitView {
        limit,
        instrument,
        most: money(most),
        used: Some(money(used)),
        part: part(used as f64, most as f64),
    }
}

fn used(set: &SetLimit, state: &AccountState, mine: &[&accounts::PositionRow]) -> LimitView {
    let instrument = (set.instrument.0 != 0).then_some(set.instrument.0);
    let limit = set.limit.as_str();
    let counted = |used: u64| LimitView {
        limit,
        instrument,
        most: set.number.to_string(),
        used: Some(used.to_string()),
        part: part(used as f64, set.number as f64),
    };
    let ratio = |number: u64| format!("{}", Price(number.min(i64::MAX as u64) as i64));
    match set.limit {
        LimitKind::OpenOrders => counted(u64::from(state.open_orders)),
        LimitKind::Position => {
            let net = |row: &&&accounts::PositionRow| {
                let long = row.long_today + row.long_yesterday;
                (long - row.short_today - row.short_yesterday).unsigned_abs()
            };
            let meant = mine.iter().filter(|row| instrument.is_none_or(|one| row.instrument.0 == one));
            counted(meant.map(|row| net(&row)).max().unwrap_or_default())
        }
        LimitKind::Loss => of_money(limit, instrument, set.amount, (-state.day_result.wide()).max(0)),
        LimitKind::MarginCall | LimitKind::ForcedLiquidation => LimitView {
            limit,
            instrument,
            most: ratio(set.number),
            used: Some(ratio(state.risk_ratio)),
            part: part(state.risk_ratio as f64, set.number as f64),
        },
        LimitKind::GrossNotional | LimitKind::OrderNotional => {
            LimitView { limit, instrument, most: money(set.amount), used: None, part: None }
        }
        _ => LimitView { limit, instrument, most: set.number.to_string(), used: None, part: None },
    }
}

/// Where no accounts are kept, each strategy is its own holder.
fn of_ledger(instance: &InstanceDir, look: &Look) -> Result<Holdings, String> {
    let snapshot = node::last_snapshot(instance).map_err(|error| error.to_string())?;
    let Some(snapshot) = snapshot else { return Ok(Holdings { source: "ledger", ..Holdings::default() }) };
    let mut working = Working::default();
    let mut open: BTreeMap<u16, u32> = BTreeMap::new();
    for order in &snapshot.orders {
        working.add(order.order_id.strategy().0, 0, order.side);
        *open.entry(order.order_id.strategy().0).or_default() += 1;
    }
    let mut results: BTreeMap<u16, i128> = BTreeMap::new();
    let mut positions = Vec::new();
    for row in &snapshot.positions {
        // From 1e-6 to 1e-9.
        let result = 1_000 * (i128::from(row.realised.0) + i128::from(row.unrealised.0));
        *results.entry(row.strategy.0).or_default() += result;
        positions.push(HeldView {
            account: 0,
            owner: Some(look.name_of(u32::from(row.strategy.0))),
            instrument: row.instrument.0,
            long: row.position.0.max(0),
            short: (-row.position.0).max(0),
            realised: row.realised.to_string(),
            unrealised: row.unrealised.to_string(),
        });
    }
    let holders = results.iter().map(|(seat, result)| HolderView {
        account: 0,
        owner: Some(look.name_of(u32::from(*seat))),
        currency: String::new(),
        equity: money(*result),
        available: String::new(),
        result: money(*result),
        open_orders: open.get(seat).copied().unwrap_or_default(),
        limits: Vec::new(),
    });
    Ok(Holdings {
        source: "ledger",
        kills: Vec::new(),
        holders: holders.collect(),
        working: working.view(look),
        positions,
        more_positions: 0,
    })
}
