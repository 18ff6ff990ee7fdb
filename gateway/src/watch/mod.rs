//! The platform as a whole, seen by whoever watches over it: what `/metrics` and the page show. Looking changes nothing and
//! asks nobody ([`observe`]); all who look within a moment share one look.

mod desk;
mod recent;
mod trace;
mod trouble;
mod view;

pub(crate) use trace::{TraceView, Untraced};
pub(crate) use view::OverviewView;

use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use journal::tools::JournalStat;
use node::InstanceDir;
use observe::{InstanceView, State, Totals};
use topology::{NodeKind, Stream, Topology};
use wire::OrderId;

use desk::Holdings;
use recent::Recent;
use trouble::Watcher;

/// So long one look is good for everybody.
const FRESH: Duration = Duration::from_millis(200);
/// So long accounts, orders and positions are: reading them takes longer.
const HOLDINGS_FRESH: Duration = Duration::from_secs(1);

/// The instance at one moment.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) view: InstanceView,
    pub(crate) state: State,
    pub(crate) topology: Option<Topology>,
    pub(crate) totals: Totals,
    /// By the platform's clock.
    pub(crate) at_ns: u64,
    /// By how much that is ahead of the host's.
    pub(crate) clock_ahead_ns: i64,
}

impl Look {
    pub(crate) fn take(instance: &InstanceDir) -> Result<Look, String> {
        let view = InstanceView::open(instance.clone()).map_err(|error| error.to_string())?;
        let (at_ns, clock_ahead_ns) = (view.clock().now(), view.clock_ahead_ns());
        let state = State::read(&view).map_err(|error| error.to_string())?;
        let topology = view.topology().ok();
        let totals = topology.as_ref().map(|made| Totals::read(&view, made).0).unwrap_or_default();
        Ok(Look { view, state, topology, totals, at_ns, clock_ahead_ns })
    }

    /// Market data as it comes in: each journal of it.
    pub(crate) fn feeds(&self) -> impl Iterator<Item = &JournalStat> {
        let streams = [Stream::Quotes, Stream::Best, Stream::Flow, Stream::Market];
        let carrying = move |name: &str| {
            let made = self.topology.as_ref()?;
            streams.into_iter().flat_map(|stream| made.carrying(stream)).find(|spec| spec.name == name)
        };
        let stats = self.state.journals.iter().map(|journal| &journal.stat);
        stats.filter(move |stat| carrying(&stat.shape.name).is_some())
    }

    /// Its last frame's age; `None` before the first.
    pub(crate) fn age_ns(&self, stat: &JournalStat) -> Option<u64> {
        (stat.last_time != 0).then(|| self.at_ns.saturating_sub(stat.last_time))
    }

    /// Up to here it is on disk: what a recorder has not written it keeps. `None` where no recorder is waited for.
    pub(crate) fn durable(&self, stat: &JournalStat) -> Option<u64> {
        let records = |number: u32| {
            let seat = self.state.seats.iter().find(|seat| seat.seat == number);
            seat.is_some_and(|seat| seat.kind == NodeKind::Recorder)
        };
        let recorders = stat.readers.iter().filter(|reader| reader.gated && records(reader.seat));
        recorders.map(|reader| reader.holds.unwrap_or(reader.position)).min()
    }

    /// Who sits there, by name.
    pub(crate) fn name_of(&self, seat: u32) -> String {
        let found = self.state.seats.iter().find(|one| one.seat == seat);
        found.map_or_else(|| seat.to_string(), |one| one.name.clone())
    }
}

/// Looks, for all who ask.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    kept: Mutex<Kept>,
    /// Held while somebody looks through the journals.
    search: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    watcher: Watcher,
    recent: Recent,
    holdings: Option<(Instant, Result<Holdings, String>)>,
    overview: Option<(Instant, Bytes)>,
}

impl Watch {
    /// The page's JSON. It may read for a moment: not for a thread that serves others.
    pub(crate) fn overview(&self, instance: &InstanceDir, keeps_accounts: bool) -> Result<Bytes, String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((when, bytes)) = &kept.overview
            && when.elapsed() < FRESH
        {
            return Ok(bytes.clone());
        }
        let look = Look::take(instance)?;
        kept.refresh(instance, &look, keeps_accounts);
        let Kept { watcher, recent, holdings, .. } = &mut *kept;
        recent.follow(instance);
        let holdings = holdings.as_ref().map(|(when, read)| (when.elapsed(), read));
        let kills = holdings.and_then(|(_, read)| read.as_ref().ok()).map(|read| read.kills.as_slice());
        let troubles = watcher.troubles(&look, kills.unwrap_or_default(), Instant::now());
        let overview = OverviewView::of(&look, troubles, recent.rows(&look), holdings);
        let bytes = Bytes::from(serde_json::to_vec(&overview).map_err(|error| error.to_string())?);
        kept.overview = Some((Instant::now(), bytes.clone()));
        Ok(bytes)
    }

    /// An order's way. `None`: somebody else looks for one, and one at a time is enough for the memory's sake.
    pub(crate) fn trace(
        &self,
        instance: &InstanceDir,
        order: OrderId,
    ) -> Option<Result<TraceView, Untraced>> {
        let _held = match self.search.try_lock() {
            Ok(held) => held,
            Err(TryLockError::Poisoned(held)) => held.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(trace::trace(instance, order))
    }

    /// How many kill switches have fallen; `None` where no accounts are kept, or they cannot be read.
    pub(crate) fn kills(&self, instance: &InstanceDir, look: &Look, keeps_accounts: bool) -> Option<u64> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.refresh(instance, look, keeps_accounts);
        let read = kept.holdings.as_ref().filter(|_| keeps_accounts)?.1.as_ref().ok()?;
        Some(read.kills.len() as u64)
    }
}

impl Kept {
    fn refresh(&mut self, instance: &InstanceDir, look: &Look, keeps_accounts: bool) {
        let is_fresh = |(when, _): &(Instant, _)| when.elapsed() < HOLDINGS_FRESH;
        if !self.holdings.as_ref().is_some_and(is_fresh) {
            self.holdings = Some((Instant::now(), Holdings::read(instance, look, keeps_accounts)));
        }
    }
}
