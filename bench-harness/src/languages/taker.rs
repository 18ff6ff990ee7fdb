//! From a quote to td, by a taker on a platform of real processes.

use master_client::{Launch, LaunchError};

use super::LanguagesSettings;
use crate::ipc::IpcError;
use crate::orders::Waiting;

/// Nodes of a platform that look all the time, if each has a CPU: the strategy, md, td, the exchange.
const LOOKING: usize = 4;

/// What a platform said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) p50_us: f64,
    pub(super) orders: u64,
}

/// Runs one to its end.
pub(super) fn t2o(
    settings: &LanguagesSettings,
    program: &str,
    waiting: Waiting,
    go_on: impl Fn() -> bool,
) -> Result<Taken, IpcError> {
    let failed = |error: &LaunchError| IpcError::Platform(format!("{program}: {error}"));
    let platform = topology::parse("bench languages", &text(settings, program, waiting), &[])
        .map_err(|error| IpcError::Platform(error.to_string()))?;
    let launch =
        Launch { topology: platform.topology, colo: settings.colo.clone(), keep_raw: false, recover: None };
    let mut running = match launch.start(|_, _| go_on()) {
        Ok(running) => running,
        Err(_) if !go_on() => return Err(IpcError::Stopped),
        Err(error) => return Err(failed(&error)),
    };
    let end = running.watch(|_| go_on());
    let finished = running.finish();
    if !go_on() {
        return Err(IpcError::Stopped);
    }
    end.map_err(|error| failed(&error))?;
    let report = finished.map_err(|error| failed(&error))?;
    match report.stages.stages.get("t2o") {
        Some(stage) if stage.n > 0 => Ok(Taken { p50_us: stage.p50_us, orders: stage.n }),
        _ => Err(IpcError::Platform(format!("{program}: it sent no order; its log says why"))),
    }
}

/// Strategies that look all the time have a CPU of their own.
fn text(settings: &LanguagesSettings, program: &str, waiting: Waiting) -> String {
    let others = match waiting {
        Waiting::Fast if settings.cpus.len() > LOOKING => "fast",
        _ => "parked",
    };
    let pin = match settings.cpus[..] {
        [first, second, ..] if others == "parked" => {
            format!("[pin.nodes]\n\"taker-1\" = {{ cpus = \"{first}\" }}\n\"*\" = {{ cpu = {second} }}\n")
        }
        _ => String::new(),
    };
    format!(
        r#"
[platform]
instance = "bench-languages-{process}"
[md]
source = "sim"
instruments = 1
interval = "1ms"
count = {quotes}
generator = "timed"
mode = "parked"
[td]
mode = "{others}"
[matching]
mode = "{others}"
[ledger]
mode = "parked"
[master]
mode = "parked"
ready_timeout = "60s"
[[strategies.group]]
name = "taker"
program = '{program}'
count = 1
instruments = "all"
mode = "{waiting}"
{pin}"#,
        process = std::process::id(),
        quotes = settings.quotes,
        waiting = waiting.as_str(),
    )
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn every_platform_is_a_good_one() {
        for cpus in [vec![0, 1], (0..8).collect()] {
            for waiting in Waiting::ALL {
                let settings =
                    LanguagesSettings { cpus: cpus.clone(), ..LanguagesSettings::quick(PathBuf::new()) };
                let text = text(&settings, "builtin:taker", waiting);
                topology::parse("bench languages", &text, &[])
                    .unwrap_or_else(|error| panic!("{error}\n{text}"));
            }
        }
    }
}
