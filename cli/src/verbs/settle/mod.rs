//! `colo settle`: prices in, then execute; statements and positions out.

mod again;
mod prices;
mod report;

use std::path::PathBuf;

use accounts::Applied;
use clap::Args;
use node::{Exit, InstanceDir};
use wire::{InstrumentId, Price, SettlementPrice};

use super::account::By;
use super::account::args::Place;
use super::instance::instance;
use crate::desk::{self, Outcome, Sent};
use crate::failure::Failure;
use again::again;
use prices::prices;
use report::Report;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo settle 20260131 --prices last
  colo settle 20260131 --prices prices.csv --out statements --who ann --why close
  colo settle 20260131 --prices last --out statements -i demo --format json

PRICES is a CSV file with the columns `symbol` (or `instrument`, a number) and `price`, or `last`: the latest marks. What is held needs a \
price, and no order of the day may work any more. DIR gets statements-DAY.csv and positions-DAY.csv, one flat table each. A day that is \
settled already stays as it is: it is said, exit code 0, and the same files are written. A settlement cannot be taken back: td refuses a \
day or prices that look like a slip, from every client, unless the entry is forced.")]
pub(crate) struct Settle {
    /// The day, as 20260131.
    pub(crate) day: u32,
    /// Settlement prices: a CSV file, or `last`.
    #[arg(long, value_name = "FILE|last")]
    pub(crate) prices: String,
    /// Take a day more than two weeks after today, and prices that are not positive or more than half away from the latest mark.
    #[arg(long)]
    pub(crate) force: bool,
    /// Write statements and positions there.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Who does it, instead of the user's login name.
    #[arg(long, value_name = "NAME")]
    pub(crate) who: Option<String>,
    /// For which reason; printed, the entry of a settlement keeps who alone.
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

fn failed(message: String) -> Failure {
    Failure::new(Exit::Failed, message)
}

pub(super) fn settle(arguments: &Settle) -> Result<u8, Failure> {
    check_day(arguments.day)?;
    let by = By::new(arguments.who.as_deref(), arguments.why.as_deref().unwrap_or("settlement"))?;
    let instance = instance(arguments.place.instance.name())?;
    desk::demand(&instance)?;
    let topology = desk::topology(&instance)?;
    let section = desk::section(&topology);
    let mut following = desk::follow(&instance, section.as_ref())?;
    let mut report = Report {
        instance: instance.name().to_owned(),
        day: arguments.day,
        who: by.who.to_string(),
        why: arguments.why.clone(),
        state: "already",
        prices: 0,
        entry: None,
        position: None,
        time_ns: None,
        refusal: None,
        statements: None,
        positions: None,
        actions: None,
        files: Vec::new(),
    };
    let settled = following.follower.desk.settled_day();
    if settled > arguments.day {
        let day = arguments.day;
        return Err(failed(format!(
            "day {day} cannot be settled: day {settled} is settled, and it is later"
        )));
    }
    let settlement = if settled == arguments.day {
        again(&instance, section.as_ref(), arguments.day)?
    } else {
        let prices = prices(&arguments.prices, &following.follower.desk, arguments.force)?;
        report.prices = prices.len();
        let Some(position) = execute(&instance, arguments, &by, &prices, &mut report)? else {
            return report.print(arguments, &topology, None);
        };
        let mut made = None;
        let is_whole = following.go_on(position, |at, followed| {
            if at == position {
                made.clone_from(&followed.applied);
            }
        })?;
        match made.filter(|_| is_whole) {
            Some(Applied::Settled(settlement)) => Some(settlement),
            // Another verb was first.
            Some(Applied::Already) => {
                (report.state, report.prices) = ("already", 0);
                again(&instance, section.as_ref(), arguments.day)?
            }
            _ => None,
        }
    };
    report.print(arguments, &topology, settlement)
}

/// A day of the calendar.
fn check_day(day: u32) -> Result<(), Failure> {
    let (month, of_month) = (day / 100 % 100, day % 100);
    if (19_000_101..=99_991_231).contains(&day) && (1..=12).contains(&month) && (1..=31).contains(&of_month) {
        return Ok(());
    }
    Err(Failure::new(Exit::Usage, format!("{day} is no day: write it as 20260131")))
}

/// Both steps, one behind the other in the journal, so that those of another verb do not come between. Where it took effect;
/// `None` where it did not, and the report says why.
fn execute(
    instance: &InstanceDir,
    arguments: &Settle,
    by: &By,
    prices: &[(InstrumentId, Price)],
    report: &mut Report,
) -> Result<Option<u64>, Failure> {
    let day = arguments.day;
    // What an attempt before has left is none of this one.
    let begin = SettlementPrice { day, instrument: InstrumentId(0), price: Price::NONE };
    let priced = prices.iter().map(|&(instrument, price)| SettlementPrice { day, instrument, price });
    let mut entries: Vec<Sent> = [begin].into_iter().chain(priced).map(|entry| Sent::new(&entry)).collect();
    let flags = if arguments.force { wire::Settle::FORCED } else { 0 };
    entries.push(Sent::new(&wire::Settle { day, flags, who: by.who }));
    let entered = desk::enter(instance, &entries)?;
    let (last, before) =
        entered.split_last().ok_or_else(|| failed("the entries were not made".to_owned()))?;
    report.note(last);
    if matches!(last.outcome, Outcome::Refused { .. }) {
        // A price that was refused is the reason.
        let refused = before.iter().skip(1).zip(prices).find_map(|(one, (instrument, price))| {
            Some(format!("price {price} of instrument {instrument}: {}", one.outcome.refusal()?))
        });
        report.refusal = refused.or(report.refusal.take());
    }
    Ok(report.position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        assert!(check_day(20_260_131).is_ok());
        for day in [0, 20_261_301, 20_260_132, 20_260_100, 131] {
            assert!(check_day(day).is_err(), "{day}");
        }
    }
}
