//! The services that `colo run` has built in: the one list of the entries that the components offer.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use node::{Node, Service};

use crate::args::{Place, RunOther};
use crate::failure::Failure;

/// All of them.
const SERVICES: &[Service] =
    &[md::SERVICE, td::SERVICE, matching::SERVICE, ledger::SERVICE, recorder::SERVICE, node::relay::SERVICE];

/// The service of this kind.
pub(crate) fn of(kind: topology::NodeKind) -> Option<&'static Service> {
    SERVICES.iter().find(|service| service.kind == kind)
}

/// `colo run`: a service, or what is none.
#[derive(Debug)]
pub(crate) enum Run {
    Service(RunService),
    Other(RunOther),
}

/// One service, as the command line asks for it.
#[derive(Debug)]
pub(crate) struct RunService {
    service: &'static Service,
    place: Place,
    flags: Vec<&'static str>,
}

impl RunService {
    /// Runs it to its end.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let name = self.place.node.as_deref().unwrap_or(self.service.kind.as_str());
        let node = Node::join(self.place.instance(), name)?;
        Ok((self.service.run)(node, &self.flags)?)
    }
}

fn command(service: &Service) -> Command {
    let place = Place::augment_args(Command::new(service.kind.as_str()).about(service.about));
    service.flags.iter().fold(place, |command, flag| {
        command.arg(Arg::new(flag.name).long(flag.name).help(flag.about).action(ArgAction::SetTrue))
    })
}

impl Subcommand for Run {
    fn augment_subcommands(command_of_run: Command) -> Command {
        SERVICES
            .iter()
            .fold(RunOther::augment_subcommands(command_of_run), |all, one| all.subcommand(command(one)))
    }

    fn augment_subcommands_for_update(command_of_run: Command) -> Command {
        Run::augment_subcommands(command_of_run)
    }

    fn has_subcommand(name: &str) -> bool {
        SERVICES.iter().any(|service| service.kind.as_str() == name) || RunOther::has_subcommand(name)
    }
}

impl FromArgMatches for Run {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Run, Error> {
        let (name, given) =
            matches.subcommand().ok_or_else(|| Error::raw(ErrorKind::MissingSubcommand, "run what?\n"))?;
        let Some(service) = SERVICES.iter().find(|service| service.kind.as_str() == name) else {
            return RunOther::from_arg_matches(matches).map(Run::Other);
        };
        let flags = service.flags.iter().map(|flag| flag.name).filter(|name| given.get_flag(name)).collect();
        Ok(Run::Service(RunService { service, place: Place::from_arg_matches(given)?, flags }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Run::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;
    use topology::{NodeKind, Platform, Program};

    use crate::args::Arguments;

    /// Master starts each built-in node by `colo run` and the name in its topology.
    #[test]
    fn every_program_that_a_platform_has_built_in_can_be_run() {
        let configs = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs");
        let files = std::fs::read_dir(configs).unwrap().map(|file| file.unwrap().path());
        // Scenarios are no platform files.
        let mut platforms: Vec<Platform> = files.filter_map(|path| topology::load(&path, &[]).ok()).collect();
        let relay =
            "[md]\n[strategies]\ncount = 1\n[pin.nodes.\"strategy-*\"]\ncpu = 3\nrelay = { cpu = 3 }\n";
        platforms.push(topology::parse("relay.toml", relay, &[]).unwrap());
        let mut looked_at = BTreeSet::new();
        for platform in platforms {
            for node in &platform.topology.nodes {
                let Program::Builtin(program) = &node.program else { continue };
                let strategy = (node.kind == NodeKind::Strategy).then_some("strategy");
                let words = ["colo", "run"].into_iter().chain(strategy).chain([program.as_str()]);
                // Master and strategies take the instance from elsewhere, or need not have one.
                let words: Vec<&str> = words.collect();
                let named = if node.kind == NodeKind::Master { None } else { Some("--instance=demo") };
                let taken = Arguments::try_parse_from(words.iter().copied().chain(named));
                assert!(taken.is_ok(), "{}: `{}`: {:?}", platform.file, words.join(" "), taken.err());
                looked_at.insert(words.join(" "));
            }
        }
        println!("{looked_at:?}");
        assert!(looked_at.len() > 7, "too little was looked at: {looked_at:?}");
    }

    #[test]
    fn flags_reach_the_service_that_knows_them_and_no_other() {
        let flags = |words: &str| match Arguments::try_parse_from(words.split(' ')).ok()?.verb {
            crate::args::Verb::Run(super::Run::Service(run)) => Some(run.flags),
            _ => None,
        };
        assert_eq!(flags("colo run matching demo --closed"), Some(vec!["closed"]));
        assert_eq!(flags("colo run matching demo"), Some(vec![]));
        assert_eq!(flags("colo run td demo --closed"), None);
    }
}
