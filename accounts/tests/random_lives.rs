//! Random lives over all kinds, methods and entries, against the naive model and against the sums' own parts.
//!
//! `COLO_ACCOUNT_EVENTS=10000000` makes the long form.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic and print")]

mod life;
mod model;
mod support;

use std::collections::BTreeMap;

use life::Life;
use wire::Reason;

const REFUSALS: [Reason; 18] = [
    Reason::UnknownAccount,
    Reason::Killed,
    Reason::AccountFrozen,
    Reason::MessageRate,
    Reason::OrderRate,
    Reason::UnknownInstrument,
    Reason::NotTradable,
    Reason::Quantity,
    Reason::NoWorstPrice,
    Reason::PriceBand,
    Reason::OrderNotional,
    Reason::WorkingOrders,
    Reason::SelfTrade,
    Reason::NotClosable,
    Reason::ShortSale,
    Reason::PositionLimit,
    Reason::NotionalLimit,
    Reason::InsufficientFunds,
];

fn events() -> u64 {
    std::env::var("COLO_ACCOUNT_EVENTS").ok().and_then(|text| text.parse().ok()).unwrap_or(200_000)
}

fn live(is_honest: bool, length: u64) {
    let (mut done, mut counts) = (0, BTreeMap::new());
    for seed in 1.. {
        let mut life = Life::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), is_honest);
        for step in 1..=length {
            life.step();
            life.kills();
            if step % 16 == 0 {
                life.desk.audit().unwrap_or_else(|what| panic!("life {seed}, step {step}: {what}"));
            }
            if step == length / 2 || step == length {
                life.compare();
            }
        }
        for (what, count) in life.counts {
            *counts.entry(what).or_insert(0) += count;
        }
        done += length;
        if done >= events() {
            println!("{done} events in {seed} lives: {counts:?}");
            break;
        }
    }
    assert!(counts["fills"] > 100 && counts["settlements"] > 5, "{counts:?}");
    if is_honest {
        // A check that never refuses is not tested.
        for reason in REFUSALS {
            assert!(counts.contains_key(reason.as_str()), "no order was refused for {reason:?}: {counts:?}");
        }
        assert!(counts["kills"] > 10 && counts["withdrawals refused"] > 10, "{counts:?}");
        // What a fill may take is held at fills that open, also where they make other orders open.
        assert!(counts["opening fills"] > 1_000 && counts["orders turned"] > 0, "{counts:?}");
    }
}

#[test]
fn a_random_life_is_what_the_naive_model_says() {
    live(true, 250);
}

#[test]
fn sums_hold_whatever_the_market_says() {
    live(false, 500);
}
