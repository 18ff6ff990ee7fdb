//! What a run leaves: the frames of all journals as text, without what differs between any two runs.

use std::collections::BTreeMap;

use accounts::{Contained, Follower};
use journal::{Journal, LooseReader};
use node::InstanceDir;
use topology::Topology;
use wire::schema::{Value, View};
use wire::{AnyMessage, OrderId, StrategyId};

use crate::writers::Writer;

/// The lines of each journal, and of the last states of who follows them.
#[derive(Default)]
pub struct Traces {
    readers: BTreeMap<String, LooseReader>,
    lines: BTreeMap<String, Vec<String>>,
    own: Own,
}

/// Orders of the ledger and of the gateway's clients by their first appearance: their ids begin with the epoch of the process.
#[derive(Debug, Default)]
struct Own {
    /// With what its orders are called.
    seats: Vec<(StrategyId, &'static str)>,
    ids: Vec<OrderId>,
}

impl std::fmt::Debug for Traces {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Traces").field("lines", &self.lines).finish_non_exhaustive()
    }
}

impl Traces {
    /// Reads along with all journals of an instance in which nothing is written yet.
    pub(crate) fn of(instance: &InstanceDir, topology: &Topology) -> Traces {
        let names = instance.journal_names().expect("the journals' folder");
        let open = |name: &String| {
            let journal = Journal::open_read_only(instance.find_journal(name)).expect("a journal");
            journal.observe(journal.first_position()).expect("its first frame")
        };
        let readers: BTreeMap<String, LooseReader> =
            names.iter().map(|name| (name.clone(), open(name))).collect();
        let seat = |node: &str| topology.node(node).map(|node| StrategyId(node.seat));
        let called = [(seat("ledger"), "forced"), (seat("gateway"), "client")];
        let seats = called.into_iter().filter_map(|(seat, called)| Some((seat?, called))).collect();
        let own = Own { seats, ids: Vec::new() };
        Traces { lines: names.into_iter().map(|name| (name, Vec::new())).collect(), readers, own }
    }

    /// Reads what has come.
    pub(crate) fn read(&mut self) {
        for (name, reader) in &mut self.readers {
            let lines = self.lines.entry(name.clone()).or_default();
            while let Some(frame) = reader.read().unwrap_or_else(|error| panic!("{name}: {error}")) {
                let content = match View::of(frame.message_id, frame.payload) {
                    Ok(view) => self.own.words(&view),
                    Err(_) => format!("message {} {:02x?}", frame.message_id, frame.payload),
                };
                lines.push(format!("{:8} topic {} {content}", frame.position, frame.topic));
            }
        }
    }

    /// Adds the last states that the ledger has written down: of positions and orders, and of accounts.
    pub(crate) fn last_states(&mut self, instance: &InstanceDir) {
        let snapshot = node::last_snapshot(instance).expect("its journal").expect("a snapshot");
        let mut lines = vec![format!("executions before {}", snapshot.begin.execution)];
        let positions = snapshot.positions.iter().map(|state| AnyMessage::PositionState(*state));
        let orders = snapshot.orders.iter().map(|order| AnyMessage::OrderUpdate(*order));
        lines.extend(positions.chain(orders).map(|message| self.own.words(&message.view())));
        self.lines.insert("the ledger's last state".to_owned(), lines);
        let bytes = node::last_desk(instance).expect("its journal").expect("a snapshot of the accounts");
        let follower = Follower::restore(&bytes).expect("a snapshot of this version");
        let contained = Contained { last_order: OrderId::default(), ..follower.contained };
        let last = self.own.called(follower.contained.last_order);
        let mut lines = vec![format!("{contained:?}, the last request is about {last}")];
        lines.extend(follower.desk.accounts().map(|account| format!("{account:?}")));
        self.lines.insert("the accounts' last state".to_owned(), lines);
    }

    /// The lines of a journal.
    pub fn lines(&self, journal: &str) -> &[String] {
        self.lines.get(journal).map_or(&[], Vec::as_slice)
    }

    /// Frames of all journals.
    pub fn count(&self) -> usize {
        self.lines.values().map(Vec::len).sum()
    }
}

impl Own {
    /// A message without its times.
    fn words(&mut self, view: &View<'_>) -> String {
        let mut words = view.record().name.to_owned();
        for (field, value) in view.fields() {
            match value {
                None | Some(Value::Time(_)) => {}
                Some(Value::Record(inner)) => words += &format!(" {}=({})", field.name, self.words(&inner)),
                Some(Value::List(list)) => {
                    for inner in list.iter() {
                        words += &format!(" {}=({})", field.name, self.words(&inner));
                    }
                }
                Some(Value::Order(id)) => words += &format!(" {}={}", field.name, self.called(id)),
                // A number of the market's own, which may be an order's.
                Some(Value::Unsigned(number)) if field.name == "order_ref" => {
                    words += &format!(" {}={}", field.name, self.called(OrderId(number)));
                }
                Some(Value::Enum(member)) => words += &format!(" {}={}", field.name, member.name),
                Some(Value::Flags(bits, _)) => words += &format!(" {}={bits:#x}", field.name),
                Some(value) => words += &format!(" {}={value:?}", field.name),
            }
        }
        words
    }

    fn called(&mut self, id: OrderId) -> String {
        let Some((_, called)) = self.seats.iter().find(|(seat, _)| *seat == id.strategy()).copied() else {
            return id.to_string();
        };
        let number = self.ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        });
        format!("{called} {number}")
    }
}

/// The first difference between two runs, but for what a successor of this writer may write differently; `None`: there is none.
pub fn difference(whole: &Traces, cut: &Traces, writer: &Writer) -> Option<String> {
    for (name, wanted) in &whole.lines {
        let found = cut.lines(name);
        let (kept_wanted, kept_found);
        let (wanted, found) = match writer.except.iter().find(|except| except.journal == name) {
            None => (wanted.as_slice(), found),
            Some(except) => {
                let kept = |lines: &[String]| -> Vec<String> {
                    // Behind what is left out positions and numbers are others.
                    let content = |line: &String| {
                        let (_, content) = line.split_once(" topic ")?;
                        Some(content.split(" sequence=").next()?.to_owned())
                    };
                    lines.iter().filter_map(content).filter(|line| (except.compares)(line)).collect()
                };
                (kept_wanted, kept_found) = (kept(wanted), kept(found));
                (kept_wanted.as_slice(), kept_found.as_slice())
            }
        };
        let different = wanted.iter().zip(found).position(|(wanted, found)| wanted != found);
        let place = match different {
            Some(place) => place,
            None if wanted.len() == found.len() => continue,
            None => wanted.len().min(found.len()),
        };
        let line = |lines: &[String], place: usize| lines.get(place).cloned().unwrap_or("nothing".to_owned());
        let before = place.checked_sub(1).map(|before| line(wanted, before)).unwrap_or_default();
        return Some(format!(
            "{name}, line {place} of {} and {}:\n  before {before}\n  wanted {}\n  found  {}\n  then   {}",
            wanted.len(),
            found.len(),
            line(wanted, place),
            line(found, place),
            line(found, place + 1)
        ));
    }
    None
}
