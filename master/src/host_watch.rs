//! Watches the host under a running platform: its time source, its CPUs, the file systems of its rings.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use node::{Counter, NodeState};
use pinning::{CpuSet, HostSigns};

use crate::supervise::Master;

/// Time between two looks: a change that is undone within it is not seen.
const ROUND: Duration = Duration::from_secs(1);

/// The host as it was at the last look.
#[derive(Debug)]
pub(crate) struct HostWatch {
    looked: Instant,
    last: HostSigns,
    /// Folders with rings on huge pages that no longer exist.
    hidden: Vec<PathBuf>,
}

/// A noticed change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// The kernel uses another time source.
    ClockSource { was: String, now: String },
    /// CPUs that were switched off.
    Gone(CpuSet),
    /// CPUs that were switched on again.
    Back(CpuSet),
    /// The file system with these rings was unmounted, or covered.
    Hidden(PathBuf),
}

impl HostWatch {
    pub(crate) fn new() -> HostWatch {
        HostWatch { looked: Instant::now(), last: HostSigns::read(Path::new("/")), hidden: Vec::new() }
    }

    /// The changes since the last look. `rings` are the folders of the rings on huge pages.
    fn compare(&mut self, now: HostSigns, rings: &[PathBuf]) -> Vec<Noticed> {
        let mut noticed = Vec::new();
        if let (Some(was), Some(now)) = (&self.last.clock_source, &now.clock_source)
            && was != now
        {
            noticed.push(Noticed::ClockSource { was: was.clone(), now: now.clone() });
        }
        if let (Some(was), Some(now)) = (&self.last.online, &now.online) {
            let (gone, back) = (was.difference(now), now.difference(was));
            noticed.extend((!gone.is_empty()).then_some(Noticed::Gone(gone)));
            noticed.extend((!back.is_empty()).then_some(Noticed::Back(back)));
        }
        // A file that could not be read this time is not a change.
        self.last.clock_source = now.clock_source.or(self.last.clock_source.take());
        self.last.online = now.online.or(self.last.online.take());
        self.hidden.retain(|folder| !folder.exists());
        for folder in rings.iter().filter(|folder| !folder.exists()) {
            if !self.hidden.contains(folder) {
                self.hidden.push(folder.clone());
                noticed.push(Noticed::Hidden(folder.clone()));
            }
        }
        noticed
    }
}

impl Master {
    /// Looks about once a second. Changes are logged, and counted in master's seat for the report.
    pub(crate) fn look_at_host(&mut self) {
        if self.places.host.looked.elapsed() < ROUND {
            return;
        }
        self.places.host.looked = Instant::now();
        self.instance.registry.refresh_clock_offset(self.instance.clock);
        self.bound_logs();
        let mut rings: Vec<PathBuf> = Vec::new();
        for mount in self.instance.backings.iter().filter_map(|backing| backing.huge.as_ref()) {
            let folder = self.instance.directory.on_huge_pages(mount);
            if !rings.contains(&folder) {
                rings.push(folder);
            }
        }
        let noticed = self.places.host.compare(HostSigns::read(Path::new("/")), &rings);
        for noticed in noticed {
            match noticed {
                Noticed::ClockSource { was, now } => {
                    log::warn!(
                        "the host's clock source was {was} and is {now} now: times before and after do not compare"
                    );
                    self.count(Counter::ClockChanges);
                }
                Noticed::Hidden(folder) => {
                    log::error!(
                        "{} is gone while nodes have its rings mapped: was its file system unmounted? A node that starts \
                         again will not find them",
                        folder.display()
                    );
                    self.count(Counter::RingsHidden);
                }
                Noticed::Gone(cpus) => {
                    log::warn!("CPUs {cpus} went offline: nodes planned there run elsewhere")
                }
                Noticed::Back(cpus) => {
                    log::info!("CPUs {cpus} are online");
                    self.put_back(&cpus);
                }
            }
        }
    }

    fn count(&self, counter: Counter) {
        if let Some(seat) = self.instance.registry.occupy(0) {
            seat.add(counter as usize, 1);
        }
    }

    /// Restores the CPUs of nodes: the kernel moved them away from a CPU that went offline, and leaves them there when
    /// it returns.
    fn put_back(&self, cpus: &CpuSet) {
        for (index, placement) in self.instance.placements.iter().enumerate() {
            let Some(seat) = self.instance.registry.seat(index as u32) else { continue };
            let runs = NodeState::from_word(seat.state())
                .is_some_and(|state| matches!(state, NodeState::Running | NodeState::Finished));
            if !runs || !placement.cpus.overlaps(cpus) {
                continue;
            }
            match pinning::repin(seat.process().pid, placement) {
                Ok(0) => {}
                Ok(threads) => {
                    log::info!(
                        "node `{}`: {threads} threads are back on CPUs {}",
                        placement.node,
                        placement.cpus
                    );
                }
                Err(error) => {
                    log::warn!(
                        "node `{}` cannot be put back on CPUs {}: {error}",
                        placement.node,
                        placement.cpus
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(clock: &str, online: &str) -> HostSigns {
        HostSigns { clock_source: Some(clock.to_owned()), online: online.parse().ok() }
    }

    #[test]
    fn each_change_of_the_host_is_noticed_once() {
        let mut watch = HostWatch::new();
        watch.last = signs("tsc", "0-3");
        assert_eq!(watch.compare(signs("tsc", "0-3"), &[]), []);
        let (tsc, kvm) = ("tsc".to_owned(), "kvm-clock".to_owned());
        let to_kvm = Noticed::ClockSource { was: tsc.clone(), now: kvm.clone() };
        assert_eq!(watch.compare(signs("kvm-clock", "0-3"), &[]), [to_kvm]);
        assert_eq!(watch.compare(HostSigns::default(), &[]), [], "what cannot be read is no change");
        assert_eq!(watch.compare(signs("tsc", "0-3"), &[]), [Noticed::ClockSource { was: kvm, now: tsc }]);
        let two = || "2".parse::<CpuSet>().unwrap();
        assert_eq!(watch.compare(signs("tsc", "0-1,3"), &[]), [Noticed::Gone(two())]);
        assert_eq!(watch.compare(signs("tsc", "0-3"), &[]), [Noticed::Back(two())]);
    }

    #[test]
    fn rings_whose_file_system_goes_are_noticed_until_they_are_back() {
        let mount = tempfile::tempdir().unwrap();
        let rings = vec![mount.path().join("rings")];
        std::fs::create_dir(&rings[0]).unwrap();
        let mut watch = HostWatch::new();
        let now = watch.last.clone();
        assert_eq!(watch.compare(now.clone(), &rings), []);
        std::fs::remove_dir(&rings[0]).unwrap();
        assert_eq!(watch.compare(now.clone(), &rings), [Noticed::Hidden(rings[0].clone())]);
        assert_eq!(watch.compare(now.clone(), &rings), []);
        std::fs::create_dir(&rings[0]).unwrap();
        assert_eq!(watch.compare(now.clone(), &rings), []);
        std::fs::remove_dir(&rings[0]).unwrap();
        assert_eq!(watch.compare(now, &rings).len(), 1);
    }
}
