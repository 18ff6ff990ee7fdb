//! Each run's platform, checked as one that is started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use settings::{Diagnostics, Report, Rows, nearest, or_list};
use topology::config::MarketSource;
use topology::{NodeKind, Platform, Topology};

use super::{Cell, MOST_CHECKED, Parameter, ParameterCheck, Sweep};

/// Checks runs as platform files are checked, and says what is wrong at its place in the sweep file.
pub(super) struct Checker<'a> {
    pub(super) sweep: &'a Sweep,
    /// As it was named: `sweep` has it without links.
    pub(super) file: &'a Path,
    pub(super) text: &'a str,
    pub(super) rows: &'a Rows,
    pub(super) report: &'a mut Report,
    pub(super) foreign: &'a mut Diagnostics,
    pub(super) check: ParameterCheck<'a>,
}

impl Checker<'_> {
    /// The topology of the first run and where its market comes from, if nothing is wrong.
    pub(super) fn run(&mut self) -> Option<(Topology, MarketSource)> {
        let sweep = self.sweep;
        let first = sweep.cells.first()?;
        let own = self.platform(&sweep.sets_of(first), first);
        if let Some(platform) = &own {
            self.of_first(platform);
        }
        self.own_parameters(first);
        let mut checked = BTreeSet::from([(first.choice.clone(), first.day)]);
        let mut others: Vec<Cell> = self.each_value(first);
        let all = sweep.cells.iter().filter(|cell| cell.seed == first.seed);
        if all.clone().count() <= MOST_CHECKED {
            others.extend(all.cloned());
        }
        for cell in others {
            if checked.insert((cell.choice.clone(), cell.day)) {
                self.platform(&sweep.sets_of(&cell), &cell);
            }
        }
        own.map(|platform| (platform.topology, platform.config.md.source))
    }

    /// Runs in which each value and each day comes once, beside the first of all others.
    fn each_value(&self, first: &Cell) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (place, parameter) in self.sweep.parameters.iter().enumerate() {
            for value in 0..parameter.values.len() {
                let mut cell = first.clone();
                cell.choice[place] = value;
                cells.push(cell);
            }
        }
        cells.extend((0..self.sweep.days.len()).map(|day| Cell { day: Some(day), ..first.clone() }));
        cells
    }

    /// The platform of a run; what is wrong with it is noted.
    fn platform(&mut self, sets: &[String], cell: &Cell) -> Option<Platform> {
        let file = self.file.to_string_lossy();
        let found = match topology::parse(&file, self.text, sets) {
            Ok(platform) => match platform.check_files() {
                Ok(()) => return Some(platform),
                Err(found) => found,
            },
            Err(found) => found,
        };
        let sources = self.sources(cell);
        for diagnostic in found.diagnostics {
            let argument = diagnostic.location.as_ref().filter(|location| location.file == "--set");
            let Some(argument) = argument else {
                let mut one = Diagnostics { file: file.to_string(), diagnostics: vec![diagnostic] };
                // Rendered without a place of its own, it would be shown at the sweep file.
                if let Some(diagnostic) = one.diagnostics.first_mut()
                    && diagnostic.location.is_none()
                {
                    diagnostic.message = format!("{file}: {}", diagnostic.message);
                }
                self.foreign.join(one);
                continue;
            };
            let source = sources.get(&argument.text).copied();
            let key_length = argument.text.find('=').unwrap_or_default();
            let span = match source {
                Some(Source::Parameter(place, value)) if argument.column > key_length => {
                    Some(self.sweep.parameters[place].values[value].span)
                }
                Some(Source::Parameter(place, _)) => Some(self.sweep.parameters[place].span),
                Some(Source::Day(day)) => self.sweep.days[day].span,
                Some(Source::Seed) => {
                    self.rows.place(if argument.column > key_length { "seeds" } else { "seed_keys" })
                }
                Some(Source::All) => self.rows.place("set"),
                None => None,
            };
            let said = match source {
                Some(Source::Parameter(..)) => diagnostic.message,
                _ => format!("{} (--set {})", diagnostic.message, argument.text),
            };
            let noted = self.report.error(span, said);
            diagnostic.help.into_iter().fold(noted, settings::Noted::help);
        }
        None
    }

    fn sources(&self, cell: &Cell) -> BTreeMap<String, Source> {
        let all = self.sweep.config.set.iter();
        let mut sources: BTreeMap<String, Source> = all.map(|set| (set.clone(), Source::All)).collect();
        if let Some(day) = cell.day {
            sources.extend(self.sweep.days[day].sets.iter().map(|set| (set.clone(), Source::Day(day))));
        }
        if let Some(seed) = cell.seed {
            let keys = self.sweep.config.seed_keys.iter();
            sources.extend(keys.map(|key| (format!("{key}={seed}"), Source::Seed)));
        }
        for (place, parameter) in self.sweep.parameters.iter().enumerate() {
            let value = cell.choice[place];
            let set = format!("{}={}", parameter.path, parameter.values[value].toml);
            sources.insert(set, Source::Parameter(place, value));
        }
        sources
    }

    /// What only a whole platform tells.
    fn of_first(&mut self, platform: &Platform) {
        let topology = &platform.topology;
        if !topology.deterministic {
            self.report
                .error(self.rows.place("platform"), "the platform races: the same run gives other results each time")
                .help("a sweep wants lock-step: a replay at md.speed = \"max\" with md.readers = \"gated\", or platform.deterministic = true (docs/backtests.md)");
        }
        let config = &self.sweep.config;
        if !config.seeds.is_empty()
            && platform.config.md.source.is_replay()
            && config.seed_keys.iter().all(|key| key == "md.seed")
        {
            self.report
                .error(
                    self.rows.place("seeds"),
                    "the seeds change nothing: the market is a recorded day, which has no seed",
                )
                .help("name a key of a strategy in `seed_keys`, or leave `seeds` out");
        }
        let strategies: Vec<&topology::NodeSpec> =
            topology.nodes.iter().filter(|node| node.kind == NodeKind::Strategy).collect();
        let named: usize = match &config.strategy {
            None => strategies.len(),
            Some(name) => {
                let is_meant = |node: &&&topology::NodeSpec| {
                    node.name == *name || node.group.as_deref() == Some(name.as_str())
                };
                strategies.iter().filter(is_meant).count()
            }
        };
        if let (Some(name), 0) = (&config.strategy, named) {
            let known: BTreeSet<&str> = strategies
                .iter()
                .flat_map(|node| node.group.as_deref().into_iter().chain([node.name.as_str()]))
                .collect();
            let noted = self
                .report
                .error(self.rows.place("strategy"), format!("no strategy and no group is named `{name}`"));
            match nearest(name, known.iter().copied()) {
                Some(near) => noted.help(format!("did you mean \"{near}\"?")),
                None => noted.help(format!("there is {}", or_list(known.iter().copied(), "\""))),
            };
        }
        let is_sum =
            outcome::strategy_measures().any(|measure| measure.name == config.measure && measure.is_sum);
        if named > 1 && !is_sum {
            let place = self.rows.place("measure");
            let names: Vec<&str> = strategies.iter().map(|node| node.name.as_str()).take(8).collect();
            self.report
                .error(place, format!("`{}` is of one strategy, and {named} are meant", config.measure))
                .help(format!("name one: strategy = {}", or_list(names, "\"")));
        }
    }

    /// Whether the strategies take what is tried with them: each key alone, so that all misspelt ones are named at once,
    /// then each value.
    fn own_parameters(&mut self, first: &Cell) {
        let sweep = self.sweep;
        let is_own = |parameter: &Parameter| parameter.path.contains(".params.");
        let own: Vec<usize> =
            (0..sweep.parameters.len()).filter(|place| is_own(&sweep.parameters[*place])).collect();
        let file = self.file.to_string_lossy();
        let faults = |sets: &[String]| -> Vec<String> {
            topology::parse(&file, self.text, sets)
                .map_or_else(|_| Vec::new(), |it| (self.check)(&it.topology))
        };
        let set_of = |place: usize, value: usize| {
            let parameter = &sweep.parameters[place];
            format!("{}={}", parameter.path, parameter.values[value].toml)
        };
        let all = sweep.sets_of(first);
        let mine: BTreeSet<String> = own.iter().map(|place| set_of(*place, first.choice[*place])).collect();
        let rest: Vec<String> = all.iter().filter(|set| !mine.contains(*set)).cloned().collect();
        // What is wrong without them is not theirs.
        let before: BTreeSet<String> = faults(&rest).into_iter().collect();
        let mut noted = BTreeSet::new();
        for place in &own {
            let parameter = &sweep.parameters[*place];
            for value in 0..parameter.values.len() {
                let alone = [rest.clone(), vec![set_of(*place, value)]].concat();
                let wrong = faults(&alone).into_iter().find(|fault| !before.contains(fault));
                let Some(wrong) = wrong else { continue };
                // A value may only fit together with the others.
                let others = own.iter().filter(|other| *other != place);
                let others = others.map(|other| set_of(*other, first.choice[*other]));
                if faults(&alone.iter().cloned().chain(others).collect::<Vec<_>>()).is_empty() {
                    continue;
                }
                // A name that the strategy does not know is wrong with every value.
                let is_unknown = wrong.contains("unknown field");
                let span = if is_unknown { parameter.span } else { parameter.values[value].span };
                if noted.insert(span) {
                    self.report
                        .error(span, wrong)
                        .help("`params` are the strategy's own: its `Parameters` lists them");
                }
                if is_unknown {
                    break;
                }
            }
        }
        if noted.is_empty()
            && let Some(fault) = faults(&all).into_iter().next()
        {
            let place = own.first().map(|place| sweep.parameters[*place].span);
            self.report
                .error(place.or_else(|| self.rows.place("platform")), fault)
                .help("as the platform file has it, with the first value of each parameter");
        }
    }
}

/// Where a `--set` argument of a run comes from.
#[derive(Clone, Copy)]
enum Source {
    Parameter(usize, usize),
    Day(usize),
    Seed,
    All,
}
