//! A sweep file → checked runs: every combination is checked as a platform file is, before anything starts.

mod check;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use settings::{Diagnostics, Document, LoadError, Report, Rows, Span, Table, nearest, or_list};
use topology::Topology;
use topology::config::MarketSource;

use crate::config::{Goal, MOST_RUNS, SweepConfig};
use crate::sample;
use crate::values::{self, Value};
use check::Checker;

/// Combinations that are checked one by one; of more, each value is.
const MOST_CHECKED: usize = 5_000;

/// Says what strategies of a platform do not take of their parameters, a line a fault.
pub type ParameterCheck<'a> = &'a dyn Fn(&Topology) -> Vec<String>;

/// A key that is tried with several values.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// As the sweep file has it.
    pub key: String,
    /// As `--set` takes it.
    pub(crate) path: String,
    /// The values, in the order of the file.
    pub values: Vec<Value>,
    span: Span,
}

/// A day, or a part of one.
#[derive(Clone, Debug)]
pub struct Day {
    /// As in tables.
    pub name: String,
    /// Where its data lie.
    pub files: PathBuf,
    /// Parameters are not chosen by it.
    pub is_test: bool,
    sets: Vec<String>,
    span: Option<Span>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// From 1, in the order of the grid.
    pub number: usize,
    /// Which value of each parameter.
    pub choice: Vec<usize>,
    /// Which day.
    pub day: Option<usize>,
    /// Which seed.
    pub seed: Option<u64>,
}

/// A checked sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The file as it was named.
    pub file: PathBuf,
    /// Its text.
    pub text: String,
    /// The `--set` arguments over it.
    pub sets: Vec<String>,
    /// Where paths in these start.
    pub here: PathBuf,
    /// What it says.
    pub config: SweepConfig,
    /// What it is called.
    pub name: String,
    /// The platform file.
    pub platform: PathBuf,
    /// What is tried.
    pub parameters: Vec<Parameter>,
    /// On which days; none: on what the platform file has.
    pub days: Vec<Day>,
    /// Each seed makes a market of its own.
    pub seeds_are_days: bool,
    /// Combinations of the whole grid.
    pub grid: u64,
    /// The runs: parameters, then days, then seeds; the last changes fastest.
    pub cells: Vec<Cell>,
}

/// What checking a file gives.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The sweep.
    pub sweep: Sweep,
    /// The platform of its first run.
    pub first: Topology,
    /// What looks wrong but is allowed.
    pub warnings: Diagnostics,
}

/// Keys that a sweep sets by other means.
const TAKEN: [(&str, &str); 6] = [
    ("platform.instance", "each run's instance is called after its job"),
    ("platform.runs", "`keep` says what stays of the runs, `--out` where"),
    ("platform.runs_keep_for", "`keep` says what stays of the runs"),
    ("platform.runs_keep_bytes", "`keep` says what stays of the runs"),
    ("platform.live", "a race gives other results each time: there is nothing to sweep"),
    ("platform.deterministic", "a race gives other results each time: there is nothing to sweep"),
];

/// Reads and checks the file, with the `--set` arguments `sets` over it. Paths in these start at `here`, those of the file at its
/// folder.
///
/// # Errors
/// [`LoadError`]: a file cannot be read, or all that is wrong.
pub fn load(
    path: &Path,
    sets: &[String],
    here: &Path,
    check: ParameterCheck<'_>,
) -> Result<Checked, LoadError> {
    let text = settings::read_file(path)?;
    let document = Document::parse(&path.to_string_lossy(), &text, sets);
    let root = document.root().clone();
    let mut draft = document.check::<SweepConfig>();
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let is_whole = draft.is_whole();
    let bases = Bases { folder: &folder, here };
    let platform_file = bases.of(draft.rows.span("platform")).join(&draft.value.platform);
    // Where the sweep file is no TOML, or names no platform, nothing else can be said.
    let platform_text = match is_whole && !draft.rows.is_bad("platform") {
        true => std::fs::read_to_string(&platform_file)
            .map_err(|error| {
                let message = format!("cannot read {}: {error}", platform_file.display());
                draft
                    .report
                    .error(draft.rows.place("platform"), message)
                    .help("`platform` names the platform file, relative to the sweep file");
            })
            .ok(),
        false => None,
    };
    let Some(platform_text) = platform_text else {
        return match draft.finish() {
            Err(found) => Err(found.into()),
            Ok(checked) => Err(checked.warnings.into()),
        };
    };
    let groups = Groups::of(&platform_file, &platform_text);
    let (config, rows, report) = (&draft.value, &draft.rows, &mut draft.report);
    let parameters = parameters(&root, rows, &groups, bases, report);
    let days = days(config, rows, bases, report);
    of_config(config, rows, &parameters, &days, report);
    let grid = parameters.iter().fold(1_u64, |all, one| all.saturating_mul(one.values.len() as u64));
    let combinations = config.sample.map_or(grid, |sample| grid.min(u64::from(sample)));
    let each = days.len().max(1) as u64 * config.seeds.len().max(1) as u64;
    if combinations.saturating_mul(each) > MOST_RUNS {
        let message =
            format!("the sweep has {} runs; {MOST_RUNS} are allowed", combinations.saturating_mul(each));
        report.error(rows.place("parameters"), message).help("`sample = 1000` draws so many combinations");
    }
    if report.has_errors() {
        return match draft.finish() {
            Err(found) => Err(found.into()),
            Ok(checked) => Err(checked.warnings.into()),
        };
    }
    let mut sweep = Sweep {
        file: path.to_owned(),
        name: name_of(config, path),
        text,
        sets: sets.to_owned(),
        cells: cells(config, &parameters, &days, grid),
        config: config.clone(),
        platform: std::fs::canonicalize(&platform_file).unwrap_or_else(|_| platform_file.clone()),
        here: here.to_owned(),
        parameters,
        days,
        seeds_are_days: false,
        grid,
    };
    let mut foreign = Diagnostics { file: path.to_string_lossy().into_owned(), diagnostics: Vec::new() };
    let mut checker = Checker {
        sweep: &sweep,
        file: &platform_file,
        text: &platform_text,
        rows,
        report,
        foreign: &mut foreign,
        check,
    };
    let first = checker.run();
    sweep.seeds_are_days = first.as_ref().is_some_and(|(_, source)| {
        *source == MarketSource::Sim && sweep.config.seed_keys.iter().any(|key| key == "md.seed")
    });
    let finished = draft.finish();
    let mut found = match finished {
        Ok(checked) => checked.warnings,
        Err(found) => found,
    };
    found.join(foreign);
    match (found.errors(), first) {
        (0, Some((first, _))) => Ok(Checked { sweep, first, warnings: found }),
        _ => Err(found.into()),
    }
}

fn name_of(config: &SweepConfig, path: &Path) -> String {
    let stem =
        path.file_stem().map_or_else(|| "sweep".to_owned(), |stem| stem.to_string_lossy().into_owned());
    config.name.clone().unwrap_or_else(|| plain(&stem))
}

/// A text as a name may be.
fn plain(text: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    text.chars().map(|c| if is_kept(c) { c } else { '-' }).take(48).collect()
}

/// The groups of strategies that a platform file has.
struct Groups {
    names: Vec<String>,
    /// `[strategies]` is itself the one group, of this name.
    single: Option<String>,
}

impl Groups {
    fn of(file: &Path, text: &str) -> Groups {
        let document = Document::parse(&file.to_string_lossy(), text, &[]);
        let strategies = document.root().table("strategies");
        let names: Vec<String> = strategies
            .iter()
            .flat_map(|strategies| strategies.tables("group"))
            .filter_map(|group| group.text("name").map(str::to_owned))
            .collect();
        let single = strategies
            .filter(|_| names.is_empty())
            .map(|table| table.text("name").unwrap_or("strategy").to_owned());
        Groups { names, single }
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().chain(&self.single).map(String::as_str)
    }

    /// `strategies.NAME.…` as the platform file's own path.
    fn resolve(&self, segments: &[String]) -> Result<Vec<String>, String> {
        let [head, name, rest @ ..] = segments else { return Ok(segments.to_owned()) };
        if head != "strategies"
            || rest.is_empty()
            || ["group", "params", "limits", "host"].contains(&name.as_str())
        {
            return Ok(segments.to_owned());
        }
        if self.single.as_deref() == Some(name.as_str()) {
            return Ok([std::slice::from_ref(head), rest].concat());
        }
        if self.names.contains(name) {
            return Ok([&[head.clone(), "group".to_owned(), name.clone()], rest].concat());
        }
        Err(match nearest(name, self.all()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the platform file has {}", or_list(self.all(), "`")),
        })
    }
}

/// Where relative paths start.
#[derive(Clone, Copy)]
struct Bases<'a> {
    folder: &'a Path,
    here: &'a Path,
}

impl Bases<'_> {
    /// Of a value that is written there.
    fn of(&self, span: Option<Span>) -> &Path {
        if span.is_some_and(|span| span.is_override()) { self.here } else { self.folder }
    }
}

/// All keys of `[parameters]`, dotted or in tables.
fn parameters(
    root: &Table,
    rows: &Rows,
    groups: &Groups,
    bases: Bases<'_>,
    report: &mut Report,
) -> Vec<Parameter> {
    let mut found = Vec::new();
    let Some(table) = root.table("parameters") else { return found };
    collect(table, &mut Vec::new(), groups, report, &mut found);
    found.iter_mut().for_each(|parameter| rebase(parameter, bases));
    if found.is_empty() && !report.has_errors() {
        report
            .error(rows.place("parameters"), "[parameters] has no key")
            .help("write \"strategies.NAME.params.KEY\" = [1, 2, 3]");
    }
    found.sort_by_key(|parameter| parameter.span);
    for (index, one) in found.iter().enumerate() {
        if let Some(same) = found[..index].iter().find(|other| other.path == one.path) {
            report
                .error(one.span, format!("`{}` stands twice in [parameters]", one.key))
                .help("keep one of them")
                .related(Some(same.span), "the first one is here");
        }
    }
    found
}

/// Programs and files that are tried: the platform would look for them elsewhere.
fn rebase(parameter: &mut Parameter, bases: Bases<'_>) {
    let last = parameter.path.rsplit('.').next().unwrap_or_default();
    let is_path = ["program", "files", "history", "file", "instruments_file"].contains(&last);
    if parameter.path.contains(".params.") || !is_path {
        return;
    }
    for value in parameter.values.iter_mut().filter(|value| !value.text.starts_with("builtin:")) {
        if value.toml.starts_with('"') {
            let path = bases.of(Some(value.span)).join(&value.text);
            let path = std::path::absolute(&path).unwrap_or(path);
            value.toml = values::toml(&path.to_string_lossy().into_owned().into());
        }
    }
}

fn collect(
    table: &Table,
    above: &mut Vec<String>,
    groups: &Groups,
    report: &mut Report,
    found: &mut Vec<Parameter>,
) {
    for key in table.keys() {
        let Some(span) = table.key_span(key) else { continue };
        let depth = above.len();
        above.extend(key.split('.').map(str::to_owned));
        match table.table(key) {
            Some(inner) if !values::is_range(inner) => collect(inner, above, groups, report, found),
            range => {
                let key_text = above.join(".");
                let place = table.value(key).map_or(span, |(_, span)| span);
                let values = match (range, table.items(key), table.value(key)) {
                    (Some(range), ..) => values::of_range(&key_text, place, range, report),
                    (None, Some(items), _) => values::of_list(&key_text, place, &items, report),
                    (None, None, Some(value)) => values::of_list(&key_text, place, &[value], report),
                    _ => Vec::new(),
                };
                match groups.resolve(above) {
                    Ok(path) => {
                        let path: Vec<String> = path.iter().map(|part| values::quoted(part)).collect();
                        found.push(Parameter { key: key_text, path: path.join("."), values, span });
                    }
                    Err(help) => {
                        let name = above.get(1).map_or("", String::as_str);
                        report
                            .error(span, format!("`{key_text}`: no group of strategies is named `{name}`"))
                            .help(help);
                    }
                }
            }
        }
        above.truncate(depth);
    }
}

fn days(config: &SweepConfig, rows: &Rows, bases: Bases<'_>, report: &mut Report) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for (index, day) in config.days.list.iter().enumerate() {
        let named = day.name.as_ref().and_then(|name| rows.span(&format!("days.list.{name}.files")));
        let span = named.or_else(|| rows.span(&format!("days.list.{index}.files")));
        let files = bases.of(span).join(&day.files);
        // The runs may start elsewhere.
        let files = std::path::absolute(&files).unwrap_or(files);
        let name = day.name.clone().unwrap_or_else(|| {
            let last = day.files.file_name().unwrap_or_default().to_string_lossy().into_owned();
            plain(last.split('.').next().unwrap_or_default())
        });
        if let Err(error) = files.metadata() {
            report
                .error(span, format!("cannot read {}: {error}", files.display()))
                .help("a day's `files` is a folder or a file, relative to the sweep file");
        }
        if days.iter().any(|other| other.name == name) {
            report
                .error(span, format!("two days are called `{name}`"))
                .help("name them: { files = \"…\", name = \"morning\", to = \"11:30:00\" }");
        }
        let text = |path: &Path| serde_json::Value::from(path.to_string_lossy().into_owned());
        let mut sets = vec![format!("md.files={}", values::toml(&text(&files)))];
        let mut set = |key: &str, value: Option<serde_json::Value>| {
            sets.extend(value.map(|value| format!("md.{key}={}", values::toml(&value))));
        };
        set("source", day.source.map(|source| source.as_str().into()));
        set("from", day.from.map(|time| time.to_string().into()));
        set("to", day.to.map(|time| time.to_string().into()));
        set("symbols", day.symbols.clone().map(Into::into));
        sets.extend(day.set.iter().cloned());
        let is_test = config.days.test.contains(&name);
        days.push(Day { name, files, is_test, sets, span });
    }
    let names = || days.iter().map(|day| day.name.as_str());
    for test in &config.days.test {
        if !names().any(|name| name == test) {
            let noted = report.error(rows.place("days.test"), format!("no day is called `{test}`"));
            match nearest(test, names()) {
                Some(near) => noted.help(format!("did you mean `{near}`?")),
                None => noted.help(format!("there is {}", or_list(names(), "`"))),
            };
        }
    }
    if !days.is_empty() && days.iter().all(|day| day.is_test) {
        report
            .error(rows.place("days.test"), "all days are for the test: none is left to choose parameters by")
            .help("leave some days out of `test`");
    }
    days
}

/// Rules between keys.
fn of_config(config: &SweepConfig, rows: &Rows, parameters: &[Parameter], days: &[Day], report: &mut Report) {
    let measures: Vec<&str> = outcome::strategy_measures().map(|measure| measure.name).collect();
    if !measures.contains(&config.measure.as_str()) {
        let noted = report
            .error(rows.place("measure"), format!("strategies.csv has no measure `{}`", config.measure));
        match nearest(&config.measure, measures.iter().copied()) {
            Some(near) => noted.help(format!("did you mean \"{near}\"?")),
            None => noted.help(format!("there is {}", or_list(measures.iter().copied(), "\""))),
        };
    }
    for parameter in parameters {
        let taken = TAKEN.iter().find(|(key, _)| *key == parameter.path).map(|(_, why)| *why);
        let by_days =
            !days.is_empty() && (parameter.path == "md.files" || parameter.path.starts_with("md.files."));
        let by_seeds = !config.seeds.is_empty() && config.seed_keys.contains(&parameter.path);
        let why = match () {
            () if by_days => Some("[days] sets it"),
            () if by_seeds => Some("`seeds` sets it"),
            () => taken,
        };
        if let Some(why) = why {
            report.error(parameter.span, format!("`{}` is no parameter of a sweep", parameter.key)).help(why);
        }
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = config.seeds.iter().find(|seed| !seen.insert(**seed)) {
        report
            .error(rows.place("seeds"), format!("the seed {twice} stands twice"))
            .help("the same run twice says nothing more: leave one out");
    }
}

/// The runs in their order.
fn cells(config: &SweepConfig, parameters: &[Parameter], days: &[Day], grid: u64) -> Vec<Cell> {
    let combinations: Vec<u64> = match config.sample {
        Some(sample) if u64::from(sample) < grid => sample::draw(grid, u64::from(sample), config.seed),
        _ => (0..grid).collect(),
    };
    let days: Vec<Option<usize>> = match days.len() {
        0 => vec![None],
        count => (0..count).map(Some).collect(),
    };
    let seeds: Vec<Option<u64>> = match config.seeds.as_slice() {
        [] => vec![None],
        seeds => seeds.iter().copied().map(Some).collect(),
    };
    let mut cells = Vec::new();
    for combination in combinations {
        let (mut rest, mut choice) = (combination, vec![0; parameters.len()]);
        for (place, parameter) in parameters.iter().enumerate().rev() {
            let count = parameter.values.len().max(1) as u64;
            choice[place] = (rest % count) as usize;
            rest /= count;
        }
        for day in &days {
            for seed in &seeds {
                let number = cells.len() + 1;
                cells.push(Cell { number, choice: choice.clone(), day: *day, seed: *seed });
            }
        }
    }
    cells
}

impl Sweep {
    /// The `--set` arguments of a run over its platform file.
    pub fn sets_of(&self, cell: &Cell) -> Vec<String> {
        let mut sets = self.config.set.clone();
        if let Some(day) = cell.day {
            sets.extend(self.days[day].sets.iter().cloned());
        }
        if let Some(seed) = cell.seed {
            sets.extend(self.config.seed_keys.iter().map(|key| format!("{key}={seed}")));
        }
        let chosen = self.parameters.iter().zip(&cell.choice);
        sets.extend(
            chosen.map(|(parameter, index)| format!("{}={}", parameter.path, parameter.values[*index].toml)),
        );
        sets
    }

    /// The values of a run, in the order of the parameters.
    pub fn values_of<'a>(&'a self, cell: &'a Cell) -> impl Iterator<Item = &'a str> {
        self.parameters.iter().zip(&cell.choice).map(|(one, index)| one.values[*index].text.as_str())
    }

    /// Combinations that run.
    pub fn combinations(&self) -> usize {
        self.cells.len() / self.days.len().max(1) / self.config.seeds.len().max(1)
    }

    /// Which end of the measure is the good one.
    pub fn goal(&self) -> Goal {
        self.config.goal.unwrap_or_else(|| goal_of(&self.config.measure))
    }
}

/// Which end of a measure is the good one, where nobody says.
pub fn goal_of(measure: &str) -> Goal {
    match measure {
        "max_drawdown" | "holding_s" => Goal::Min,
        rejected if rejected.contains("rejected") => Goal::Min,
        _ => Goal::Max,
    }
}
