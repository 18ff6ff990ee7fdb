//! The command line of `colo top`.

use std::time::Duration;

use clap::Args;

use crate::args::InstanceArgument;
use crate::output::Format;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo top
  colo top demo --interval 500ms
  colo top --once --interval 5s             one table, measured over five seconds
  colo top --format json | jq '.nodes[] | {node, wakes_per_s, t2o_p99_us}'

On a terminal the tables are drawn anew after each interval until q; h shows the keys: Tab, arrows and page keys look at more
rows, left and right sort by a column, r turns that round. What has no room is left out, and said. Elsewhere, with --once
and with --format json they are printed once. Lag is what readers have published: a busy one publishes its cursor only now
and then, and is less far behind than shown. A t2o of `-`: no order answered a
quote meanwhile, or its sample was overwritten before it was read; the first lines say how many.")]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Rates are measured over this long.
    #[arg(long, default_value = "1s", value_parser = interval)]
    pub(crate) interval: Duration,
    /// Print one table and end.
    #[arg(long)]
    pub(crate) once: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// Shorter intervals measure little but this program.
const SHORTEST: Duration = Duration::from_millis(10);

fn interval(text: &str) -> Result<Duration, String> {
    let interval =
        humantime::parse_duration(text).map_err(|error| format!("{error}; write 500ms, 1s, 1m"))?;
    if interval < SHORTEST {
        return Err(format!("must be at least {}", humantime::format_duration(SHORTEST)));
    }
    Ok(interval)
}
