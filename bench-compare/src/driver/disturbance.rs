//! Measures other load on the CPUs during a block.

use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// Ticks of `/proc/stat` a second.
const TICKS: f64 = 100.0;
/// Foreign load that disturbs, in cores: less is within the error of counting ticks.
const FOREIGN: f64 = 0.25;
/// Stolen time that disturbs, in cores.
const STOLEN: f64 = 0.02;

#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    /// CPU time of all processes, in seconds.
    busy: f64,
    /// Time that the hypervisor gave to others.
    stolen: f64,
    /// CPU time of this process and of its children that have ended.
    own: f64,
}

impl Reading {
    fn now() -> Reading {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let first = stat.lines().next().unwrap_or_default();
        let ticks: Vec<f64> =
            first.split_ascii_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
        let tick = |index: usize| ticks.get(index).copied().unwrap_or(0.0) / TICKS;
        Reading {
            // user, nice, system, irq, softirq
            busy: tick(0) + tick(1) + tick(2) + tick(5) + tick(6),
            stolen: tick(7),
            own: used(UsageWho::RUSAGE_SELF) + used(UsageWho::RUSAGE_CHILDREN),
        }
    }
}

fn used(who: UsageWho) -> f64 {
    getrusage(who).map_or(0.0, |usage| {
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    })
}

/// Reads the host's counters before and after.
#[derive(Debug)]
pub(crate) struct Meter {
    begin: Instant,
    before: Reading,
}

/// The result of a meter, in cores: CPU time divided by elapsed time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Used by the block's own processes.
    pub(crate) own_cores: f64,
    /// Used by other processes on this host.
    pub(crate) foreign_cores: f64,
    /// Used by other virtual machines.
    pub(crate) stolen_cores: f64,
}

impl Meter {
    /// Starts before the block.
    pub(crate) fn start() -> Meter {
        Meter { begin: Instant::now(), before: Reading::now() }
    }

    /// After all of the block's processes have been waited for.
    pub(crate) fn finish(&self) -> Usage {
        let after = Reading::now();
        let seconds = self.begin.elapsed().as_secs_f64().max(0.001);
        let own = after.own - self.before.own;
        Usage {
            own_cores: own / seconds,
            foreign_cores: ((after.busy - self.before.busy - own) / seconds).max(0.0),
            stolen_cores: (after.stolen - self.before.stolen).max(0.0) / seconds,
        }
    }
}

impl Usage {
    /// What exceeds the limits, as text.
    pub(crate) fn disturbances(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.stolen_cores > STOLEN {
            words.push(format!("{:.2} cores stolen", self.stolen_cores));
        }
        if self.foreign_cores > FOREIGN {
            words.push(format!("others used {:.1} cores", self.foreign_cores));
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn load_within_the_error_of_counting_disturbs_nobody() {
        let quiet = Usage { own_cores: 2.0, foreign_cores: 0.2, stolen_cores: 0.01 };
        assert!(quiet.disturbances().is_empty());
        let loud = Usage { foreign_cores: 1.5, stolen_cores: 0.3, ..quiet };
        assert_eq!(loud.disturbances(), ["0.30 cores stolen", "others used 1.5 cores"]);
    }
}
