//! `colo t2o report`.

use bench_harness::t2o::{Results, Verdict, judge, report};
use node::Exit;
use serde_json::json;

use super::args::Report;
use super::plan::number_of;
use crate::failure::Failure;
use crate::output::{self, Format, table};

pub(crate) fn report(arguments: &Report) -> Result<u8, Failure> {
    let results = super::checked(&arguments.results)?;
    let beside = if arguments.results.is_file() {
        arguments.results.parent().unwrap_or(".".as_ref())
    } else {
        arguments.results.as_path()
    };
    let folder = arguments.out.as_deref().unwrap_or(beside);
    if let Err(source) = std::fs::create_dir_all(folder) {
        return Err(Failure::new(
            Exit::CannotCreate,
            format!("cannot create {}: {source}", folder.display()),
        ));
    }
    let written = report::write(&results, folder)?;
    let claims = judge(&results);
    match arguments.format {
        Format::Json => {
            let summary = report::Summary::of(&results);
            output::print_json(&json!({ "files": written, "summary": summary, "claims": claims }))?;
        }
        Format::Text => output::print(&(best(&results) + &text(&claims)))?,
    }
    for path in written {
        talk!("wrote {}", path.display());
    }
    Ok(Exit::Done.code())
}

/// The best group at each rate.
fn best(results: &Results) -> String {
    let line = |best: report::Best| {
        format!(
            "at {} quotes/s {} ({}) has the lowest median: {:.1} µs\n",
            number_of(best.rate),
            best.group,
            best.title,
            best.p50_us
        )
    };
    report::Summary::of(results).best.into_iter().map(line).collect()
}

fn text(claims: &[Verdict]) -> String {
    if claims.is_empty() {
        return "the scenario makes no claims\n".to_owned();
    }
    let slices = |verdict: &Verdict| {
        verdict.slices.map_or("-".to_owned(), |used| format!("{} of {} {}", used.used, used.of, used.level))
    };
    let rows = claims.iter().map(|verdict| {
        vec![
            verdict.outcome.to_string(),
            verdict.name.clone(),
            verdict.says.clone(),
            verdict.numbers.clone(),
            slices(verdict),
            verdict.raw.clone(),
        ]
    });
    table(&["verdict", "claim", "says", "figures", "slices", "raw, whole runs"], 6, rows)
}
