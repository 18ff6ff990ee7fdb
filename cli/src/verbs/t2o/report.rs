//! `colo t2o report`.

use bench_harness::t2o::{Verdict, judge, report};
use node::Exit;
use serde_json::json;

use super::args::Report;
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
        Format::Json => output::print_json(&json!({ "files": written, "claims": claims }))?,
        Format::Text => output::print(&text(&claims))?,
    }
    for path in written {
        talk!("wrote {}", path.display());
    }
    Ok(Exit::Done.code())
}

fn text(claims: &[Verdict]) -> String {
    if claims.is_empty() {
        return "the scenario makes no claims\n".to_owned();
    }
    let rows = claims.iter().map(|verdict| {
        vec![verdict.outcome.to_string(), verdict.name.clone(), verdict.says.clone(), verdict.numbers.clone()]
    });
    table(&["verdict", "claim", "says", "figures"], 4, rows)
}
