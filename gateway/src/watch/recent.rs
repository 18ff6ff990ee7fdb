//! The newest orders of the whole platform, as td has passed them on.

use std::collections::VecDeque;

use journal::{Journal, LooseReader, ReadError};
use node::InstanceDir;
use serde::Serialize;
use topology::Stream;
use utoipa::ToSchema;
use wire::{Message, NewOrder};

use super::Look;
use crate::view;

/// So many are shown.
const SHOWN: usize = 12;

/// An order that td has passed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct RecentView {
    /// Its id.
    order_id: String,
    /// Who sent it.
    strategy: String,
    /// In what.
    instrument: u32,
    /// `buy` or `sell`.
    side: String,
    /// Its limit; none: at any price.
    price: Option<String>,
    /// How much.
    quantity: i64,
    /// Since td passed it on.
    age_ms: u64,
}

/// Follows td's journal from look to look.
#[derive(Debug, Default)]
pub(super) struct Recent {
    reader: Option<LooseReader>,
    /// Time and order, the newest last.
    newest: VecDeque<(u64, NewOrder)>,
}

impl Recent {
    /// Takes what has come since the last look. What was overwritten meanwhile was not the newest.
    pub(super) fn follow(&mut self, instance: &InstanceDir) {
        if self.reader.is_none() {
            let name = Stream::Orders.journal().unwrap_or("td.orders");
            let open = || {
                let journal = Journal::open_read_only(instance.find_journal(name))?;
                journal.oldest_frame().and_then(|oldest| journal.observe(oldest))
            };
            self.reader = open().ok();
        }
        let Some(reader) = &mut self.reader else { return };
        loop {
            match reader.read() {
                Ok(Some(frame)) if frame.message_id == NewOrder::ID => {
                    if let Ok(order) = NewOrder::decode(frame.payload) {
                        self.newest.push_back((frame.time, order));
                        if self.newest.len() > SHOWN {
                            self.newest.pop_front();
                        }
                    }
                }
                Ok(Some(_)) | Err(ReadError::Lapped(_)) => {}
                Ok(None) => break,
                Err(_) => {
                    self.reader = None;
                    break;
                }
            }
        }
    }

    /// The newest first.
    pub(super) fn rows(&self, look: &Look) -> Vec<RecentView> {
        let row = |(time, order): &(u64, NewOrder)| RecentView {
            order_id: order.order_id.to_string(),
            strategy: look.name_of(u32::from(order.order_id.strategy().0)),
            instrument: order.instrument.0,
            side: order.side.to_string(),
            price: if order.order_type.has_price() { view::price(order.price) } else { None },
            quantity: order.quantity.0,
            age_ms: look.at_ns.saturating_sub(*time) / 1_000_000,
        };
        self.newest.iter().rev().map(row).collect()
    }
}
