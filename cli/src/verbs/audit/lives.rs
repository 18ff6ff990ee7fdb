//! Each order's life: sent once, ended once, and what it says to have traded is the sum of its fills.

use std::collections::HashMap;

use wire::{DROP_REFUSED, Execution, Fill, Message, NewOrder, OrderId, OrderStatus, OrderUpdate};

use super::findings::Findings;
use crate::desk::{DROPS, Seen};

#[derive(Clone, Copy, Debug, Default)]
struct Life {
    filled: i64,
    has_ended: bool,
}

pub(super) struct Lives {
    pub(super) findings: Findings,
    /// Orders that were sent before this began are not known.
    is_begin: bool,
    /// Orders go out to another market: an operator may book a trade of an order that has ended.
    is_outside: bool,
    known: HashMap<OrderId, Life>,
    /// Such trades.
    late: u64,
}

impl Lives {
    pub(super) fn new(is_begin: bool, is_outside: bool) -> Lives {
        let mut findings =
            Findings::new("orders", "each order was sent once and ended once, with what its fills come to");
        if !is_begin {
            findings
                .lacks(format!("{DROPS} does not reach back to its begin: older orders are not looked at"));
        }
        Lives { findings, is_begin, is_outside, known: HashMap::new(), late: 0 }
    }

    pub(super) fn take(&mut self, seen: &Seen) {
        if seen.topic == DROP_REFUSED {
            return;
        }
        match seen.id {
            NewOrder::ID => {
                let Ok(order) = NewOrder::decode(&seen.payload) else { return };
                self.findings.checked += 1;
                if self.known.insert(order.order_id, Life::default()).is_some() {
                    self.differs(seen, format!("{} was sent", order.order_id), "no order twice");
                }
            }
            Fill::ID | OrderUpdate::ID => {
                if let Ok(execution) = Execution::decode(seen.id, &seen.payload)
                    && execution.position().is_some()
                {
                    self.execution(seen, &execution);
                }
            }
            _ => {}
        }
    }

    fn execution(&mut self, seen: &Seen, execution: &Execution) {
        let id = execution.order_id();
        // About a request, and no order.
        if matches!(execution, Execution::Update(update) if update.status == OrderStatus::MassCancelled) {
            return;
        }
        let Some(life) = self.known.get_mut(&id) else {
            if self.is_begin {
                self.differs(seen, format!("an execution of {id}"), "an order that was sent");
            }
            return;
        };
        self.findings.checked += 1;
        match execution {
            Execution::Fill(fill) => {
                life.filled = life.filled.saturating_add(fill.quantity.0);
                if life.has_ended && self.is_outside && fill.remaining.0 == 0 {
                    self.late += 1;
                } else if life.has_ended {
                    self.differs(seen, format!("a fill of {id}, which has ended"), "no fill of it any more");
                }
            }
            Execution::Update(update) if update.status.is_refusal() => {}
            Execution::Update(update) => {
                let (had_ended, filled) = (life.has_ended, life.filled);
                life.has_ended |= update.status.is_final();
                if had_ended {
                    self.differs(seen, format!("{id} is {}", update.status), "nothing: it has ended before");
                } else if update.filled.0 != filled && update.status != OrderStatus::Rejected {
                    let found = format!("{id} is {} and says {} traded", update.status, update.filled);
                    self.differs(seen, found, &format!("{filled}, the sum of its fills"));
                }
            }
        }
    }

    fn differs(&mut self, seen: &Seen, found: String, expected: &str) {
        self.findings.differs(DROPS, seen.position, found, expected);
    }

    /// How many work is what the accounts say.
    pub(super) fn finish(mut self, desk: Option<&accounts::Desk>) -> Findings {
        let open = self.known.values().filter(|life| !life.has_ended).count();
        self.findings.notes.push(format!("{} orders, {open} of them at work", self.known.len()));
        if self.late > 0 {
            let late = self.late;
            self.findings
                .notes
                .push(format!("{late} fills of orders that had ended, as an operator books them"));
        }
        if let Some(desk) = desk.filter(|_| self.is_begin) {
            let (found, expected) = (u64::from(desk.open_orders()), open as u64);
            self.findings.same(DROPS, None, "orders at work in the accounts", found, expected);
        }
        self.findings
    }
}
