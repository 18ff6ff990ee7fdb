//! The command line of `colo journal`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::InstanceArgument;
use crate::output::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum JournalVerb {
    /// List the journals of all instances, or of one.
    #[command(
        after_help = "Examples:\n  colo journal ls\n  colo journal ls demo --format json\n  colo journal ls --recording FOLDER"
    )]
    Ls {
        #[command(flatten)]
        instance: InstanceArgument,
        #[command(flatten)]
        recording: RecordingArgument,
        /// Text for people, or one JSON object.
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Show one journal: rate, readers' lag and losses, memory, its writer's life.
    Stat(Stat),
    /// Print the last frames of a journal, decoded, and those that come.
    Tail(Tail),
    /// Print every frame that is still there, decoded: JSON lines, CSV or text.
    Dump(Dump),
    /// Check that journals are what their writers left: control pages, registry, every frame.
    Verify(Verify),
    /// Follow one order from the quote that caused it to its fills, with the time of each hop.
    Trace(Trace),
    /// Remove what dead instances left behind: directories, rings on huge pages. Living ones are refused.
    Clean(Clean),
}

/// A recording instead of an instance.
#[derive(Debug, Default, Args)]
pub(crate) struct RecordingArgument {
    /// What a recorder wrote, in place of an instance: a recording, or the folder with them, of which the latest is taken.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["positional", "instance"])]
    pub(crate) recording: Option<PathBuf>,
}

/// Which journal.
#[derive(Debug, Args)]
pub(crate) struct JournalArgument {
    /// Name of the journal, or the path of its .ctl, .ring or .lock file.
    pub(crate) journal: String,
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    #[command(flatten)]
    pub(crate) recording: RecordingArgument,
}

/// Which frames.
#[derive(Debug, Default, Args)]
pub(crate) struct Selection {
    /// Only frames of these topics, in market data of these instruments: `--topic 1,4`, or by name, `--topic SIM001`.
    #[arg(long = "topic", value_name = "TOPIC", value_delimiter = ',')]
    pub(crate) topics: Vec<String>,
    /// Only messages of these kinds, by name or id: `--kind fill,order-update`.
    #[arg(long = "kind", value_name = "KIND", value_delimiter = ',')]
    pub(crate) kinds: Vec<String>,
    /// From here on: a position (65536), a time (2026-11-21T06:30:00.25Z, or 06:30:00.25 of the journal's last day,
    /// both UTC; 1795242600250000000ns), or so far before the last frame (-2s).
    #[arg(long, value_name = "POSITION|TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Up to here, this not included: a position or a time as above.
    #[arg(long, value_name = "POSITION|TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal stat md.quotes
  colo journal stat matching.executions -i demo --interval 5s
  colo journal stat orders.takers-1 --no-rate --format json

Lag is what a reader has published: a busy one publishes its cursor only now and then, so it may be less far
behind than shown.")]
pub(crate) struct Stat {
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
    /// Measure the rate for this long.
    #[arg(long, default_value = "1s", value_parser = humantime::parse_duration)]
    pub(crate) interval: Duration,
    /// Do not wait: the mean rate since the journal was made.
    #[arg(long, conflicts_with = "interval")]
    pub(crate) no_rate: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal tail md.quotes -n 5
  colo journal tail orders.takers-1 --follow
  colo journal tail md.quotes --topic SIM003 --from -100ms
  colo journal tail matching.executions --kind fill --follow --format json | jq .fields.price

With --format json: one object with the frames; with --follow one object a line, as `colo journal dump` prints them.
Exit code 1 when the frames do not lead to the head.")]
pub(crate) struct Tail {
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
    /// How many frames; 10, or all with --from.
    #[arg(short = 'n', long)]
    pub(crate) lines: Option<usize>,
    /// Go on with what comes, until Ctrl-C or the writer is gone.
    #[arg(short, long, conflicts_with = "recording")]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Text for people, or JSON.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// How a dump is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    /// For people.
    #[default]
    Text,
    /// One object a line.
    Json,
    /// One set of columns for all messages.
    Csv,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal dump td.orders -n 100
  colo journal dump matching.executions --format csv > executions.csv
  colo journal dump md.quotes --from 06:30:00 --to 06:30:01 --topic 1 --format json
  colo journal dump /dev/shm/colo-1000/demo/journals/td.orders.ctl
  colo journal dump td.orders --recording FOLDER --from -1s

Works on living instances, on what dead ones left, and on files. Ends at the head as it is at the start. What a
writer overwrites meanwhile is reported: which bytes, in the data and on standard error. Exit code 1 when the frames
do not lead to the head that the control page names: what does not fit is said on standard error.")]
pub(crate) struct Dump {
    #[command(flatten)]
    pub(crate) journal: JournalArgument,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// At most so many frames, the oldest first.
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) count: Option<u64>,
    /// Text for people, JSON lines, or CSV.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: DumpFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal verify
  colo journal verify md.quotes -i demo
  colo journal verify /dev/shm/colo-1000/demo/journals/td.orders.ring --format json
  colo journal verify --recording FOLDER

Exit code 0 when everything fits, 4 with findings: journal, position, what was found, what was expected.
Of a recording everything is named that is not plain: damage, missing segments and frames (exit code 4); gaps of a loose
recorder, a torn end, segments that retention removed (no faults).
Works beside living writers too, and changes nothing.")]
pub(crate) struct Verify {
    /// Name of a journal, or the path of its .ctl, .ring or .lock file; all journals and the registry when left out.
    pub(crate) journal: Option<String>,
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    #[command(flatten)]
    pub(crate) recording: RecordingArgument,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal trace 7-1-42
  colo journal trace --last
  colo journal trace --last demo
  colo journal trace 0x700010000002a -i demo --format json
  colo journal trace --last --recording FOLDER --from -10s

ORDER_ID is SEAT-EPOCH-SEQUENCE as tail, dump and the logs print it, or the same as one number, decimal or 0x….")]
pub(crate) struct Trace {
    /// The order: SEAT-EPOCH-SEQUENCE, or its number.
    pub(crate) order: Option<String>,
    /// The order of the newest fill.
    #[arg(long)]
    pub(crate) last: bool,
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    #[command(flatten)]
    pub(crate) recording: RecordingArgument,
    /// Of a recording, only frames from here on: a time, or so far before the last frame, as in `colo journal dump`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "recording")]
    pub(crate) from: Option<String>,
    /// Up to here.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, requires = "recording")]
    pub(crate) to: Option<String>,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  colo journal clean --dry-run
  colo journal clean demo

Without a name all dead instances are removed, and what killed runs of `colo bench` left in /dev/shm; living ones are left
alone, and so is whatever bears no mark of colo. Logs stay where they are.")]
pub(crate) struct Clean {
    #[command(flatten)]
    pub(crate) instance: InstanceArgument,
    /// Only say what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Text for people, or one JSON object.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}
