//! Ending all processes of an instance by signals.

use std::time::{Duration, Instant};

use journal::process::PidFd;
use nix::sys::signal::Signal;
use node::InstanceDir;

use crate::error::LaunchError;
use crate::processes::{Member, members};

/// A killed process is gone at once, unless the kernel cannot let go of it.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(20);

/// Asks all to end, and kills those that do not: master first, or it would start the others again.
pub(crate) fn end_all(instance: &InstanceDir, patience: Duration) -> Result<Vec<Member>, LaunchError> {
    let mut ended: Vec<Member> = Vec::new();
    let begin = Instant::now();
    let mut asked = false;
    loop {
        let mut left: Vec<Member> =
            members(instance).into_iter().filter(|member| member.takes_part).collect();
        if left.is_empty() {
            return Ok(ended);
        }
        left.sort_by_key(|member| !member.is_master);
        for member in &left {
            if ended.iter().all(|known| known.process != member.process) {
                ended.push(member.clone());
            }
        }
        if !asked {
            asked = true;
            signal(&left, Signal::SIGTERM);
            // Who is stopped hears of it only then.
            signal(&left, Signal::SIGCONT);
        }
        if begin.elapsed() > patience.saturating_add(LAST_PATIENCE) {
            let pids: Vec<String> = left.iter().map(|member| member.process.pid.to_string()).collect();
            return Err(LaunchError::DoesNotEnd {
                instance: instance.name().to_owned(),
                pids: pids.join(", "),
            });
        }
        if begin.elapsed() > patience {
            signal(&left, Signal::SIGKILL);
        }
        std::thread::sleep(TICK);
    }
}

fn signal(members: &[Member], signal: Signal) {
    for member in members {
        if let Ok(handle) = PidFd::open(member.process) {
            let _ = handle.signal(signal as i32);
        }
    }
}
