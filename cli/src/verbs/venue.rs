//! `colo venue`: what a market outside has executed and no fill could say.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use node::{Exit, InstanceDir};
use serde::Serialize;
use venue::{Driver, How, Settlement, Unbooked, decimal};
use wire::InstrumentId;

use super::account::By;
use super::account::args::Signed;
use super::instance::instance;
use crate::args::InstanceArgument;
use crate::failure::Failure;
use crate::output::{self, Format, table};

/// So long the program in matching's seat has to take a decision.
const PATIENCE: Duration = Duration::from_secs(2);
const TICK: Duration = Duration::from_millis(10);

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  colo venue list
  colo venue book 1 --why confirmed
  colo venue settle 2 --why traded-away

While an execution is not booked, new orders and replaces are refused (matching.on_unbooked). docs/adapters.md says what is not booked, \
and what settling does.")]
pub(crate) enum VenueVerb {
    /// List executions that are not booked, and positions.
    List(List),
    /// Book one as a late fill of its order.
    Book(Decide),
    /// Settle one apart from fills: it is traded away at the market, or booked by hand.
    Settle(Decide),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo venue list
  colo venue list -i desk --format json")]
pub(crate) struct List {
    #[command(flatten)]
    instance: InstanceArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo venue book 1 --why confirmed
  colo venue settle 2 --why traded-away --who ann -i desk --format json")]
pub(crate) struct Decide {
    /// Its number, as `colo venue list` has it.
    #[arg(value_name = "NUMBER")]
    number: u64,
    #[command(flatten)]
    signed: Signed,
}

/// An execution that is or was not booked.
#[derive(Debug, Serialize)]
struct Row {
    number: u64,
    why: &'static str,
    instrument: Option<u32>,
    side: Option<String>,
    lots: String,
    price: Option<String>,
    value: String,
    order: Option<String>,
    name: String,
    trade: String,
    market_time_ns: u64,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    how: Option<How>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

/// The position in one instrument, in lots.
#[derive(Debug, Serialize)]
struct Position {
    instrument: u32,
    booked: String,
    not_booked: String,
    apart: String,
    market: String,
    reported: Option<String>,
}

#[derive(Debug, Serialize)]
struct Shown {
    instance: String,
    is_stopped: bool,
    not_booked: Vec<Row>,
    settled: Vec<Row>,
    positions: Vec<Position>,
}

pub(super) fn dispatch(verb: &VenueVerb) -> Result<u8, Failure> {
    match verb {
        VenueVerb::List(arguments) => list(arguments),
        VenueVerb::Book(arguments) => decide(arguments, How::Book),
        VenueVerb::Settle(arguments) => decide(arguments, How::Apart),
    }
}

fn look(instance: &InstanceDir) -> Result<Driver, Failure> {
    venue::look(instance).map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("{error}: is there a program that takes orders out (matching.fill = \"external\")?"),
        )
    })
}

fn row(what: &Unbooked) -> Row {
    Row {
        number: what.number,
        why: what.why.as_str(),
        instrument: what.instrument.map(|instrument| instrument.0),
        side: what.side.map(|side| side.to_string()),
        lots: decimal(what.lots),
        price: what.price.map(|price| price.to_string()),
        value: decimal(what.value),
        order: what.order.map(|order| order.to_string()),
        name: what.name.clone(),
        trade: what.trade.clone(),
        market_time_ns: what.time.0,
        text: what.text.clone(),
        how: None,
        by: None,
    }
}

fn shown(instance: &InstanceDir, driver: &Driver) -> Shown {
    let settled = driver.settled().iter().map(|settled| Row {
        how: Some(settled.how),
        by: Some(settled.by.clone()),
        ..row(&settled.what)
    });
    let sums: BTreeMap<InstrumentId, _> = driver.sums().collect();
    let positions = sums.iter().map(|(instrument, sums)| Position {
        instrument: instrument.0,
        booked: decimal(sums.booked),
        not_booked: decimal(sums.open),
        apart: decimal(sums.apart),
        market: decimal(sums.booked + sums.open + sums.apart),
        reported: sums.reported.map(decimal),
    });
    Shown {
        instance: instance.name().to_owned(),
        is_stopped: driver.is_stopped(),
        not_booked: driver.unbooked().map(row).collect(),
        settled: settled.collect(),
        positions: positions.collect(),
    }
}

fn list(arguments: &List) -> Result<u8, Failure> {
    let instance = instance(arguments.instance.name())?;
    let shown = shown(&instance, &look(&instance)?);
    match arguments.format {
        Format::Json => output::print_json(&shown)?,
        Format::Text => output::print(&text(&shown))?,
    }
    Ok(Exit::Done.code())
}

fn text(shown: &Shown) -> String {
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let cells = |row: &Row| {
        vec![
            row.number.to_string(),
            row.why.to_owned(),
            or_dash(row.instrument.map(|instrument| instrument.to_string())),
            row.lots.clone(),
            or_dash(row.price.clone()),
            row.value.clone(),
            or_dash(row.order.clone()),
            output::escaped(&row.name),
            output::escaped(&row.trade),
            output::escaped(&[row.text.as_str(), row.by.as_deref().unwrap_or_default()].join(" ")),
        ]
    };
    let head = [
        "number",
        "why",
        "instrument",
        "lots",
        "price",
        "value",
        "order",
        "market's order",
        "trade",
        "remark",
    ];
    let mut text = String::new();
    if shown.not_booked.is_empty() {
        text.push_str("everything is booked\n");
    } else {
        let stopped = if shown.is_stopped { "new orders and replaces are refused" } else { "orders go on" };
        text.push_str(&format!(
            "not booked ({stopped}); lots and value are what each adds to what is booked:\n"
        ));
        text.push_str(&table(&head, 3, shown.not_booked.iter().map(cells)));
    }
    if !shown.settled.is_empty() {
        text.push_str("\nsettled:\n");
        text.push_str(&table(&head, 3, shown.settled.iter().map(cells)));
    }
    if !shown.positions.is_empty() {
        text.push_str("\npositions, lots since the instance was made:\n");
        let head = [
            "instrument",
            "booked",
            "not booked",
            "settled apart",
            "at the market",
            "reported by the market",
        ];
        let rows = shown.positions.iter().map(|row| {
            vec![
                row.instrument.to_string(),
                row.booked.clone(),
                row.not_booked.clone(),
                row.apart.clone(),
                row.market.clone(),
                or_dash(row.reported.clone()),
            ]
        });
        text.push_str(&table(&head, 0, rows));
    }
    text
}

fn decided(how: How) -> &'static str {
    match how {
        How::Book => "booked",
        How::Apart => "settled apart",
    }
}

fn decide(arguments: &Decide, how: How) -> Result<u8, Failure> {
    let signed = &arguments.signed;
    let by = By::new(signed.who.as_deref(), &signed.why)?;
    let instance = instance(signed.place.instance.name())?;
    let number = arguments.number;
    let driver = look(&instance)?;
    let Some(what) = driver.unbooked().find(|what| what.number == number) else {
        let message = format!("number {number} is not open: `colo venue list` has those that are");
        return Err(Failure::new(Exit::Failed, message));
    };
    if how == How::Book && !driver.can_book(what) {
        return Err(Failure::new(
            Exit::Failed,
            format!(
                "no fill can say it: {what}. Trade the difference away at the market or book it by hand \
                 (`colo account deposit`, `withdraw`), then `colo venue settle {number}`"
            ),
        ));
    }
    // As the file that operators write has it: a line.
    let by = format!("{}: {}", by.who, by.why).replace(['\n', '\r'], " ").trim_end().to_owned();
    let settlement = Settlement { number, how, by };
    venue::decide(&instance, &settlement)
        .map_err(|error| Failure::system("write to", &instance.venue_decisions())(error))?;
    let end = Instant::now() + PATIENCE;
    let is_taken = || look(&instance).is_ok_and(|now| !now.unbooked().any(|what| what.number == number));
    while !is_taken() {
        if Instant::now() >= end {
            talk!("number {number}: written; it takes effect when the program in matching's seat runs");
            return Ok(Exit::Inconclusive.code());
        }
        std::thread::sleep(TICK);
    }
    let now = look(&instance)?;
    // Two may decide at once: the first counts.
    let counted = now.settled().iter().rev().find(|settled| settled.what.number == number);
    if let Some(other) =
        counted.filter(|counted| (counted.how, counted.by.trim_end()) != (how, &settlement.by))
    {
        let message = format!(
            "number {number} was {} first, by {}: this decision did nothing",
            decided(other.how),
            other.by
        );
        return Err(Failure::new(Exit::Failed, message));
    }
    match signed.place.format {
        Format::Json => output::print_json(&shown(&instance, &now))?,
        Format::Text => {
            let left = now.unbooked().len();
            output::print(&format!("number {number}: {}; {left} are open\n", decided(how)))?;
        }
    }
    Ok(Exit::Done.code())
}
