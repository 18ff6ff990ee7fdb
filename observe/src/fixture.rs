//! Made-up seats, journals and instances, for tests of what is computed from them.

use journal::process::ProcessIdentity;
use journal::tools::JournalStat;
use journal::{Clock, Journal, JournalShape, Registry, WriterState};
use node::{Claim, Counter, InstanceDir, NodeState, kind_word};
use topology::config::Mode;
use topology::{NodeKind, Topology};
use wire::{Message, OrderId, OrderStatus, OrderUpdate, StrategyId};

use crate::view::{InstanceView, JournalView, SeatView};

/// A node that runs, with all counters at zero.
pub(crate) fn seat(number: u32, name: &str, kind: NodeKind) -> SeatView {
    SeatView {
        seat: number,
        name: name.to_owned(),
        kind,
        mode: "parked",
        state: NodeState::Running,
        process: ProcessIdentity { pid: 1_000 + number, start: 1 },
        alive: true,
        is_foreign: false,
        generation: 1,
        cpu: 0,
        silent_ns: Some(0),
        exit: None,
        overstayed: false,
        by_a_person: false,
        undelivered_to: 0,
        in_callback_ns: None,
        counters: Counter::ALL.iter().map(|(_, name)| (*name, 0)).collect(),
    }
}

/// The same with these values.
pub(crate) fn counting(mut seat: SeatView, counts: &[(Counter, u64)]) -> SeatView {
    for (counter, value) in counts {
        let place = Counter::ALL.iter().position(|(known, _)| known == counter).unwrap();
        seat.counters[place].1 = *value;
    }
    seat
}

/// A journal that the node in `writer_seat` writes.
pub(crate) fn journal(id: u32, name: &str, writer_seat: u32) -> JournalView {
    let writer = WriterState::Attached(ProcessIdentity { pid: 1_000 + writer_seat, start: 1 });
    let shape =
        JournalShape { id, name: name.to_owned(), capacity: 1 << 20, seats: 64, topics: 1, page: 4_096 };
    let stat = JournalStat {
        shape,
        head: 0,
        frames: 0,
        tally: Default::default(),
        last_time: 0,
        first_position: 0,
        incarnation: 1,
        max_payload: 0,
        durable: None,
        oldest: 0,
        full: 0,
        wakes: 0,
        writer,
        writer_seat,
        epoch: 1,
        created: 0,
        readers: Vec::new(),
    };
    JournalView { stat, ring: format!("/nowhere/{name}.ring").into() }
}

/// An instance of a test's own, gone with it: the journals and seats of a platform file, all stopped, and no process.
pub(crate) struct Instance {
    pub(crate) topology: Topology,
    pub(crate) registry: Registry,
    clock: Clock,
    claim: Claim,
}

impl Instance {
    /// With two strategies. `test` tells instances apart.
    pub(crate) fn new(test: &str) -> Instance {
        Instance::with(test, "[md]\n[strategies]\ncount = 2\n")
    }

    /// With what the platform file says.
    pub(crate) fn with(test: &str, file: &str) -> Instance {
        let topology = topology::parse("test.toml", file, &[]).unwrap().topology;
        let directory = InstanceDir::new(&format!("obs-{test}-{}", std::process::id())).unwrap();
        let claim = directory.claim().unwrap();
        claim.create_journals().unwrap();
        for spec in &topology.journals {
            let (id, name, topics) = (spec.id, spec.name.clone(), spec.topics);
            let shape = JournalShape { id, name, capacity: 1 << 16, seats: 64, topics, page: 4_096 };
            Journal::create(directory.journal(&spec.name, None), shape, 1).unwrap();
        }
        std::fs::write(directory.topology(), serde_json::to_vec(&topology).unwrap()).unwrap();
        let clock = Clock::monotonic();
        let registry = Registry::create(&directory.registry(), 64, clock).unwrap();
        for node in &topology.nodes {
            let kind: NodeKind =
                serde_json::to_value(node.kind).and_then(serde_json::from_value).expect("the same words");
            registry.set_name(u32::from(node.seat), &node.name);
            let seat = registry.occupy(u32::from(node.seat)).unwrap();
            seat.set_kind(kind_word(kind, Mode::Parked));
            seat.set_generation(1);
            seat.set_state(NodeState::Stopped.to_word());
        }
        Instance { topology, registry, clock, claim }
    }

    /// A journal, to read and write.
    pub(crate) fn open(&self, journal: &str) -> Journal {
        Journal::open(self.claim.instance().journal(journal, None)).unwrap()
    }

    pub(crate) fn view(&self) -> InstanceView {
        InstanceView::open(self.claim.instance().clone()).unwrap()
    }

    /// Seats of the two strategies.
    pub(crate) fn strategies(&self) -> [u32; 2] {
        let is_one = |node: &&topology::NodeSpec| node.kind == topology::NodeKind::Strategy;
        let seats: Vec<u32> =
            self.topology.nodes.iter().filter(is_one).map(|node| u32::from(node.seat)).collect();
        seats.try_into().unwrap()
    }

    pub(crate) fn name(&self, seat: u32) -> &str {
        let node = self.topology.nodes.iter().find(|node| u32::from(node.seat) == seat);
        &node.unwrap().name
    }

    /// The journal's writer writes these messages and ends: nobody has counted them by class. Answers where they lie.
    pub(crate) fn write(&self, journal: &str, messages: &[(u16, Vec<u8>)]) -> Vec<u64> {
        let opened = Journal::open(self.claim.instance().journal(journal, None)).unwrap();
        let writer = &self.topology.journal(journal).unwrap().writer;
        let seat = self.topology.node(writer).unwrap().seat;
        let mut writer = opened.writer(u32::from(seat), self.clock).unwrap();
        let write = |(id, payload): &(u16, Vec<u8>)| writer.write(*id, 0, payload).unwrap().position;
        messages.iter().map(write).collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.claim.remove().unwrap();
    }
}

/// A message of this kind with nothing in it: its class depends on its kind alone.
pub(crate) fn blank<M: Message>() -> (u16, Vec<u8>) {
    (M::ID, vec![0; M::SIZE])
}

/// What became of an order.
pub(crate) fn update(status: OrderStatus) -> (u16, Vec<u8>) {
    update_of(OrderId::new(StrategyId(1), 1, 1), status, 0)
}

/// The same of this order; `execution` as in [`OrderUpdate::execution`].
pub(crate) fn update_of(order_id: OrderId, status: OrderStatus, execution: u64) -> (u16, Vec<u8>) {
    let update = OrderUpdate::decode(&[1; OrderUpdate::SIZE]).unwrap();
    let update = OrderUpdate { order_id, status, execution, ..update };
    (OrderUpdate::ID, update.bytes().to_vec())
}
