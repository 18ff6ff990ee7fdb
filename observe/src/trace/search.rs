//! Finding every frame that speaks of one order.

use journal::WriterState;
use serde::Serialize;
use topology::{NodeKind, Stream, Topology};
use wire::schema::Value;
use wire::{AnyMessage, NewOrder, OrderId, OrderStatus};

use super::volume::{Archive, Volume};
use crate::view::{InstanceView, ViewError};

/// A frame about the order.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) journal: String,
    pub(super) journal_id: u32,
    pub(super) writer: Writer,
    pub(super) position: u64,
    pub(super) time: u64,
    pub(super) message: AnyMessage,
}

/// Who writes a journal.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub(super) node: String,
    pub(super) kind: Option<NodeKind>,
}

/// A journal that was looked through.
#[derive(Clone, Debug, Serialize)]
pub struct Searched {
    /// Its name.
    pub journal: String,
    /// Frames that it held.
    pub frames: u64,
    /// Position of its oldest frame.
    pub oldest: u64,
    /// Nothing of it is overwritten: what is not in it never was.
    pub whole: bool,
    #[serde(skip)]
    pub(super) writer: Writer,
    /// Time of its oldest frame.
    #[serde(skip)]
    pub(super) oldest_time: Option<u64>,
    /// First and last order of the wanted strategy in it.
    #[serde(skip)]
    pub(super) orders: Option<(OrderId, OrderId)>,
}

/// A journal that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreadable {
    /// Its name.
    pub journal: String,
    /// Why it cannot be read.
    pub error: String,
}

/// Everything that the journals of an instance hold about one order.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    pub(super) searched: Vec<Searched>,
    pub(super) unreadable: Vec<Unreadable>,
}

/// Name of a journal, with what it is and who writes it, or why it cannot be opened.
type Opened<'a> = (String, Result<(Volume<'a>, Writer), String>);

/// A node, as far as a trace needs it.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) seat: u32,
    pub(super) name: String,
    pub(super) kind: NodeKind,
}

/// Where the journals are.
#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    View(&'a InstanceView),
    Archive(&'a dyn Archive),
}

/// The instance, as far as a trace needs it.
#[derive(Debug)]
pub(super) struct Place<'a> {
    source: Source<'a>,
    pub(super) seats: Vec<Seat>,
    topology: Option<Topology>,
}

impl<'a> Place<'a> {
    pub(super) fn new(view: &'a InstanceView) -> Place<'a> {
        let seats = view.seats().into_iter();
        let seats = seats.map(|seat| Seat { seat: seat.seat, name: seat.name, kind: seat.kind }).collect();
        Place { source: Source::View(view), seats, topology: view.topology().ok() }
    }

    pub(super) fn archived(archive: &'a dyn Archive) -> Place<'a> {
        let topology = archive.topology().clone();
        let nodes = topology.nodes.iter();
        let seats = nodes
            .map(|node| Seat { seat: u32::from(node.seat), name: node.name.clone(), kind: node.kind })
            .collect();
        Place { source: Source::Archive(archive), seats, topology: Some(topology) }
    }

    /// Name of the instance, or of the archive.
    pub(super) fn name(&self) -> &str {
        match self.source {
            Source::View(view) => view.instance().name(),
            Source::Archive(archive) => archive.name(),
        }
    }

    /// The journal that the reports of this strategy go to.
    pub(super) fn reports_of(&self, strategy: &str) -> Option<&str> {
        let topology = self.topology.as_ref()?;
        Some(&topology.reports_of(topology.node(strategy)?)?.name)
    }

    pub(super) fn seat(&self, number: u32) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.seat == number)
    }

    /// Each journal that somebody has written, with its writer; those that cannot be opened with the reason. Those at
    /// the end of an order's way come first: what made a frame that was seen is then there when its journal is looked
    /// through, however busy the platform is.
    fn journals(&self) -> Result<Vec<Opened<'a>>, ViewError> {
        let mut opened = match self.source {
            Source::View(view) => self.rings(view)?,
            Source::Archive(archive) => self.archives(archive),
        };
        opened.sort_by_key(|(name, _)| distance_from_end(name));
        Ok(opened)
    }

    fn rings(&self, view: &InstanceView) -> Result<Vec<Opened<'a>>, ViewError> {
        let instance = view.instance();
        let names =
            instance.journal_names().map_err(|source| ViewError::Io { path: instance.journals(), source })?;
        let open = |name: &String| match view.journal(name) {
            Ok((_, view)) if view.stat.writer == WriterState::Never => None,
            Ok((journal, view)) => {
                let number = view.stat.writer_seat;
                let seat = self.seat(number);
                let node = seat.map_or_else(|| format!("seat {number}"), |seat| seat.name.clone());
                let writer = Writer { node, kind: seat.map(|seat| seat.kind) };
                Some((name.clone(), Ok((Volume::Ring(journal), writer))))
            }
            Err(error) => Some((name.clone(), Err(error.to_string()))),
        };
        Ok(names.iter().filter_map(open).collect())
    }

    fn archives(&self, archive: &'a dyn Archive) -> Vec<Opened<'a>> {
        let writer = |name: &str| {
            let journal = archive.topology().journals.iter().find(|journal| journal.name == name);
            let node = journal.map_or_else(|| "unknown".to_owned(), |journal| journal.writer.clone());
            let kind = self.seats.iter().find(|seat| seat.name == node).map(|seat| seat.kind);
            Writer { node, kind }
        };
        let journals = archive.journals().into_iter();
        journals
            .map(|journal| {
                let (name, writer) = (journal.name.clone(), writer(&journal.name));
                (name, Ok((Volume::Archived(archive, journal), writer)))
            })
            .collect()
    }

    /// Looks through all journals for an order.
    pub(super) fn search(&self, order: OrderId) -> Result<Search, ViewError> {
        let mut search = Search::default();
        for (name, opened) in self.journals()? {
            let looked =
                opened.and_then(|(journal, writer)| walk(&name, &journal, writer, order, &mut search.found));
            match looked {
                Ok(searched) => search.searched.push(searched),
                Err(error) => search.unreadable.push(Unreadable { journal: name, error }),
            }
        }
        search.found.sort_by_key(|found| (found.time, found.journal_id, found.position));
        Ok(search)
    }

    /// The order that was filled last, as far as its strategy knows; the newest order where nothing was filled. And the
    /// journals that could not be read for it.
    pub(super) fn newest(&self) -> Result<(Option<OrderId>, Vec<Unreadable>), ViewError> {
        let mut unreadable = Vec::new();
        let mut newest: Option<(u32, u64, OrderId)> = None;
        for (name, opened) in self.journals()? {
            // What cannot be read is reported by the search that follows.
            let Ok((journal, _)) = opened else { continue };
            let looked = journal.each(&mut |_, time, message| {
                let rank = match &message {
                    AnyMessage::OrderUpdate(update) if update.status == OrderStatus::Filled => {
                        // td's, when it passes on what matching says.
                        1 + u32::from(update.execution != 0)
                    }
                    _ => 0,
                };
                if let Some(order) = order_of(&message)
                    && newest.is_none_or(|(highest, when, _)| (highest, when) < (rank, time))
                {
                    newest = Some((rank, time, order));
                }
            });
            if let Err(error) = looked {
                unreadable.push(Unreadable { journal: name, error });
            }
        }
        Ok((newest.map(|(_, _, order)| order), unreadable))
    }

    /// The journal of this number, and who writes it.
    pub(super) fn journal(&self, id: u32) -> Option<(String, Volume<'a>, Writer)> {
        let opened =
            self.journals().ok()?.into_iter().filter_map(|(name, opened)| Some((name, opened.ok()?)));
        let found = opened.into_iter().find(|(_, (journal, _))| journal.id() == id);
        found.map(|(name, (journal, writer))| (name, journal, writer))
    }
}

/// The frame at this very place; `None` when it is overwritten, or no message.
pub(super) fn frame_at(name: &str, journal: &Volume<'_>, writer: &Writer, position: u64) -> Option<Found> {
    let (time, message) = journal.at(position)?;
    Some(Found {
        journal: name.to_owned(),
        journal_id: journal.id(),
        writer: writer.clone(),
        position,
        time,
        message,
    })
}

/// How far the journal of this name is from the end of an order's way: who reads the nearest first has seen what made a frame
/// when it sees the frame.
pub fn distance_from_end(name: &str) -> u32 {
    match Stream::of(name) {
        Some(Stream::Reports) => 0,
        Some(Stream::Executions) => 1,
        Some(Stream::Orders | Stream::Samples) => 2,
        Some(Stream::Requests) => 3,
        _ => 4,
    }
}

fn walk(
    name: &str,
    journal: &Volume<'_>,
    writer: Writer,
    order: OrderId,
    found: &mut Vec<Found>,
) -> Result<Searched, String> {
    let mut oldest = journal.oldest()?;
    let mut searched = Searched {
        journal: name.to_owned(),
        writer: writer.clone(),
        oldest: 0,
        oldest_time: None,
        frames: 0,
        whole: false,
        orders: None,
    };
    let lost = journal.each(&mut |position, time, message| {
        oldest.get_or_insert(position);
        searched.oldest_time.get_or_insert(time);
        searched.frames += 1;
        if let AnyMessage::NewOrder(NewOrder { order_id, .. }) = &message
            && order_id.strategy() == order.strategy()
        {
            let first = searched.orders.map_or(*order_id, |(first, _)| first);
            searched.orders = Some((first, *order_id));
        }
        if order_of(&message) == Some(order) {
            let (journal_id, writer) = (journal.id(), writer.clone());
            found.push(Found { journal: name.to_owned(), journal_id, writer, position, time, message });
        }
    })?;
    searched.oldest = oldest.unwrap_or_else(|| journal.first_position());
    searched.whole = searched.oldest == journal.first_position() && !lost;
    Ok(searched)
}

/// The order that a message is about, if it is about one.
fn order_of(message: &AnyMessage) -> Option<OrderId> {
    message.view().fields().find_map(|(_, value)| match value {
        Some(Value::Order(order)) => Some(order),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{CancelOrder, InstrumentId, Quote, StrategyId};

    #[test]
    fn a_message_about_an_order_names_it() {
        let order = OrderId::new(StrategyId(12), 1, 42);
        let cancel = CancelOrder::new(order, InstrumentId(3));
        assert_eq!(order_of(&AnyMessage::CancelOrder(cancel)), Some(order));
        assert_eq!(order_of(&AnyMessage::Quote(Quote::empty(InstrumentId(3)))), None);
    }

    #[test]
    fn the_end_of_an_orders_way_is_searched_first() {
        let mut names = ["md.quotes", "orders.a", "td.orders", "matching.executions", "reports.a"];
        names.sort_by_key(|name| distance_from_end(name));
        assert_eq!(names, ["reports.a", "matching.executions", "td.orders", "orders.a", "md.quotes"]);
    }
}
