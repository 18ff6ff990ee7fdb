//! All orders that are known.

use wire::{OrderId, OrderIndex, StrategyId};

use crate::orders::Order;
use crate::positions::NOTHING;
use crate::state::{Reader, State, state};
use crate::table::reach;

/// By id, and by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) table: Vec<Option<Order>>,
    free: Vec<u32>,
    /// Those that have ended, by the place of their account.
    ended: Vec<Ended>,
    /// How many of these there are, and may be.
    kept: u64,
    remembered: u64,
    /// The account that has most of them, as far as was seen, and the one that was looked at last.
    largest: u32,
    hand: u32,
    /// Newest id of each strategy.
    newest: Vec<Option<OrderId>>,
    places: OrderIndex,
}

/// The orders of one account that have ended: a list in the order of their ends, linked by [`Order::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ended {
    oldest: u32,
    newest: u32,
    count: u32,
}
state!(Ended { oldest, newest, count });

impl Default for Ended {
    fn default() -> Ended {
        Ended { oldest: NOTHING, newest: NOTHING, count: 0 }
    }
}

impl State for Orders {
    fn put(&self, out: &mut Vec<u8>) {
        self.table.put(out);
        self.free.put(out);
        self.ended.put(out);
        self.kept.put(out);
        self.remembered.put(out);
        self.largest.put(out);
        self.hand.put(out);
        self.newest.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Option<Orders> {
        let mut orders = Orders {
            table: State::get(from)?,
            free: State::get(from)?,
            ended: State::get(from)?,
            kept: State::get(from)?,
            remembered: State::get(from)?,
            largest: State::get(from)?,
            hand: State::get(from)?,
            newest: State::get(from)?,
            places: OrderIndex::default(),
        };
        for (place, order) in orders.table.iter().enumerate() {
            if let Some(order) = order {
                orders.places.insert(order.request.order_id, place as u32);
            }
        }
        let inside = |place: &u32| (*place as usize) < orders.table.len();
        let kept: u64 = orders.ended.iter().map(|ended| u64::from(ended.count)).sum();
        (orders.free.iter().all(inside) && kept == orders.kept).then_some(orders)
    }
}

impl Orders {
    pub(crate) fn new(remembered: u32) -> Orders {
        Orders { remembered: remembered.into(), ..Orders::default() }
    }

    pub(crate) fn find(&self, id: OrderId) -> Option<u32> {
        self.places.find(id)
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

    /// Notes that an order has ended. Where more are kept than may be, the oldest of the account is forgotten, or of another
    /// that remembers more: who is quiet loses nothing to who is noisy.
    pub(crate) fn ended(&mut self, place: u32) {
        let Some(order) = self.get_mut(place) else { return };
        (order.next, order.previous) = (NOTHING, NOTHING);
        let account = order.account;
        let ended = reach(&mut self.ended, account as usize);
        let before = std::mem::replace(&mut ended.newest, place);
        ended.count += 1;
        if before == NOTHING {
            ended.oldest = place;
        } else if let Some(before) = self.get_mut(before) {
            before.next = place;
        }
        self.kept += 1;
        while self.kept > self.remembered {
            let crowded = self.crowded(account);
            if !self.forget(crowded) {
                return;
            }
        }
        self.look_at(account);
    }

    /// How many accounts are looked at for one that remembers more, each time that one order too many is kept.
    const LOOKS: usize = 4;

    /// Of which account the oldest is forgotten, once one has ended of this.
    fn crowded(&mut self, account: u32) -> u32 {
        for _ in 0..Orders::LOOKS.min(self.ended.len()) {
            let next = self.hand.wrapping_add(1);
            self.hand = if (next as usize) < self.ended.len() { next } else { 0 };
            self.look_at(self.hand);
        }
        if self.count(self.largest) > self.count(account) { self.largest } else { account }
    }

    fn look_at(&mut self, account: u32) {
        if self.count(account) > self.count(self.largest) {
            self.largest = account;
        }
    }

    fn count(&self, account: u32) -> u32 {
        self.ended.get(account as usize).map_or(0, |ended| ended.count)
    }

    /// Forgets the oldest order of an account; false where there is none.
    fn forget(&mut self, account: u32) -> bool {
        let Some(ended) = self.ended.get_mut(account as usize) else { return false };
        let place = ended.oldest;
        let Some(order) = self.table.get_mut(place as usize).and_then(Option::take) else { return false };
        ended.oldest = order.next;
        ended.count = ended.count.saturating_sub(1);
        if ended.count == 0 {
            *ended = Ended::default();
        }
        self.places.remove(order.request.order_id);
        self.free.push(place);
        self.kept -= 1;
        true
    }

    /// True when the id is newer than all before of its strategy: nothing can be known of it, and the table need not be asked.
    #[inline]
    pub(crate) fn is_newer(&self, id: OrderId) -> bool {
        let newest = self.newest.get(usize::from(id.strategy().0)).copied().flatten();
        newest.is_none_or(|newest| id.is_newer_than(newest))
    }

    /// True, and remembered, when the id is newer than all before of its strategy.
    pub(crate) fn claim(&mut self, id: OrderId) -> bool {
        let newest = reach(&mut self.newest, usize::from(id.strategy().0));
        let is_newer = newest.is_none_or(|newest| id.is_newer_than(newest));
        if is_newer {
            *newest = Some(id);
        }
        is_newer
    }

    /// The newest id of a strategy.
    pub(crate) fn newest(&self, strategy: StrategyId) -> Option<OrderId> {
        self.newest.get(usize::from(strategy.0)).copied().flatten()
    }

    /// All that work, with their places. The order is that of their places: sort what is shown.
    pub(crate) fn open(&self) -> impl Iterator<Item = (u32, &Order)> {
        let all = self.table.iter().enumerate();
        let known = all.filter_map(|(place, order)| Some((place as u32, order.as_ref()?)));
        known.filter(|(_, order)| order.is_open())
    }
}
