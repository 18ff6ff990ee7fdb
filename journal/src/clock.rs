//! One clock for all processes of an instance.
//!
//! Master calibrates once and publishes four numbers in the registry; every process turns the same counter into
//! the same nanoseconds with them. The counter is the CPU's time-stamp counter where the kernel itself trusts it,
//! and `CLOCK_MONOTONIC` where it does not. Times are nanoseconds since the Unix epoch as it was at calibration:
//! they never jump, and they do not follow later corrections of the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which counter the clock reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The invariant time-stamp counter: about 10 ns a reading, no system call.
    Tsc,
    /// `CLOCK_MONOTONIC`: 20 to 50 ns through the vDSO, a system call where there is none.
    Monotonic,
}

impl ClockSource {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            ClockSource::Tsc => "tsc",
            ClockSource::Monotonic => "monotonic",
        }
    }
}

/// Turns a counter into nanoseconds since the epoch. Cheap to copy; reading it neither allocates nor locks.
///
/// ```
/// let clock = journal::Clock::calibrate();
/// let earlier = clock.now();
/// assert!(clock.now() >= earlier);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    source: ClockSource,
    /// Counter at calibration.
    base: u64,
    /// Nanoseconds since the epoch at calibration.
    epoch: u64,
    /// Nanoseconds per count, 32.32 fixed point.
    scale: u64,
}

/// Long enough that the error of the two bracketed readings (tens of ns) is below one part in a million.
const CALIBRATION: Duration = Duration::from_millis(60);

impl Clock {
    /// Measures the best counter of this host; takes 60 ms where that is the time-stamp counter.
    pub fn calibrate() -> Clock {
        if !tsc_is_trusted() {
            return Clock::monotonic();
        }
        let (counter_a, nanos_a) = bracketed();
        std::thread::sleep(CALIBRATION);
        let (counter_b, nanos_b) = bracketed();
        let (counts, nanos) = (counter_b.wrapping_sub(counter_a), nanos_b.saturating_sub(nanos_a));
        if counts == 0 || nanos == 0 {
            return Clock::monotonic();
        }
        let scale = ((u128::from(nanos) << 32) / u128::from(counts)) as u64;
        let epoch = wall_nanos().saturating_sub(monotonic_nanos().saturating_sub(nanos_b));
        Clock { source: ClockSource::Tsc, base: counter_b, epoch, scale }
    }

    /// A clock that does not use the time-stamp counter, for hosts where it cannot be trusted.
    pub fn monotonic() -> Clock {
        let base = monotonic_nanos();
        Clock { source: ClockSource::Monotonic, base, epoch: wall_nanos(), scale: 1 << 32 }
    }

    /// This clock, moved forward so that it reads at least `time` from now on: for an instance that goes on with messages of
    /// that time on a host whose clock was set back since.
    pub fn not_before(self, time: u64) -> Clock {
        let behind = time.saturating_sub(self.now());
        Clock { epoch: self.epoch.saturating_add(behind), ..self }
    }

    /// Nanoseconds since the epoch. Never before an earlier reading of the same thread; readings of different cores
    /// are ordered as far as the counter itself is.
    #[inline]
    pub fn now(&self) -> u64 {
        let counter = match self.source {
            ClockSource::Tsc => tsc(),
            ClockSource::Monotonic => monotonic_nanos(),
        };
        self.nanos(counter)
    }

    #[inline]
    fn nanos(&self, counter: u64) -> u64 {
        // A counter that reads slightly before the base (another core) must not wrap to the far future.
        let counts = counter.saturating_sub(self.base);
        self.epoch.wrapping_add(((u128::from(counts) * u128::from(self.scale)) >> 32) as u64)
    }

    /// The current time, but never before `cause`: a time that the caller has read from a message, and answers now.
    ///
    /// Cheaper than [`Clock::now`], which waits until everything before it has been executed. Without that the processor
    /// may read the counter early; compared with times that the caller has *not* passed here, the result may lie before
    /// them although they were read first.
    ///
    /// ```
    /// let clock = journal::Clock::calibrate();
    /// let cause = clock.now();
    /// assert!(clock.after(cause) >= cause);
    /// ```
    #[inline]
    pub fn after(&self, cause: u64) -> u64 {
        let counter = match self.source {
            ClockSource::Tsc => tsc_early(),
            ClockSource::Monotonic => monotonic_nanos(),
        };
        self.nanos(counter).max(cause)
    }

    /// This clock less `CLOCK_MONOTONIC`, as it is now: the sum of both is this clock's time, for programs that cannot
    /// read the counter. Off by the time between two readings (tens of ns). From then on the two clocks drift apart, as
    /// the kernel corrects the one and not the other.
    pub(crate) fn monotonic_offset(&self) -> u64 {
        if self.source == ClockSource::Monotonic && self.scale == 1 << 32 {
            return self.epoch.wrapping_sub(self.base);
        }
        let offset = || {
            let before = self.now();
            let monotonic = monotonic_nanos();
            let after = self.now();
            (after - before, (before + (after - before) / 2).wrapping_sub(monotonic))
        };
        // Of several, the one with the narrowest bracket.
        let (_, offset) = (0..8).map(|_| offset()).min_by_key(|&(width, _)| width).unwrap_or_else(offset);
        offset
    }

    /// The counter that the clock reads.
    pub fn source(&self) -> ClockSource {
        self.source
    }

    /// The four words that the registry holds.
    pub(crate) fn to_words(self) -> [u64; 4] {
        let kind = match self.source {
            ClockSource::Tsc => 1,
            ClockSource::Monotonic => 2,
        };
        [kind, self.base, self.epoch, self.scale]
    }

    /// `None` if the words were not written by a clock.
    pub(crate) fn from_words([kind, base, epoch, scale]: [u64; 4]) -> Option<Clock> {
        let source = match kind {
            1 => ClockSource::Tsc,
            2 => ClockSource::Monotonic,
            _ => return None,
        };
        Some(Clock { source, base, epoch, scale })
    }
}

fn since_epoch(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

pub(crate) fn wall_nanos() -> u64 {
    since_epoch(SystemTime::now())
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn monotonic_nanos() -> u64 {
    match nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC) {
        Ok(time) => time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64,
        Err(_) => 0,
    }
}

/// A counter value and the time at that moment: of several readings, the one with the narrowest bracket.
fn bracketed() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..50 {
        let before = tsc();
        let nanos = monotonic_nanos();
        let after = tsc();
        let width = after.wrapping_sub(before);
        if width < best.0 {
            best = (width, before + width / 2, nanos);
        }
    }
    (best.1, best.2)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn tsc() -> u64 {
    // SAFETY: both instructions exist on every x86-64. The fence keeps the reading behind the load that found a
    // message, so that no message is received before it was sent.
    unsafe {
        core::arch::x86_64::_mm_lfence();
        core::arch::x86_64::_rdtsc()
    }
}

/// The counter, read as soon as the processor gets to it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn tsc_early() -> u64 {
    // SAFETY: the instruction exists on every x86-64.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn tsc() -> u64 {
    0
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn tsc_early() -> u64 {
    0
}

/// True when the kernel keeps its own time by the counter, which it stops doing when the counter drifts or stops.
fn tsc_is_trusted() -> bool {
    if !cfg!(all(target_arch = "x86_64", not(miri))) {
        return false;
    }
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let kernel_uses_it =
        read("/sys/devices/system/clocksource/clocksource0/current_clocksource").trim() == "tsc";
    let flags = read("/proc/cpuinfo");
    let invariant = flags.lines().find(|line| line.starts_with("flags")).is_some_and(|line| {
        let has = |flag: &str| line.split_ascii_whitespace().any(|word| word == flag);
        has("constant_tsc") && has("nonstop_tsc")
    });
    kernel_uses_it && invariant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "an interpreter takes as long for the calls as for the wait between them")]
    fn the_clock_runs_forward_at_the_speed_of_the_systems_own() {
        let clock = Clock::calibrate();
        let (start, start_system) = (clock.now(), monotonic_nanos());
        std::thread::sleep(Duration::from_millis(100));
        let (ours, systems) = (clock.now() - start, monotonic_nanos() - start_system);
        let difference = ours.abs_diff(systems);
        assert!(difference < systems / 100, "{ours} ns against the system's {systems} ns");
    }

    #[test]
    fn an_answer_is_never_stamped_before_its_cause() {
        for clock in [Clock::calibrate(), Clock::monotonic()] {
            let before = clock.now();
            for _ in 0..10_000 {
                let cause = clock.now();
                assert!(clock.after(cause) >= cause);
            }
            let (after, future) = (clock.after(before), before + 1_000_000_000_000);
            assert!(after > before && after < future, "it runs: {before} to {after}");
            assert_eq!(clock.after(future), future);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "an interpreter takes long between the readings")]
    fn the_offset_leads_from_the_systems_clock_to_ours() {
        for clock in [Clock::calibrate(), Clock::monotonic()] {
            let offset = clock.monotonic_offset();
            // The least of many differences: the readings of a pair may lie far apart on a busy host.
            let differences = (0..1_000).map(|_| {
                let before = clock.now();
                let by_offset = monotonic_nanos().wrapping_add(offset);
                let after = clock.now();
                before.saturating_sub(by_offset).max(by_offset.saturating_sub(after))
            });
            let least = differences.min().unwrap();
            assert!(least <= 20_000, "{least} ns outside of two readings of {}", clock.source().as_str());
        }
    }

    #[test]
    fn a_registry_holds_the_offset_and_takes_a_new_one() {
        let clock = Clock::monotonic();
        let registry = crate::Registry::in_memory(64, clock).unwrap();
        assert_eq!(registry.clock_offset(), clock.epoch.wrapping_sub(clock.base));
        let later = Clock { epoch: clock.epoch + 7, ..clock };
        registry.refresh_clock_offset(later);
        assert_eq!(registry.clock_offset(), later.epoch.wrapping_sub(later.base));
    }

    #[test]
    fn words_carry_a_clock_to_another_process() {
        let clock = Clock::calibrate();
        assert_eq!(Clock::from_words(clock.to_words()), Some(clock));
        assert_eq!(Clock::from_words([0, 0, 0, 0]), None);
    }

    #[test]
    fn a_counter_before_the_base_does_not_reach_the_far_future() {
        let clock = Clock { source: ClockSource::Monotonic, base: u64::MAX, epoch: 7, scale: 1 << 32 };
        assert_eq!(clock.now(), 7);
    }
}
