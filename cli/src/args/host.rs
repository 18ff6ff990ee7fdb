//! Arguments of the verbs that look at the host and tune it.

use std::path::PathBuf;

use clap::Args;

use crate::output::Format;

/// Against which plan the host is looked at.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// A platform file: its [pin] plan says which CPUs must be quiet and which checks are required. Without one, the
    /// CPUs that the kernel isolates count as planned.
    pub(crate) file: Option<PathBuf>,
    /// Change one key of the platform file: `--set pin.auto=latency`. May be given many times.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "file")]
    pub(crate) sets: Vec<String>,
    /// Look at the host whose `sys` and `proc` folders lie here, such as a recorded tree.
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(crate) root: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo doctor                                   every check, what it found, what mends it
  colo doctor configs/demo.toml                 against the plan of a platform
  colo doctor --topology                        sockets, NUMA nodes, cores, caches, what this process may use
  colo doctor --format json | jq '.checks[] | select(.status == \"fail\")'
  colo doctor --root DIR --topology             the same of a recorded host

Changes nothing and needs no root. Every check is ok, warn (works, at a cost), fail (figures from this host mislead,
or the platform will not run) or skip (the host has no such thing). The last lines say what it comes to, and what to
mend first: failures, then what delays messages most. With --format json:
{\"host\", \"verdict\", \"checks\": [{\"id\", \"group\", \"status\", \"scale\", \"found\", \"wanted\", \"cost\", \"fix\"}], \"plan\", \"unmet\"}.

Exit code 3 when a check that the plan requires (pin.required) fails, or when the plan does not fit the host.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(crate) plan: PlanArguments,
    /// Show what the host has, instead of the checks.
    #[arg(long)]
    pub(crate) topology: bool,
    /// Show only what is not as wanted.
    #[arg(long, conflicts_with = "topology")]
    pub(crate) problems: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo tune configs/report-12-cores.toml --dry-run     what would be changed for this plan, and what needs a person
  sudo colo tune configs/report-12-cores.toml --apply
  sudo colo tune --apply --huge-pages 256              256 free huge pages of 2 MiB
  sudo colo tune --undo                                put back exactly what was changed

Changes take effect at once and are gone after a reboot. Each is recorded, with the value that was there, before it is
made; --undo goes backwards through that record and leaves alone what somebody else has changed since. Kernel parameters,
limits and mounts are printed as hints: they need a reboot, a new login, or a decision.")]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) plan: PlanArguments,
    #[command(flatten)]
    pub(crate) action: TuneAction,
    /// Huge pages of 2 MiB that shall be free, instead of what the platform file's journals ask for.
    #[arg(long, value_name = "N", conflicts_with = "undo")]
    pub(crate) huge_pages: Option<u64>,
    /// Where changes are recorded; by default run/colo/tune.jsonl below the root.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// One of these must be said.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct TuneAction {
    /// Print every change, and make none.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Make the changes.
    #[arg(long)]
    pub(crate) apply: bool,
    /// Put back what was changed.
    #[arg(long)]
    pub(crate) undo: bool,
}
