//! `colo matching verify`.

mod columns;
mod day;
mod print;

use matching::verify::{Report, verify as compare};
use node::Exit;

use self::day::Security;
use crate::args::MatchingVerify;
use crate::failure::Failure;
use crate::output::{self, Format};

pub(crate) fn verify(arguments: &MatchingVerify) -> Result<u8, Failure> {
    let read = day::read(arguments)?;
    let mut reports: Vec<(String, Report)> = Vec::with_capacity(read.securities.len());
    for security in read.securities {
        let report = compare(&security.recording(arguments.source)).map_err(|error| {
            Failure::new(Exit::Failed, format!("{}: the exchange cannot list it: {error}", security.name))
        })?;
        let Security { name, .. } = security;
        reports.push((name, report));
    }
    let compared = |report: &Report| report.trades + report.cancels + report.auctions + report.snapshots;
    if reports.iter().map(|(_, report)| compared(report)).sum::<u64>() == 0 {
        let message = "nothing to compare: the files hold orders, but no trade and no cancel of them";
        return Err(Failure::new(Exit::Usage, message));
    }
    match arguments.format {
        Format::Json => {
            output::print_json(&print::Output::of(
                arguments.source,
                read.unknown_order,
                &reports,
                arguments.all,
            ))?;
        }
        Format::Text => {
            output::print(&print::text(arguments.source, read.unknown_order, &reports, arguments.all))?
        }
    }
    let identical = reports.iter().all(|(_, report)| report.differences == 0);
    // A quiet security may have no row at the day's end, a whole day has one of some security.
    let is_cut = reports.iter().all(|(_, report)| report.is_cut);
    let exit = match (identical, is_cut) {
        (false, _) => Exit::CheckFailed,
        (true, true) => Exit::Inconclusive,
        (true, false) => Exit::Done,
    };
    Ok(exit.code())
}
