//! Orders: those at work, and the latest of those that have ended.
//!
//! What has ended is remembered for a while, so that a request that comes twice is answered with what became of it, and so
//! that a fill that comes late is booked where it belongs. `docs/accounts.md` has the table of an order's life.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use wire::{
    InstrumentId, NewOrder, OrderId, OrderStatus, OrderUpdate, Price, Quantity, Reason, Side, StrategyId,
};

use crate::fees::Traded;
use crate::state::{Reader, State, state, state_enum};

/// Where an order stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Passed its checks; the market has not answered.
    Sent = 1,
    /// The market has it.
    Working = 2,
    /// Nothing more should come.
    Ended = 3,
}
state_enum!(Stage { Sent, Working, Ended });

/// Which lots an order may close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closes {
    /// Today's.
    Today = 0,
    /// Those of earlier days.
    Yesterday = 1,
    /// Of whichever day: earlier days first.
    Any = 2,
}
state_enum!(Closes { Today, Yesterday, Any });

/// What an order at work holds back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub(crate) money: i128,
    pub(crate) gross: i128,
    /// How much may yet trade, replaces on their way included.
    pub(crate) open: i64,
    /// How much of that closes.
    pub(crate) closing: i64,
}
state!(Reservation { money, gross, open, closing });

/// One order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// As it came in.
    pub(crate) request: NewOrder,
    /// Its account's place.
    pub(crate) account: u32,
    pub(crate) stage: Stage,
    pub(crate) status: OrderStatus,
    pub(crate) reason: Reason,
    pub(crate) price: Price,
    /// Total that the market has confirmed, or was sent first.
    pub(crate) total: i64,
    /// Largest total that it has or may get by a replace on its way.
    pub(crate) ceiling: i64,
    /// Lowest and highest price that it has or may get.
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) filled: i64,
    pub(crate) replaces: u32,
    pub(crate) cancels: u32,
    pub(crate) closes: Closes,
    /// It was sent to close; of accounts that tell opening from closing.
    pub(crate) is_closing: bool,
    /// How much of what is open may close.
    pub(crate) closing: i64,
    pub(crate) schedule: u32,
    pub(crate) traded: Traded,
    pub(crate) reserved: Reservation,
    /// Numbers of its latest trades: one that comes again is no new one.
    pub(crate) trades: [u64; 4],
    /// Neighbours in its slot's list of orders at work.
    pub(crate) next: u32,
    pub(crate) previous: u32,
}
state!(Order {
    request,
    account,
    stage,
    status,
    reason,
    price,
    total,
    ceiling,
    low,
    high,
    filled,
    replaces,
    cancels,
    closes,
    is_closing,
    closing,
    schedule,
    traded,
    reserved,
    trades,
    next,
    previous
});

impl Order {
    pub(crate) fn side(&self) -> Side {
        self.request.side
    }

    pub(crate) fn instrument(&self) -> InstrumentId {
        self.request.instrument
    }

    pub(crate) fn strategy(&self) -> StrategyId {
        self.request.order_id.strategy()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.stage != Stage::Ended
    }

    /// How much may yet trade in the worst case.
    pub(crate) fn open(&self) -> i64 {
        if self.is_open() { self.ceiling.saturating_sub(self.filled).max(0) } else { 0 }
    }

    pub(crate) fn remaining(&self) -> i64 {
        if self.is_open() { self.total.saturating_sub(self.filled).max(0) } else { 0 }
    }

    /// False when no replace was on its way.
    pub(crate) fn replace_answered(&mut self) -> bool {
        let is_expected = self.replaces > 0;
        self.replaces = self.replaces.saturating_sub(1);
        if self.replaces == 0 {
            self.ceiling = self.total;
            self.settle_prices();
        }
        is_expected
    }

    /// Nothing is on its way: the confirmed price is the only one. Orders without a price keep the band's ends.
    fn settle_prices(&mut self) {
        if self.request.order_type.has_price() {
            (self.low, self.high) = (self.price.0, self.price.0);
        }
    }

    /// A price that the market says it has.
    pub(crate) fn confirm_price(&mut self, price: Price) {
        if price.is_some() && self.request.order_type.has_price() {
            self.price = price;
            self.low = self.low.min(price.0);
            self.high = self.high.max(price.0);
        }
    }

    /// True where the request says the same, but for what caused it.
    pub(crate) fn is_same(&self, request: &NewOrder) -> bool {
        let plain = |order: &NewOrder| NewOrder { cause: wire::Cause::NONE, ..*order };
        plain(&self.request) == plain(request)
    }

    /// What became of it.
    pub(crate) fn update(&self) -> OrderUpdate {
        OrderUpdate {
            side: self.side(),
            price: self.price,
            quantity: Quantity(self.total),
            filled: Quantity(self.filled),
            remaining: Quantity(self.remaining()),
            ..OrderUpdate::about(self.request.order_id, self.instrument(), self.status, self.reason)
        }
    }
}

/// By id, and by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) table: Vec<Option<Order>>,
    free: Vec<u32>,
    ended: VecDeque<u32>,
    remembered: u64,
    /// Newest id of each strategy.
    newest: Vec<Option<OrderId>>,
    places: HashMap<OrderId, u32, BuildHasherDefault<IdHasher>>,
}

impl State for Orders {
    fn put(&self, out: &mut Vec<u8>) {
        self.table.put(out);
        self.free.put(out);
        self.ended.put(out);
        self.remembered.put(out);
        self.newest.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Option<Orders> {
        let mut orders = Orders {
            table: State::get(from)?,
            free: State::get(from)?,
            ended: State::get(from)?,
            remembered: State::get(from)?,
            newest: State::get(from)?,
            places: HashMap::default(),
        };
        for (place, order) in orders.table.iter().enumerate() {
            if let Some(order) = order {
                orders.places.insert(order.request.order_id, place as u32);
            }
        }
        let inside = |place: &u32| (*place as usize) < orders.table.len();
        (orders.free.iter().all(inside) && orders.ended.iter().all(inside)).then_some(orders)
    }
}

impl Orders {
    pub(crate) fn new(remembered: u32) -> Orders {
        let room = remembered as usize + 1_024;
        let mut orders = Orders { remembered: remembered.into(), ..Orders::default() };
        orders.places.reserve(2 * room);
        orders.ended.reserve(room);
        orders
    }

    pub(crate) fn find(&self, id: OrderId) -> Option<u32> {
        self.places.get(&id).copied()
    }

    pub(crate) fn get(&self, place: u32) -> Option<&Order> {
        self.table.get(place as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut Order> {
        self.table.get_mut(place as usize)?.as_mut()
    }

    pub(crate) fn insert(&mut self, order: Order) -> u32 {
        let id = order.request.order_id;
        let place = match self.free.pop() {
            Some(place) => {
                self.table[place as usize] = Some(order);
                place
            }
            None => {
                self.table.push(Some(order));
                self.table.len() as u32 - 1
            }
        };
        self.places.insert(id, place);
        place
    }

    /// Notes that an order has ended: it is forgotten once enough others have.
    pub(crate) fn ended(&mut self, place: u32) {
        self.ended.push_back(place);
        while self.ended.len() as u64 > self.remembered {
            let Some(oldest) = self.ended.pop_front() else { return };
            if let Some(order) = self.table.get_mut(oldest as usize).and_then(Option::take) {
                self.places.remove(&order.request.order_id);
                self.free.push(oldest);
            }
        }
    }

    /// True, and remembered, when the id is newer than all before of its strategy.
    pub(crate) fn claim(&mut self, id: OrderId) -> bool {
        let newest = crate::table::reach(&mut self.newest, usize::from(id.strategy().0));
        let is_newer = newest.is_none_or(|newest| id.is_newer_than(newest));
        if is_newer {
            *newest = Some(id);
        }
        is_newer
    }

    /// All that work, with their places. The order is that of their places: sort what is shown.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, &Order)> {
        let all = self.table.iter().enumerate();
        let known = all.filter_map(|(place, order)| Some((place as u32, order.as_ref()?)));
        known.filter(|(_, order)| order.is_open())
    }
}

/// Spreads order ids, which mostly count up by one.
#[derive(Clone, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio, odd; the rotation brings its well-mixed upper bits down to where the map
        // takes its bucket from.
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
