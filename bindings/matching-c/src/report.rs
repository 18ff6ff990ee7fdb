//! What happened to an order, as C receives it.

use std::ffi::c_void;

use matching::exchange::{Event, OrderState, Sink, Trade};
use wire::{Aggressor, InstrumentId, Reason, Side};

/// `colo_report_function` of the header.
pub type ReportFunction = unsafe extern "C" fn(context: *mut c_void, report: *const CReport);

/// `colo_report` of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct CReport {
    /// Which order.
    pub order: u64,
    /// Number of the trade, or zero.
    pub trade: u64,
    /// Of the trade; else the order's limit.
    pub price: i64,
    /// Of the trade; else how much works.
    pub quantity: i64,
    /// How much of the order has traded.
    pub filled: i64,
    /// How much of it works, or was left.
    pub open: i64,
    /// Of which instrument.
    pub instrument: u32,
    /// As in the header.
    pub kind: u8,
    /// 1 buy, 2 sell.
    pub side: u8,
    /// Number of the [`Reason`].
    pub reason: u8,
    /// 1: it rested when it traded.
    pub maker: u8,
}

const _: () = assert!(size_of::<CReport>() == 56, "as in the header");

impl CReport {
    /// About no order.
    fn of_market(kind: u8, instrument: InstrumentId) -> CReport {
        CReport {
            order: 0,
            trade: 0,
            price: wire::Price::NONE.0,
            quantity: 0,
            filled: 0,
            open: 0,
            instrument: instrument.0,
            kind,
            side: 0,
            reason: Reason::None as u8,
            maker: 0,
        }
    }
}

/// Passes reports on to a C function; without one they are dropped.
pub(crate) struct Reports {
    pub(crate) report: Option<ReportFunction>,
    pub(crate) context: *mut c_void,
}

impl Reports {
    fn send(&self, report: CReport) {
        if let Some(function) = self.report {
            // SAFETY: the caller of the interface promised that it may be called so; the report lives until it returns.
            unsafe { function(self.context, &report) };
        }
    }

    fn about(&self, kind: u8, state: &OrderState, reason: Reason) {
        self.send(CReport {
            order: state.id,
            trade: 0,
            price: state.price.0,
            quantity: state.open.0,
            filled: state.filled.0,
            open: state.open.0,
            instrument: state.instrument.0,
            kind,
            side: state.side as u8,
            reason: reason as u8,
            maker: 0,
        });
    }

    fn traded(&self, trade: &Trade) {
        let one = |state: &OrderState, maker: bool| {
            self.send(CReport {
                order: state.id,
                trade: trade.id,
                price: trade.price.0,
                quantity: trade.quantity.0,
                filled: state.filled.0,
                open: state.open.0,
                instrument: state.instrument.0,
                kind: 4,
                side: state.side as u8,
                reason: Reason::None as u8,
                maker: u8::from(maker),
            });
        };
        let auction = trade.aggressor == Aggressor::None;
        if trade.aggressor == Aggressor::Sell {
            one(&trade.buy, true);
            one(&trade.sell, auction);
        } else {
            one(&trade.sell, true);
            one(&trade.buy, auction);
        }
    }
}

impl Sink for Reports {
    fn event(&mut self, event: Event) {
        match event {
            Event::Accepted(state) => self.about(1, &state, Reason::None),
            Event::Rejected(order, reason) => self.send(CReport {
                order: order.id,
                trade: 0,
                price: order.kind.price().unwrap_or(wire::Price::NONE).0,
                quantity: order.quantity.0,
                filled: 0,
                open: 0,
                instrument: order.instrument.0,
                kind: 2,
                side: if order.side == Side::Buy { 1 } else { 2 },
                reason: reason as u8,
                maker: 0,
            }),
            Event::Rested(state) => self.about(3, &state, Reason::None),
            Event::Traded(trade) => self.traded(&trade),
            Event::Cancelled(state, reason) => self.about(5, &state, reason),
            Event::Replaced(state, _) => self.about(6, &state, Reason::None),
            Event::Refused { id, reason, .. } => self.send(CReport {
                order: id,
                trade: 0,
                price: wire::Price::NONE.0,
                quantity: 0,
                filled: 0,
                open: 0,
                instrument: 0,
                kind: 7,
                side: 0,
                reason: reason as u8,
                maker: 0,
            }),
            Event::Refreshed(state, _) => self.about(8, &state, Reason::None),
            Event::Decremented(state) => self.about(9, &state, Reason::None),
            Event::Triggered(state) => self.about(10, &state, Reason::None),
            Event::Uncrossed { instrument, equilibrium, .. } => self.send(CReport {
                price: equilibrium.price.0,
                quantity: equilibrium.volume.0,
                open: equilibrium.imbalance,
                ..CReport::of_market(11, instrument)
            }),
            Event::PhaseChanged { instrument, from, to } => self.send(CReport {
                quantity: to as i64,
                filled: from as i64,
                ..CReport::of_market(12, instrument)
            }),
        }
    }
}
