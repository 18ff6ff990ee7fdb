//! All orders that are known.

use std::collections::VecDeque;

use wire::{OrderId, OrderIndex, StrategyId};

use crate::orders::Order;
use crate::state::{Reader, State};

/// By id, and by place.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) table: Vec<Option<Order>>,
    free: Vec<u32>,
    /// Those that have ended, oldest first. With their ids: what was not touched for long is not read once more.
    ended: VecDeque<(OrderId, u32)>,
    remembered: u64,
    /// Newest id of each strategy.
    newest: Vec<Option<OrderId>>,
    places: OrderIndex,
}

impl State for Orders {
    fn put(&self, out: &mut Vec<u8>) {
        self.table.put(out);
        self.free.put(out);
        self.ended.iter().map(|(_, place)| *place).collect::<VecDeque<u32>>().put(out);
        self.remembered.put(out);
        self.newest.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Option<Orders> {
        let table: Vec<Option<Order>> = State::get(from)?;
        let free = State::get(from)?;
        let ended: VecDeque<u32> = State::get(from)?;
        let with_id = |place: u32| Some((table.get(place as usize)?.as_ref()?.request.order_id, place));
        let mut orders = Orders {
            ended: ended.into_iter().map(with_id).collect::<Option<_>>()?,
            table,
            free,
            remembered: State::get(from)?,
            newest: State::get(from)?,
            places: OrderIndex::default(),
        };
        for (place, order) in orders.table.iter().enumerate() {
            if let Some(order) = order {
                orders.places.insert(order.request.order_id, place as u32);
            }
        }
        let inside = |place: &u32| (*place as usize) < orders.table.len();
        orders.free.iter().all(inside).then_some(orders)
    }
}

impl Orders {
    pub(crate) fn new(remembered: u32) -> Orders {
        let mut orders = Orders { remembered: remembered.into(), ..Orders::default() };
        orders.ended.reserve(remembered as usize + 1_024);
        orders
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

    /// Notes that an order has ended: it is forgotten once enough others have.
    pub(crate) fn ended(&mut self, place: u32) {
        let Some(order) = self.get(place) else { return };
        self.ended.push_back((order.request.order_id, place));
        while self.ended.len() as u64 > self.remembered {
            let Some((id, oldest)) = self.ended.pop_front() else { return };
            self.places.remove(id);
            self.table[oldest as usize] = None;
            self.free.push(oldest);
        }
    }

    /// True when the id is newer than all before of its strategy: nothing can be known of it, and the table need not be asked.
    #[inline]
    pub(crate) fn is_newer(&self, id: OrderId) -> bool {
        let newest = self.newest.get(usize::from(id.strategy().0)).copied().flatten();
        newest.is_none_or(|newest| id.is_newer_than(newest))
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
