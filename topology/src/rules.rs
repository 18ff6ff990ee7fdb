//! What must hold between keys, before the topology is built from them.

pub(crate) mod books;
mod data;
pub(crate) mod desk;
pub(crate) mod durability;
mod exchange;
mod external;
pub(crate) mod gateway;
mod hosts;
mod latency;
mod naps;
mod recorded;
mod room;
pub(crate) mod state;
pub(crate) mod tables;

use settings::{Report, Rows, nearest, or_list};

use crate::config::{
    BUILTIN_STRATEGIES, Files, Fill, Generator, InstrumentChoice, MarketSource, OnDeath, PlatformConfig,
    ReaderKind, RestartPolicy, Speed, StrategyGroup,
};
use crate::faults::MAX_SEATS;
use crate::paths;
use crate::services::Service;

/// Notes every rule that does not hold. Rules about values that are wrong in themselves keep silent.
pub(crate) fn check(config: &PlatformConfig, rows: &Rows, report: &mut Report) {
    let mut rules = Rules { config, rows, report };
    if !rows.is_bad("md.source") {
        rules.keys_of_the_other_source();
        rules.files();
        rules.time_window();
        rules.losses();
    }
    rules.lock_step();
    rules.fill();
    latency::check(&mut rules);
    rules.seats();
    if !paths::structure_is_bad(rows) {
        config.strategies.iter().for_each(|group| rules.group(group));
        hosts::check(&mut rules);
        naps::check(&mut rules);
        state::check(&mut rules);
        desk::check(&mut rules);
        gateway::check(&mut rules);
    }
}

struct Rules<'a> {
    config: &'a PlatformConfig,
    rows: &'a Rows,
    report: &'a mut Report,
}

impl Rules<'_> {
    fn error(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        if !self.rows.is_bad(path) {
            self.report.error(self.rows.place(path), message).help(help);
        }
    }

    fn warning(&mut self, path: &str, message: impl Into<String>, help: impl Into<String>) {
        if !self.rows.is_bad(path) {
            self.report.warning(self.rows.place(path), message).help(help);
        }
    }

    fn keys_of_the_other_source(&mut self) {
        let source = self.config.md.source;
        if source == MarketSource::Sim {
            for key in ["speed", "files", "from", "to", "on_bad_row", "tolerate", "symbols"] {
                let path = format!("md.{key}");
                if self.rows.is_written(&path) {
                    self.error(
                        &path,
                        format!("`{key}` is for recorded days, and md.source is \"sim\""),
                        format!("leave it out, or set md.source to {}", replay_words()),
                    );
                }
            }
            return;
        }
        // A file for the simulation may be replayed with `--set md.source=…`: its keys then mean nothing.
        if self.rows.span("md.source").is_some_and(|span| span.is_override()) {
            return;
        }
        let exchange = source == MarketSource::Exchange;
        let multicast = source == MarketSource::Multicast;
        for key in ["files", "speed", "from", "to"] {
            let path = format!("md.{key}");
            if multicast && self.rows.is_written(&path) {
                let message = format!("`{key}` means nothing: md.source is \"multicast\", which is live");
                self.warning(&path, message, "leave it out");
            }
        }
        for key in ["instruments", "interval", "count", "stagger", "seed", "generator"] {
            if exchange && key == "instruments" {
                continue;
            }
            let path = format!("md.{key}");
            if self.rows.is_written(&path) {
                let message = format!("`{key}` means nothing: md.source is \"{source}\", not \"sim\"");
                self.warning(&path, message, "leave it out");
            }
        }
    }

    fn files(&mut self) {
        let md = &self.config.md;
        let (wanted, example): (&[&str], _) = match md.source {
            MarketSource::Sim | MarketSource::Exchange | MarketSource::Multicast => return,
            MarketSource::Sse => (&["orders", "trades"], "md.files=DIR, or md.files.orders=F and .trades=F"),
            MarketSource::Recording => (&[], "md.files=FOLDER"),
            _ => (&["messages"], "md.files=FILE"),
        };
        let Some(files) = &md.files else {
            if !self.rows.is_bad("md.files") {
                self.report
                    .error(
                        self.rows.place("md.source"),
                        format!("md.source is \"{}\", but md.files names no recorded day", md.source),
                    )
                    .help(format!("say where it lies, in [md] or with --set {example}"));
            }
            return;
        };
        let Files::Named(named) = files else { return };
        let given = [("orders", &named.orders), ("trades", &named.trades), ("messages", &named.messages)];
        for (key, path) in given {
            match (wanted.contains(&key), path) {
                (true, None) => self.error(
                    "md.files",
                    format!("md.source is \"{}\", but md.files has no `{key}`", md.source),
                    format!("add it: --set md.files.{key}=F"),
                ),
                (false, Some(_)) => self.error(
                    "md.files",
                    format!("md.files has `{key}`, which \"{}\" does not read", md.source),
                    format!("it reads {}", or_list(wanted.iter().copied(), "`")),
                ),
                _ => {}
            }
        }
    }

    fn time_window(&mut self) {
        if let (Some(from), Some(to)) = (self.config.md.from, self.config.md.to)
            && from >= to
        {
            self.error("md.to", format!("the window ends at {to}, not after its start at {from}"), {
                "`from` must lie before `to`"
            });
        }
    }

    fn losses(&mut self) {
        let md = &self.config.md;
        let races = md.source.is_replay() && md.speed == Speed::MAX && md.readers == ReaderKind::Loose;
        if races && !self.rows.is_written("md.readers") {
            self.warning(
                "md.readers",
                "md.speed is \"max\", and md.readers is \"loose\": strategies will lose most of the day",
                "set md.readers = \"gated\"; to lose is fine? then write \"loose\"",
            );
        }
        let platform = &self.config.platform;
        if platform.live && platform.deterministic == Some(true) {
            let message = "platform.deterministic is true: a run in lock-step races for nothing";
            self.error("platform.live", message, "write one of the two");
        } else if platform.live && !md.source.is_replay() {
            let message = format!("md.source is \"{}\", which is live in any case", md.source);
            self.warning("platform.live", message, "leave it out");
        } else if platform.live {
            let message = "strategies race each other and the recorded market: each run gives other fills";
            self.warning("platform.live", message, "leave it out for a backtest");
        }
    }

    fn lock_step(&mut self) {
        if !self.config.is_in_lock_step() {
            return;
        }
        let md = &self.config.md;
        let why = "platform.deterministic = true plays one event after the other";
        if md.source == MarketSource::Multicast {
            let message = format!("{why}: a multicast group waits for nobody");
            self.error("platform.deterministic", message, "leave it out");
        }
        if md.source.is_replay() && md.speed != Speed::MAX {
            self.error("md.speed", format!("{why}: there is no pace"), "set md.speed = \"max\"");
        }
        if md.source == MarketSource::Sim && md.generator == Generator::Threads {
            self.error("md.generator", format!("{why}: threads race"), "set md.generator = \"timed\"");
        }
        if md.readers == ReaderKind::Loose {
            let message = format!("{why}: it must wait for the strategies");
            self.error("md.readers", message, "set md.readers = \"gated\"");
        }
    }

    fn fill(&mut self) {
        let (fill, source) = (self.config.matching.fill, self.config.md.source);
        if (fill == Fill::Exchange) != (source == MarketSource::Exchange) {
            self.error(
                "matching.fill",
                format!(
                    "matching.fill is \"{fill}\", and md.source is \"{source}\": an exchange has no other market beside it"
                ),
                "set both to \"exchange\", or neither",
            );
        } else if fill == Fill::Book && !source.has_flow() {
            self.error(
                "matching.fill",
                "matching.fill = \"book\" needs a recorded day's order flow, and md.source is \"sim\"",
                "set it to \"quotes\", or replay a recorded day",
            );
        }
        self.external();
        self.keys_of_recorded_markets();
        if fill == Fill::Exchange { self.exchange() } else { self.keys_of_the_exchange() }
    }

    /// A key of the exchange where there is none.
    fn means_nothing(&mut self, key: &str, path: &str) {
        let fill = self.config.matching.fill;
        let message = format!("`{key}` means nothing: matching.fill is \"{fill}\", not \"exchange\"");
        self.warning(path, message, "leave it out");
    }

    fn seats(&mut self) {
        let count = |group: &StrategyGroup| group.count as usize;
        let standard = usize::from(Service::standard_count());
        let nodes = standard
            + usize::from(self.config.gateway.is_some())
            + self.config.service.len()
            + self.config.recorder.len()
            + self.config.strategies.iter().map(count).sum::<usize>();
        if nodes > MAX_SEATS
            && let Some(largest) = self.config.strategies.iter().max_by_key(|group| group.count)
        {
            let over = nodes - MAX_SEATS;
            let message = format!("{nodes} nodes are {over} more than an instance has seats ({MAX_SEATS})");
            let path = format!("{}.count", paths::group(self.rows, &largest.name));
            self.error(&path, message, "lower the counts, or run a second instance");
        }
    }

    fn group(&mut self, group: &StrategyGroup) {
        let path = paths::group(self.rows, &group.name);
        if let Some(builtin) = group.program.strip_prefix("builtin:")
            && !BUILTIN_STRATEGIES.contains(&builtin)
        {
            let help = match nearest(builtin, BUILTIN_STRATEGIES) {
                Some(near) => format!("did you mean \"builtin:{near}\"?"),
                None => {
                    format!("there is {}; a program of your own is a path", or_list(BUILTIN_STRATEGIES, "`"))
                }
            };
            let message = format!("no strategy named `{builtin}` comes with colo");
            self.error(&format!("{path}.program"), message, help);
        }
        self.data(group, &path);
        self.warm_up(group, &path);
        if group.instruments == InstrumentChoice::Listed(Vec::new()) {
            let help = "name some, or write \"round-robin\" or \"all\"";
            self.error(&format!("{path}.instruments"), "these strategies would hear nothing", help);
        }
        if group.on_death == OnDeath::Hold && group.run.restart == RestartPolicy::Never {
            self.warning(
                &format!("{path}.on_death"),
                "the cursor of a dead strategy is held, but nothing starts it again: td will have to wait for it",
                "set restart = \"on-failure\", or on_death = \"drop\"",
            );
        }
    }
}

fn replay_words() -> String {
    let sources = [
        MarketSource::Sse,
        MarketSource::Lobster,
        MarketSource::Pitch,
        MarketSource::Dbn,
        MarketSource::Itch,
    ];
    or_list(sources.map(MarketSource::as_str), "\"")
}
