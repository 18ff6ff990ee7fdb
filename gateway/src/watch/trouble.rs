//! Is anything dead, stale or losing? Pure, but for what it remembers of the look before.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use node::{Counter, NodeState, Phase};
use observe::{CLOCK_DIFFERS_NS, Outgrown};
use serde::Serialize;
use topology::{NodeKind, Stream};
use utoipa::ToSchema;

use super::Look;
use super::desk::KillView;

/// A process that lives and has not shown itself for so long is stale.
pub(crate) const SILENT_NS: u64 = 1_000_000_000;
/// A market that comes from outside and has said nothing for so long is stale.
pub(crate) const FEED_NS: u64 = 5_000_000_000;
/// So long a loss or a restart is spoken of after it has happened.
const RECENT: Duration = Duration::from_secs(10);

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct TroubleView {
    /// `phase`, `dead`, `restarted`, `stale`, `feed`, `losing`, `disk`, `outgrown`, `damaged`, `killed`, `clock`.
    pub(crate) kind: &'static str,
    /// Which node, journal or account.
    pub(crate) who: String,
    /// More about it: a state, milliseconds, bytes, a reason.
    pub(crate) detail: String,
}

/// Tells what is lost now from what was lost once.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    /// By what is lost: how much so far, and when it grew.
    lost: HashMap<String, (u64, Option<Instant>)>,
    /// By node: how often it was started, and when once more.
    starts: HashMap<String, (u64, Option<Instant>)>,
    /// The last look.
    looked: Option<Instant>,
}

/// True for a while after a count has grown. `is_followed`: the last look was a moment ago; otherwise the time of the growth is not known.
fn has_grown(
    known: &mut HashMap<String, (u64, Option<Instant>)>,
    key: String,
    count: u64,
    (now, is_followed): (Instant, bool),
) -> bool {
    let (before, grew) = known.entry(key).or_insert((count, None));
    if count > *before && is_followed {
        *grew = Some(now);
    }
    *before = count;
    grew.is_some_and(|when| now.duration_since(when) < RECENT)
}

fn trouble(kind: &'static str, who: &str, detail: impl ToString) -> TroubleView {
    TroubleView { kind, who: who.to_owned(), detail: detail.to_string() }
}

/// Ends at market data from outside: an exchange of the platform's own is silent while nobody trades.
pub(crate) fn is_judged(look: &Look) -> bool {
    let is_exchange =
        look.topology.as_ref().is_none_or(|made| made.carrying(Stream::Market).next().is_some());
    let md = look.state.seats.iter().find(|seat| seat.kind == NodeKind::Md);
    !is_exchange && md.is_some_and(|md| md.state == NodeState::Running)
}

impl Watcher {
    /// The worst first.
    pub(crate) fn troubles(&mut self, look: &Look, kills: &[KillView], now: Instant) -> Vec<TroubleView> {
        let state = &look.state;
        let is_followed = self.looked.replace(now).is_some_and(|last| now.duration_since(last) < RECENT);
        let now = (now, is_followed);
        let mut found = Vec::new();
        if state.is_dead || !matches!(state.phase, Phase::Running | Phase::Starting) {
            found.push(trouble("phase", &state.instance, state.phase_name()));
        }
        let is_dead = |state: NodeState| matches!(state, NodeState::Dead | NodeState::Failed);
        for seat in state.seats.iter().filter(|seat| is_dead(seat.state)) {
            found.push(trouble("dead", &seat.name, seat.state));
        }
        for seat in &state.seats {
            // Its process tells how long ago that was, also at the first look.
            let is_young = || seat.alive && seat.process.age().is_some_and(|age| age < RECENT);
            let is_restarted = has_grown(&mut self.starts, seat.name.clone(), seat.generation, now);
            if is_restarted || seat.generation > 1 && is_young() {
                found.push(trouble("restarted", &seat.name, seat.generation));
            }
        }
        let is_silent = |silent: u64| silent > SILENT_NS;
        for seat in state.seats.iter().filter(|seat| seat.alive && !is_dead(seat.state)) {
            let runs = matches!(seat.state, NodeState::Running | NodeState::Finished);
            if let Some(silent) = seat.silent_ns.filter(|silent| runs && is_silent(*silent)) {
                found.push(trouble("stale", &seat.name, format!("{} ms", silent / 1_000_000)));
            }
        }
        if is_judged(look) {
            for stat in look.feeds() {
                if let Some(age) = look.age_ns(stat).filter(|age| *age > FEED_NS) {
                    found.push(trouble("feed", &stat.shape.name, format!("{} ms", age / 1_000_000)));
                }
            }
        }
        found.extend(disks(look));
        for row in Outgrown::of_all(&state.seats) {
            let raise = format!("raise its capacity to {} KiB", row.needs_bytes.div_ceil(1_024));
            found.push(trouble("outgrown", &row.journal, raise));
        }
        for damaged in &state.damaged {
            found.push(trouble("damaged", &damaged.journal, &damaged.error));
        }
        for kill in kills {
            found.push(trouble("killed", &format!("{} {}", kill.scope, kill.name), kill.shown()));
        }
        if look.clock_ahead_ns.unsigned_abs() > CLOCK_DIFFERS_NS {
            let off = format!("{:+} ms", look.clock_ahead_ns / 1_000_000);
            found.push(trouble("clock", &state.instance, off));
        }
        found.extend(self.losing(look, now));
        found
    }

    fn losing(&mut self, look: &Look, now: (Instant, bool)) -> Vec<TroubleView> {
        let mut so_far = Vec::new();
        for journal in &look.state.journals {
            for reader in &journal.stat.readers {
                let who = format!("{} ← {}", look.name_of(reader.seat), journal.stat.shape.name);
                so_far.push((who, reader.lost, "bytes"));
            }
        }
        for seat in &look.state.seats {
            so_far.push((format!("td → {}", seat.name), seat.undelivered_to, "messages"));
            let missed = seat.counter(Counter::WaitTimeoutsWithData);
            so_far.push((seat.name.clone(), missed, "wake-ups"));
        }
        let mut found = Vec::new();
        for (who, count, of) in so_far {
            let key = format!("{who} {of}");
            if has_grown(&mut self.lost, key, count, now) {
                found.push(trouble("losing", &who, format!("{count} {of}")));
            }
        }
        found
    }
}

fn disks(look: &Look) -> Vec<TroubleView> {
    let recorders = look.state.seats.iter().filter(|seat| seat.kind == NodeKind::Recorder);
    let refusing = recorders.filter(|seat| seat.counter(Counter::DiskRefusesSince) > 0);
    let since = |seat: &observe::SeatView| look.at_ns.saturating_sub(seat.counter(Counter::DiskRefusesSince));
    refusing.map(|seat| trouble("disk", &seat.name, format!("{} ms", since(seat) / 1_000_000))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_grew_while_nothing_looked_is_not_spoken_of_as_new() {
        let (mut known, begin) = (HashMap::new(), Instant::now());
        let mut grown = |count, after, is_followed| {
            has_grown(&mut known, "x".to_owned(), count, (begin + Duration::from_secs(after), is_followed))
        };
        assert!(!grown(3, 0, false), "the first look knows of no growth");
        assert!(grown(4, 1, true));
        assert!(grown(4, 5, true), "for a while");
        assert!(!grown(4, 12, true));
        assert!(!grown(9, 3_600, false), "it may have grown long ago");
        assert!(grown(10, 3_601, true));
    }
}
