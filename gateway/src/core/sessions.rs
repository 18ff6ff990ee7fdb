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
}

impl Sessions {
    pub(super) fn begin(&mut self, session: u64, token: u64) {
        self.live.insert(session, Session { token, orders: Vec::new(), room: ROOM });
    }

    /// Ends a session. Returns its orders; none, if it has ended before.
    pub(super) fn end(&mut self, session: u64) -> Vec<OrderId> {
        self.live.remove(&session).map_or_else(Vec::new, |session| session.orders)
    }

    /// Ends all sessions. Returns their orders.
    pub(super) fn end_all(&mut self) -> Vec<OrderId> {
        self.live.drain().flat_map(|(_, session)| session.orders).collect()
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
}

#[cfg(test)]
mod tests {
    use wire::StrategyId;

    use super::*;

    fn id(number: u32) -> OrderId {
        OrderId::new(StrategyId(9), 1, number)
    }

    #[test]
    fn a_session_ends_once_and_names_all_its_orders() {
        let mut sessions = Sessions::default();
        sessions.begin(1, 7);
        sessions.begin(2, 7);
        assert!(sessions.is_of(1, 7) && !sessions.is_of(1, 8) && !sessions.is_of(3, 7));
        for (session, order) in [(1, 1), (2, 2), (1, 3), (9, 4)] {
            sessions.add(session, id(order), |_| true);
        }
        assert_eq!(sessions.end(1), [id(1), id(3)]);
        assert!(!sessions.is_of(1, 7) && sessions.end(1).is_empty());
        assert_eq!((sessions.end_all(), sessions.end_all()), (vec![id(2)], vec![]));
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
