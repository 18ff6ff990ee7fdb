//! A position that follows a continuous contract through a roll: what it gains is what its two contracts gain, and the gap between them is nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod scripted;
#[path = "../../md/tests/support/mod.rs"]
mod support;

use dbn::{MboMsg, Schema};
use serde::Deserialize;
use strategy_sdk::{
    Context, Continuous, Nanos, OrderRequest, ParameterError, Quantity, Quote, RollRule, Side, Strategy,
};
use support::{dbn_file_of, mbo};

/// Of the records' days: the 25th of December 2023, 23:00 UTC.
const BEGIN: u64 = 1_703_545_200_000_000_000;
const SECOND: u64 = 1_000_000_000;
const CONTRACTS: [(u32, &str); 2] = [(42, "ESH4"), (43, "ESM4")];
/// A quarter of a point has this price in DBN.
const TICK: i64 = 250_000_000;

#[derive(Debug, Deserialize)]
struct Parameters {
    lots: i64,
    roll_after_s: u64,
}

/// Takes a position in the front contract, and keeps it there.
struct Follower {
    parameters: Parameters,
    future: Option<Continuous>,
}

impl Strategy for Follower {
    type Parameters = Parameters;

    fn create(parameters: Parameters) -> Result<Follower, ParameterError> {
        Ok(Follower { parameters, future: None })
    }

    fn quote(&mut self, context: &mut Context, _quote: &Quote) {
        let lots = self.parameters.lots;
        let Some(future) = &mut self.future else {
            let contracts = CONTRACTS.map(|(_, name)| context.instruments().by_symbol(name).unwrap().id);
            let rule = RollRule::At(vec![context.now() + Nanos(self.parameters.roll_after_s * SECOND)]);
            let future = self.future.insert(Continuous::new(&contracts, rule).unwrap());
            let side = if lots > 0 { Side::Buy } else { Side::Sell };
            context.order(OrderRequest::market(side, future.front(), Quantity(lots.abs()))).unwrap();
            return;
        };
        if let Some(roll) = future.roll(context) {
            future.reopen(context, &roll).unwrap();
        }
    }
}

/// Both contracts are quoted, each a bid and an ask half a point above it, 10 each: new prices at these seconds. In ticks.
fn day(prices: &[(u64, [i64; 2])]) -> Vec<u8> {
    let mut records: Vec<MboMsg> = Vec::new();
    let mut quoted: Vec<(u32, u8, u64, i64)> = Vec::new();
    let mut number = 0;
    for &(second, bids) in prices {
        let mut push = |action, side, order, price: i64, instrument, is_last| {
            let mut record = mbo(action, side, order, price * TICK, 10, is_last);
            record.hd.instrument_id = instrument;
            record.hd.ts_event = BEGIN + second * SECOND;
            record.ts_recv = record.hd.ts_event;
            records.push(record);
        };
        for (instrument, side, order, price) in quoted.drain(..) {
            push(b'C', side, order, price, instrument, false);
        }
        for ((instrument, _), bid) in CONTRACTS.into_iter().zip(bids) {
            for (side, price) in [(b'B', bid), (b'A', bid + 2)] {
                number += 1;
                quoted.push((instrument, side, number, price));
                push(b'A', side, number, price, instrument, side == b'A');
            }
        }
    }
    dbn_file_of(&records, Schema::Mbo, &CONTRACTS)
}

#[test]
fn a_position_gains_what_its_contracts_gain_and_not_the_gap_between_them() {
    // 4000/4000.50 and 4050/4050.50; at the roll 4010/4010.50 and 4062/4062.50; in the end 4020/4020.50 and 4070/4070.50.
    let prices = [(0, [16_000, 16_200]), (60, [16_040, 16_248]), (120, [16_080, 16_280])];
    // A point of the contract is 50 dollars (CME). Long: in at 4000.50, out at 4010, in at 4062.50, and 4070.25 in the middle of the last quote. Short: the other sides.
    let long = 50.0 * 2.0 * ((4_010.0 - 4_000.5) + (4_070.25 - 4_062.5));
    let short = 50.0 * 2.0 * ((4_000.0 - 4_010.5) + (4_062.0 - 4_070.25));
    for (lots, pnl) in [(2, long), (-2, short)] {
        for fill in ["book", "quotes"] {
            let sections = format!(
                "[matching]\nfill = \"{fill}\"\n[[strategies.group]]\nname = \"follower\"\nprogram = \"follower.so\"\ncount = 1\n\
                 data = \"depth\"\nparams = {{ lots = {lots}, roll_after_s = 60 }}\n"
            );
            let report =
                scripted::run_strategy::<Follower>("dbn", "", &[("day.dbn", day(&prices))], &sections);
            let [strategy] = &report.strategies[..] else { panic!("{:?}", report.strategies) };
            let held: Vec<(u32, i64)> =
                strategy.positions.iter().map(|held| (held.instrument, held.position)).collect();
            assert_eq!((strategy.fills, held), (3, vec![(1, 0), (2, lots)]), "{strategy:?}");
            assert!((strategy.pnl - pnl).abs() < 1e-9, "{pnl}: {strategy:?}");
        }
    }
}
