//! Measures what other processes ran on the CPUs that a platform may use.
//!
//! Uses each process's own account (`/proc/PID/stat`), which the kernel keeps exactly, and updates as long as the
//! process lives: nothing between two looks is missed. A process that started and ended in between is in the account of
//! the parent that waited for it. The host's own account (`/proc/stat`) samples with the timer's tick, which a
//! platform's short wake-ups are in step with: at thousands of wake-ups a second its error exceeds half a CPU, so it is
//! used only where other processes are not visible.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use pinning::CpuSet;

/// The unit of `/proc/PID/stat`.
const TICK_NS: f64 = 1e7;
/// Limit of the processes that are named.
const NAMED: usize = 8;

/// Accounts of all processes, by pid and start time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Processes(BTreeMap<(u32, u64), Account>);

/// CPU time of one process, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Account {
    name: String,
    /// Its own time, including threads that ended.
    own: u64,
    /// Time of its children that it has waited for.
    children: u64,
}

/// What other processes ran between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Others {
    /// CPU time, in CPUs.
    pub(crate) cpus: f64,
    /// The processes, most first: name, pid, CPUs.
    pub(crate) most: Vec<String>,
}

impl Processes {
    /// The current accounts. `None` where other processes are not visible: in a pid namespace of one's own.
    pub(crate) fn now() -> Option<Processes> {
        Processes::beside(&BTreeSet::new())
    }

    /// The same without `ours`: a look at only the others takes less time from the platform.
    pub(crate) fn beside(ours: &BTreeSet<u32>) -> Option<Processes> {
        let kernel_is_there = fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd");
        if !kernel_is_there {
            return None;
        }
        let mut processes = BTreeMap::new();
        for entry in fs::read_dir("/proc").ok()?.flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(pid) = pid.filter(|pid| !ours.contains(pid)) else { continue };
            // A process that has ended meanwhile is skipped.
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if let Some((start, account)) = Account::parse(&text) {
                processes.insert((pid, start), account);
            }
        }
        Some(Processes(processes))
    }

    /// CPU time of these processes so far, in ticks.
    pub(crate) fn ticks_of(pids: &BTreeSet<u32>) -> u64 {
        let of = |pid: &u32| {
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            Account::parse(&text).map(|(_, account)| account.own)
        };
        pids.iter().filter_map(of).sum()
    }

    /// Ticks in some seconds as CPUs.
    pub(crate) fn cpus(ticks: u64, seconds: f64) -> f64 {
        ticks as f64 * TICK_NS / 1e9 / seconds
    }

    /// CPU time since `before`, in `seconds`, of processes that may run on `cpus` and are not among `ours`.
    pub(crate) fn since(
        &self,
        before: &Processes,
        seconds: f64,
        ours: &BTreeSet<u32>,
        cpus: &CpuSet,
    ) -> Others {
        let (mut own, mut ticks, mut most) = (0, 0_i64, Vec::new());
        for (key, after) in self.0.iter().filter(|(key, _)| !ours.contains(&key.0)) {
            let was = before.0.get(key);
            let grown = after.own.saturating_sub(was.map_or(0, |was| was.own));
            let children = after.children.saturating_sub(was.map_or(0, |was| was.children));
            if grown + children == 0 || !may_run_on(key.0, cpus) {
                continue;
            }
            own += grown;
            ticks += (grown + children) as i64;
            most.push((grown + children, key.0, after.name.clone()));
        }
        // What a child had run before is also in its parent's account, once it has been waited for.
        let gone = before.0.iter().filter(|(key, _)| !self.0.contains_key(key) && !ours.contains(&key.0));
        ticks -= gone.map(|(_, was)| (was.own + was.children) as i64).sum::<i64>();
        let ticks = (own as i64).max(ticks);
        // A parent's account includes at once what its children ran before: limit a process to the total.
        let all = ticks as f64;
        let share = |ticks: f64| ticks * TICK_NS / 1e9 / seconds;
        most.sort_by(|a, b| b.cmp(a));
        let name = |(ticks, pid, name): (u64, u32, String)| {
            format!("{name} ({pid}) {:.2}", share((ticks as f64).min(all)))
        };
        Others { cpus: share(ticks as f64), most: most.into_iter().take(NAMED).map(name).collect() }
    }
}

/// Whether any thread of the process may run there; true for one that has ended.
fn may_run_on(pid: u32, cpus: &CpuSet) -> bool {
    match pinning::observe(pid) {
        Ok(threads) => threads.iter().any(|thread| thread.allowed.overlaps(cpus)),
        Err(_) => true,
    }
}

impl Account {
    /// Start time and account of a line of `/proc/PID/stat`.
    fn parse(text: &str) -> Option<(u64, Account)> {
        // The name is in parentheses and may contain any character, parentheses too: the last one ends it.
        let (head, tail) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = tail.split_whitespace().collect();
        // Field numbers as in proc(5), where the state, the first word after the name, is field 3.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let account = Account { name, own: field(14)? + field(15)?, children: field(16)? + field(17)? };
        Some((field(22)?, account))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes(accounts: &[(u32, u64, u64)]) -> Processes {
        let account = |&(pid, own, children): &(u32, u64, u64)| {
            // Far beyond any pid of this host: its CPUs are unknown, so it may have run anywhere.
            ((pid + 4_000_000_000, 1), Account { name: format!("p{pid}"), own, children })
        };
        Processes(accounts.iter().map(account).collect())
    }

    fn cpus(before: &[(u32, u64, u64)], after: &[(u32, u64, u64)]) -> f64 {
        let ours = BTreeSet::from([4_000_000_009]);
        processes(after).since(&processes(before), 1.0, &ours, &CpuSet::single(0)).cpus
    }

    #[test]
    fn a_line_of_proc_with_any_name_is_read() {
        let line = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 0 0 0 11 22 33 44 20 0 1 0 999 0 0";
        let account = Account { name: "a) b (c)".to_owned(), own: 33, children: 77 };
        assert_eq!(Account::parse(line), Some((999, account)));
        assert_eq!(Account::parse("garbage"), None);
    }

    #[test]
    fn what_ran_between_two_looks_is_counted_once_though_it_ended() {
        assert_eq!(cpus(&[(1, 100, 0)], &[(1, 133, 0)]), 0.33);
        assert_eq!(cpus(&[], &[(1, 20, 0)]), 0.2, "it began meanwhile");
        assert_eq!(cpus(&[(1, 0, 0)], &[(1, 0, 30)]), 0.3, "its child came and went");
        assert_eq!(cpus(&[(1, 0, 0), (2, 500, 0)], &[(1, 0, 530)]), 0.3, "its child ended");
        assert_eq!(cpus(&[(2, 500, 0), (1, 1, 0)], &[(1, 2, 0)]), 0.01, "nobody waited for it");
        assert_eq!(cpus(&[(9, 0, 0)], &[(9, 100, 0)]), 0.0, "ours");
    }

    #[test]
    fn a_process_that_spins_is_found_by_name() {
        let Some(before) = Processes::now() else {
            eprintln!("skipped: other processes cannot be seen here");
            return;
        };
        let mut hog = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let begun = std::time::Instant::now();
        let others = loop {
            std::thread::sleep(std::time::Duration::from_millis(50));
            let host = pinning::Host::read("/".as_ref()).unwrap();
            let seconds = begun.elapsed().as_secs_f64();
            let now = Processes::now().unwrap();
            let others = now.since(&before, seconds, &BTreeSet::new(), &host.allowed);
            let pid = format!("({})", hog.id());
            if others.most.iter().any(|who| who.contains(&pid)) || seconds > 30.0 {
                break others;
            }
        };
        let pid = format!("sh ({})", hog.id());
        hog.kill().unwrap();
        hog.wait().unwrap();
        assert!(others.cpus > 0.0 && others.most.iter().any(|who| who.contains(&pid)), "{others:?}");
    }
}
