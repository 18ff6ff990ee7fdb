//! What came of a settlement: printed, and written as tables.

use std::path::{Path, PathBuf};

use accounts::{MarginAction, PositionRow, Settlement, Statement};
use node::Exit;
use serde::Serialize;
use serde_json::{Map, Value};
use topology::Topology;
use wire::WideMoney;

use super::{Settle, failed};
use crate::desk::{self, DROPS, Entered, Outcome};
use crate::failure::Failure;
use crate::output::{self, Format, count, table};

/// What `--format json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) instance: String,
    pub(super) day: u32,
    pub(super) who: String,
    pub(super) why: Option<String>,
    /// `settled`, `already`, `refused` or `waiting`.
    pub(super) state: &'static str,
    /// Prices that were entered.
    pub(super) prices: usize,
    pub(super) entry: Option<u64>,
    pub(super) position: Option<u64>,
    pub(super) time_ns: Option<u64>,
    pub(super) refusal: Option<String>,
    /// Null where the journals do not reach back to the settlement.
    pub(super) statements: Option<Vec<Map<String, Value>>>,
    pub(super) positions: Option<Vec<Map<String, Value>>>,
    pub(super) actions: Option<Vec<Action>>,
    pub(super) files: Vec<String>,
}

/// What margin asks for.
#[derive(Debug, Serialize)]
pub(super) struct Action {
    /// `call` or `close`.
    action: &'static str,
    account: u32,
    strategy: Option<String>,
    missing: Option<String>,
    instrument: Option<u32>,
    side: Option<String>,
    quantity: Option<i64>,
}

impl Report {
    pub(super) fn note(&mut self, entered: &Entered) {
        self.entry = Some(entered.position);
        match entered.outcome {
            Outcome::Taken { position, time } => {
                (self.state, self.position, self.time_ns) = ("settled", Some(position), Some(time));
            }
            Outcome::Refused { .. } => (self.state, self.refusal) = ("refused", entered.outcome.refusal()),
            Outcome::Waiting => self.state = "waiting",
        }
    }

    pub(super) fn print(
        mut self,
        arguments: &Settle,
        topology: &Topology,
        settlement: Option<Settlement>,
    ) -> Result<u8, Failure> {
        match (&settlement, &arguments.out) {
            (Some(settlement), Some(folder)) => self.files = write(folder, self.day, settlement)?,
            // What was written when it was settled is what would be written now.
            (None, Some(folder)) if self.state == "already" => {
                let paths = paths(folder, self.day);
                if paths.iter().all(|path| path.exists()) {
                    self.files = paths.map(|path| path.display().to_string()).into();
                }
            }
            _ => {}
        }
        if let Some(settlement) = &settlement {
            let rows =
                |header: &str, lines: Vec<String>| lines.iter().map(|line| object(header, line)).collect();
            self.statements = Some(rows(Statement::HEADER, lines(&settlement.statements)));
            self.positions = Some(rows(PositionRow::HEADER, lines(&settlement.positions)));
            self.actions =
                Some(settlement.actions.iter().map(|action| Action::of(action, topology)).collect());
        }
        match arguments.place.format {
            Format::Json => output::print_json(&self)?,
            Format::Text => output::print(&self.text(settlement.as_ref(), topology))?,
        }
        match (self.state, &self.refusal) {
            ("refused", refusal) => {
                let why = refusal.as_deref().unwrap_or("no reason is known");
                Err(failed(format!("day {} is not settled: {why}", self.day)))
            }
            ("waiting", _) => Ok(Exit::Inconclusive.code()),
            _ if self.files.is_empty() && arguments.out.is_some() => {
                talk!(
                    "colo: no statements were written: `{DROPS}` does not reach back to the settlement; a recording has it"
                );
                Ok(Exit::Inconclusive.code())
            }
            _ => Ok(Exit::Done.code()),
        }
    }

    fn text(&self, settlement: Option<&Settlement>, topology: &Topology) -> String {
        let day = self.day;
        let mut text = match (self.state, self.position) {
            ("already", _) => format!("day {day} is settled already\n"),
            ("settled", Some(position)) => format!(
                "day {day} is settled, with {}: took effect at {DROPS}@{position}\n",
                count(self.prices as u64, "price")
            ),
            ("waiting", _) => {
                let entry = self.entry.unwrap_or_default();
                format!(
                    "day {day}: all of it is entered, up to position {entry} of desk.entries; it takes effect when td runs\n"
                )
            }
            _ => format!("day {day} is not settled\n"),
        };
        if let Some(settlement) = settlement {
            let rows = settlement.statements.iter().map(|row| {
                let name = match row.owner {
                    Some(owner) => format!("own of {}", desk::strategy_name(Some(topology), owner)),
                    None => row.account.0.to_string(),
                };
                let cells = [
                    row.opening,
                    row.day_totals.deposits - row.day_totals.withdrawals,
                    row.day_totals.realised,
                    row.day_totals.variation,
                    row.day_totals.fees + row.day_totals.taxes,
                    row.closing,
                    row.margin,
                    row.unrealised,
                ];
                let money = cells.map(|amount| WideMoney::from_wide(amount).to_string());
                [name, row.currency.to_string()].into_iter().chain(money).collect()
            });
            let head = [
                "account",
                "currency",
                "opening",
                "in and out",
                "realised",
                "variation",
                "charges",
                "closing",
                "margin",
                "unrealised",
            ];
            text.push_str(&format!("\n{}", table::<String>(&head, 2, rows)));
        }
        for action in self.actions.iter().flatten() {
            text.push_str(&format!("{action}\n"));
        }
        let word = if settlement.is_some() { "written" } else { "it was written before" };
        for file in &self.files {
            text.push_str(&format!("{word}: {file}\n"));
        }
        text
    }
}

impl Action {
    fn of(action: &MarginAction, topology: &Topology) -> Action {
        let strategy =
            |owner: Option<wire::StrategyId>| owner.map(|owner| desk::strategy_name(Some(topology), owner));
        match action {
            MarginAction::Call { account, owner, missing } => Action {
                action: "call",
                account: account.0,
                strategy: strategy(*owner),
                missing: Some(WideMoney::from_wide(*missing).to_string()),
                instrument: None,
                side: None,
                quantity: None,
            },
            MarginAction::Close(order) => Action {
                action: "close",
                account: order.account.0,
                strategy: strategy(order.owner),
                missing: None,
                instrument: Some(order.instrument.0),
                side: Some(order.side.to_string()),
                quantity: Some(order.quantity),
            },
        }
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = match &self.strategy {
            Some(strategy) => format!("own account of {strategy}"),
            None => format!("account {}", self.account),
        };
        match (&self.missing, &self.side, self.instrument, self.quantity) {
            (Some(missing), ..) => write!(f, "margin call: {of} lacks {missing}"),
            (None, Some(side), Some(instrument), Some(quantity)) => {
                write!(f, "to be closed by force: {of}, {side} {quantity} of instrument {instrument}")
            }
            _ => write!(f, "{}: {of}", self.action),
        }
    }
}

fn lines<T: std::fmt::Display>(rows: &[T]) -> Vec<String> {
    rows.iter().map(ToString::to_string).collect()
}

/// A line of CSV as an object; what is empty is null.
fn object(header: &str, line: &str) -> Map<String, Value> {
    let cell = |cell: &str| if cell.is_empty() { Value::Null } else { Value::String(cell.to_owned()) };
    header.split(',').zip(line.split(',')).map(|(name, value)| (name.to_owned(), cell(value))).collect()
}

/// Where both tables of a day belong: statements, positions.
fn paths(folder: &Path, day: u32) -> [PathBuf; 2] {
    ["statements", "positions"].map(|name| folder.join(format!("{name}-{day}.csv")))
}

/// Both tables; their paths.
fn write(folder: &Path, day: u32, settlement: &Settlement) -> Result<Vec<String>, Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::system("create", folder))?;
    let tables = [
        (Statement::HEADER, lines(&settlement.statements)),
        (PositionRow::HEADER, lines(&settlement.positions)),
    ];
    let mut written = Vec::new();
    for (path, (header, rows)) in paths(folder, day).into_iter().zip(tables) {
        let mut text = header.to_owned() + "\n";
        rows.iter().for_each(|row| text.extend([row.as_str(), "\n"]));
        std::fs::write(&path, text).map_err(Failure::system("write", &path))?;
        written.push(path.display().to_string());
    }
    Ok(written)
}
