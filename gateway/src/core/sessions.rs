//! Sessions: WebSockets whose orders do not outlive them. Pure.

use std::collections::HashMap;

use wire::OrderId;

/// Orders of a session that are kept before those that have ended are left out.
const ROOM: usize = 1_024;

#[derive(Debug)]
struct Session {
    token: u64,
    orders: Vec<OrderId>,
    /// So many, and those that have ended are looked for.
    room: usize,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    live: HashMap<u64, Session>,
    /// Orders whose session has ended, and that have not been cancelled yet.
    ended: Vec<OrderId>,
}

impl Sessions {
    pub(super) fn begin(&mut self, session: u64, token: u64) {
        self.live.insert(session, Session { token, orders: Vec::new(), room: ROOM });
    }

    pub(super) fn end(&mut self, session: u64) {
        if let Some(session) = self.live.remove(&session) {
            self.ended.extend(session.orders);
        }
    }

    /// Does it live, and is it this token's?
    pub(super) fn is_of(&self, session: u64, token: u64) -> bool {
        self.live.get(&session).is_some_and(|session| session.token == token)
    }

    /// An order of a session.
    pub(super) fn add(&mut self, session: u64, order: OrderId, works: impl Fn(OrderId) -> bool) {
        let Some(session) = self.live.get_mut(&session) else { return };
        session.orders.push(order);
        if session.orders.len() >= session.room {
            session.orders.retain(|order| works(*order));
            session.room = ROOM.max(session.orders.len() * 2);
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    pub(super) fn take_ended(&mut self) -> Vec<OrderId> {
        std::mem::take(&mut self.ended)
    }

    /// There was no room for its cancel.
    pub(super) fn again(&mut self, order: OrderId) {
        self.ended.push(order);
    }
}

#[cfg(test)]
mod tests {
    use wire::StrategyId;

    use super::*;

    fn id(number: u32) -> OrderId {
        OrderId::new(StrategyId(9), 1, number)
    }

    #[test]
    fn what_a_session_has_sent_is_cancelled_once_when_it_ends() {
        let mut sessions = Sessions::default();
        sessions.begin(1, 7);
        sessions.begin(2, 7);
        assert!(sessions.is_of(1, 7) && !sessions.is_of(1, 8) && !sessions.is_of(3, 7));
        for (session, order) in [(1, 1), (2, 2), (1, 3), (9, 4)] {
            sessions.add(session, id(order), |_| true);
        }
        sessions.end(1);
        sessions.end(1);
        assert!(!sessions.is_of(1, 7) && sessions.has_ended());
        assert_eq!((sessions.take_ended(), sessions.has_ended()), (vec![id(1), id(3)], false));
        sessions.again(id(3));
        assert_eq!(sessions.take_ended(), [id(3)]);
    }

    #[test]
    fn a_long_session_keeps_what_works_only() {
        let mut sessions = Sessions::default();
        sessions.begin(1, 7);
        for number in 0..100_000 {
            sessions.add(1, id(number), |order| order == id(5));
        }
        let kept = sessions.live.get(&1).unwrap();
        assert!(kept.orders.len() <= ROOM && kept.orders.contains(&id(5)));
    }
}
