//! Caveats: what a reader of figures must know about where they were measured: who was off the plan, which journals do not lie
//! on the pages that they asked for.

use std::collections::{BTreeMap, BTreeSet};

use node::{Counter, NodeState};
use pinning::{Host, PageBacking, PlanWarning};
use serde::{Deserialize, Serialize};
use topology::config::MdConfig;
use topology::{NodeKind, Pages, Stream, Topology};
use wire::{Instrument, InstrumentId, PositionState};

use crate::disks::Disk;
use crate::outgrown::Outgrown;
use crate::totals::Totals;
use crate::view::{InstanceView, SeatView};

/// What lies behind one ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalMemory {
    /// The journal.
    pub journal: String,
    /// Bytes of its ring.
    pub bytes: u64,
    /// What the platform file asks for.
    pub wanted: Pages,
    /// What the kernel says of a process that has it mapped; `null` when none could be looked into.
    pub pages: Option<PageBacking>,
}

impl JournalMemory {
    /// That of all rings of a running instance, by id of the journal.
    pub fn of_all(view: &InstanceView, topology: &Topology) -> Vec<JournalMemory> {
        let journals: Vec<_> =
            view.journals().unwrap_or_default().sound.into_iter().map(|(_, journal)| journal).collect();
        let backings: BTreeMap<String, PageBacking> = view.backings(&journals);
        let row = |journal: &topology::JournalSpec| JournalMemory {
            journal: journal.name.clone(),
            bytes: journal.capacity_bytes,
            wanted: journal.pages,
            pages: backings.get(&journal.name).copied(),
        };
        topology.journals.iter().map(row).collect()
    }

    /// Whether it asked for huge pages and does not lie, or not wholly, on them.
    pub fn falls_short(&self) -> bool {
        self.wanted != Pages::Small && self.pages.is_some_and(|pages| !pages.is_huge())
    }
}

/// How the caveat begins that makes a result none.
pub const NOTHING_BETWEEN: &str = "nothing of the data lies between";

/// All caveats of a run, each in a sentence; empty when there is none.
pub(crate) fn caveats(
    topology: &Topology,
    host: &Host,
    seats: &[SeatView],
    memory: &[JournalMemory],
) -> Vec<String> {
    let mut caveats = of_seats(seats);
    caveats.extend(never_started(seats).iter().map(|name| {
        format!(
            "{name} was still warming up at the end and never started: what it heard is shorter than its `warm_up`"
        )
    }));
    caveats.extend(of_unbooked(seats));
    caveats.extend(Disk::of_all(seats).iter().map(ToString::to_string));
    caveats.extend(Outgrown::of_all(seats).iter().map(ToString::to_string));
    caveats.extend(of_memory(memory));
    caveats.extend(of_host(seats));
    caveats.extend(of_plan(topology, host));
    caveats
}

/// Strategies that heard the market of before their start until the end of the run.
pub(crate) fn never_started(seats: &[SeatView]) -> Vec<String> {
    let warms_up = |seat: &&SeatView| seat.counter(Counter::WarmingUp) > 0;
    seats.iter().filter(warms_up).map(|seat| seat.name.clone()).collect()
}

/// Executions of a market outside that are not booked.
fn of_unbooked(seats: &[SeatView]) -> Vec<String> {
    let open = |seat: &SeatView| {
        let open = Some(seat.counter(Counter::Unbooked)).filter(|open| *open > 0)?;
        Some(format!(
            "{open} executions of the market outside are not booked ({}): positions and profit here are not those of the market",
            seat.name
        ))
    };
    seats.iter().filter_map(open).collect()
}

/// Nodes whose threads were seen off the pin plan.
fn of_seats(seats: &[SeatView]) -> Vec<String> {
    let off_plan = |seat: &SeatView| {
        let (looks, off) = (seat.counter(Counter::PlaceSamples), seat.counter(Counter::OffPlan));
        (off > 0).then(|| {
            format!(
                "threads of {} were off the pin plan in {off} of {looks} looks; the log of master says where",
                seat.name
            )
        })
    };
    seats.iter().filter_map(off_plan).collect()
}

/// Journals that lie on other pages than they asked for.
fn of_memory(memory: &[JournalMemory]) -> Option<String> {
    let poor: Vec<&str> =
        memory.iter().filter(|row| row.falls_short()).map(|row| row.journal.as_str()).collect();
    (!poor.is_empty()).then(|| {
        format!(
            "{} of {} journals asked for huge pages and do not, or not wholly, lie on them: {}",
            poor.len(),
            memory.len(),
            shortened(&poor)
        )
    })
}

/// What master saw change on the host.
fn of_host(seats: &[SeatView]) -> Vec<String> {
    let Some(master) = seats.first() else { return Vec::new() };
    let mut caveats = Vec::new();
    let (clock, rings) = (master.counter(Counter::ClockChanges), master.counter(Counter::RingsHidden));
    if clock > 0 {
        caveats.push(format!(
            "the host's clock source changed {clock} times during the run; the log of master says from what to what"
        ));
    }
    if rings > 0 {
        caveats.push("the file system of rings on huge pages was unmounted during the run".to_owned());
    }
    caveats
}

/// What the plan comes to on this host.
fn of_plan(topology: &Topology, host: &Host) -> Vec<String> {
    let mut caveats: Vec<String> = topology.crowding(host).into_iter().collect();
    let plan = topology.place(host).ok().flatten();
    let is_crowded = |warning: &&PlanWarning| matches!(warning, PlanWarning::BusyFloat { .. });
    caveats.extend(plan.iter().flat_map(|plan| &plan.warnings).filter(is_crowded).map(ToString::to_string));
    let is_broken = |warning: &&PlanWarning| {
        matches!(warning, PlanWarning::Remapped { .. } | PlanWarning::PromiseBroken { .. })
    };
    let broken = plan.iter().flat_map(|plan| &plan.warnings).filter(is_broken).count();
    if broken > 0 {
        caveats.push(format!(
            "the pin plan is for a bigger host and was remapped to this one ({broken} warnings): colo explain shows them"
        ));
    }
    caveats
}

/// Money of several currencies in one sum.
pub(crate) fn of_money(currencies: &[String], is_traded: bool) -> Option<String> {
    let (last, others) = currencies.split_last()?;
    (is_traded && !others.is_empty())
        .then(|| format!("pnl adds up {} and {last} one to one", others.join(", ")))
}

/// A window of time in which the source has nothing.
pub(crate) fn of_window(topology: &Topology, seats: &[SeatView], totals: &Totals) -> Option<String> {
    let md = md_config(topology)?;
    let is_read = seats.iter().any(|seat| seat.kind == NodeKind::Md && seat.state == NodeState::Finished);
    // The order flow begins before the window: the book has to be there when it opens.
    let has_quotes = [Stream::Quotes, Stream::Best].iter().any(|of| topology.carrying(*of).next().is_some());
    let is_empty = has_quotes && totals.quotes == 0 && totals.trades == 0;
    if !is_read || !is_empty || (md.from.is_none() && md.to.is_none()) {
        return None;
    }
    let from = md.from.map_or_else(|| "its begin".to_owned(), |time| time.to_string());
    let to = md.to.map_or_else(|| "its end".to_owned(), |time| time.to_string());
    Some(format!("{NOTHING_BETWEEN} {from} and {to}: md.from and md.to leave nothing of it"))
}

/// Rows of the instruments file that had no effect.
pub(crate) fn of_rows(topology: &Topology, listed: &BTreeMap<InstrumentId, Instrument>) -> Option<String> {
    let file = md_config(topology)?.instruments_file?;
    let symbols: Vec<&str> = listed.values().map(|instrument| instrument.symbol.as_str()).collect();
    topology::idle_rows(&file, &symbols)
}

/// Open positions without a mark.
pub(crate) fn of_marks(
    positions: &[PositionState],
    listed: &BTreeMap<InstrumentId, Instrument>,
) -> Option<String> {
    let unmarked = |state: &&PositionState| state.position.0 != 0 && !state.mark_price.is_some();
    let open: Vec<InstrumentId> = positions.iter().filter(unmarked).map(|state| state.instrument).collect();
    let distinct: BTreeSet<InstrumentId> = open.iter().copied().collect();
    let name = |id: &InstrumentId| listed.get(id).map_or("an unlisted one", |listed| listed.symbol.as_str());
    let names: Vec<&str> = distinct.iter().map(name).collect();
    (!open.is_empty()).then(|| {
        format!(
            "pnl values open positions without a mark at their cost ({} in {}): nothing has traded there, and no spread was at most a \
             tenth of the mid or four ticks",
            open.len(),
            shortened(&names)
        )
    })
}

fn md_config(topology: &Topology) -> Option<MdConfig> {
    let node = topology.nodes.iter().find(|node| node.kind == NodeKind::Md)?;
    serde_json::from_value(node.section.clone()).ok()
}

/// The first few names.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

#[cfg(test)]
mod tests {
    use wire::{Message, Price, Quantity};

    use super::*;
    use crate::fixture::{counting, seat};

    fn memory(journal: &str, wanted: Pages) -> JournalMemory {
        let pages = Some(PageBacking::Small { page_bytes: 4_096 });
        JournalMemory { journal: journal.to_owned(), bytes: 1 << 20, wanted, pages }
    }

    #[test]
    fn open_positions_without_a_mark_are_a_caveat() {
        let state = |instrument: u32, position: i64, mark_price: Price| PositionState {
            instrument: InstrumentId(instrument),
            position: Quantity(position),
            mark_price,
            ..PositionState::decode(&[0; PositionState::SIZE]).unwrap()
        };
        let listed = BTreeMap::new();
        let marked = [state(1, 5, Price(7)), state(2, 0, Price::NONE), state(3, -5, Price(0))];
        assert_eq!(of_marks(&marked, &listed), None);
        let caveat = of_marks(&[state(1, 5, Price(7)), state(2, -1, Price::NONE)], &listed).unwrap();
        assert!(
            caveat.starts_with("pnl values open positions without a mark at their cost (1 in "),
            "{caveat}"
        );
    }

    #[test]
    fn executions_that_are_not_booked_are_a_caveat_until_they_are_settled() {
        let with = |open| {
            of_unbooked(&[counting(seat(4, "matching", NodeKind::Matching), &[(Counter::Unbooked, open)])])
        };
        assert!(with(2)[0].starts_with("2 executions of the market outside are not booked (matching)"));
        assert_eq!(with(0), Vec::<String>::new());
    }

    #[test]
    fn a_node_seen_off_the_plan_is_named_with_how_often() {
        let counts = [(Counter::PlaceSamples, 90), (Counter::OffPlan, 7)];
        let seats = [
            counting(seat(1, "md", NodeKind::Md), &[(Counter::PlaceSamples, 90)]),
            counting(seat(2, "td", NodeKind::Td), &counts),
        ];
        let caveats = of_seats(&seats);
        assert_eq!(caveats.len(), 1, "{caveats:?}");
        assert!(
            caveats[0].starts_with("threads of td were off the pin plan in 7 of 90 looks"),
            "{caveats:?}"
        );
    }

    #[test]
    fn money_of_several_currencies_in_one_sum_is_said_once_it_is_traded() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(of_money(&names(&["USD"]), true), None);
        assert_eq!(of_money(&[], true), None);
        assert_eq!(of_money(&names(&["EUR", "USD"]), false), None);
        let said = of_money(&names(&["EUR", "JPY", "USD"]), true).unwrap();
        assert_eq!(said, "pnl adds up EUR, JPY and USD one to one");
    }

    #[test]
    fn only_a_journal_that_asked_for_huge_pages_can_fall_short() {
        let huge = Pages::Huge { size: 2 << 20, require: false };
        assert!(!memory("a", Pages::Small).falls_short());
        assert!(memory("a", Pages::Transparent).falls_short());
        assert!(memory("a", huge).falls_short());
        let unknown = JournalMemory { pages: None, ..memory("a", huge) };
        assert!(!unknown.falls_short(), "nobody could be looked into");
        assert_eq!(of_memory(&[memory("a", Pages::Small), unknown]), None);
    }

    #[test]
    fn of_many_journals_the_first_are_named_and_the_others_counted() {
        let rows: Vec<_> = (1..=6).map(|n| memory(&format!("orders.a-{n}"), Pages::Transparent)).collect();
        let caveat = of_memory(&rows).unwrap();
        assert!(caveat.starts_with("6 of 6 journals"), "{caveat}");
        assert!(caveat.ends_with(": orders.a-1, orders.a-2, orders.a-3, orders.a-4 and 2 more"), "{caveat}");
        assert!(of_memory(&rows[..4]).unwrap().ends_with("orders.a-3, orders.a-4"));
    }

    #[test]
    fn what_master_saw_change_is_said_and_nothing_else() {
        let master = || seat(0, "master", NodeKind::Master);
        let counts = [(Counter::ClockChanges, 2), (Counter::RingsHidden, 1)];
        assert_eq!(of_host(&[master()]), Vec::<String>::new());
        assert_eq!(of_host(&[counting(master(), &counts)]).len(), 2);
        // The counters of other seats mean other things.
        assert_eq!(of_host(&[master(), counting(seat(1, "md", NodeKind::Md), &counts)]).len(), 0);
        assert_eq!(of_host(&[]), Vec::<String>::new());
    }
}
