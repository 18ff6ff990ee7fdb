//! The driver against the made-up market, over seeds.

use std::collections::BTreeMap;

use venue::conform::{Faults, Line, MadeUp, Rig, Summary, conform};
use venue::{Command, News, Report, Says, Venue};
use wire::{Instrument, Nanos};

fn seeds() -> u64 {
    std::env::var("COLO_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(30)
}

fn hold(faults: Faults) -> Summary {
    let mut all = Summary::default();
    for seed in 0..seeds() {
        let summary =
            conform(&mut MadeUp::new(seed, faults), seed, 1_500).unwrap_or_else(|wrong| panic!("{wrong}"));
        all.requests += summary.requests;
        all.fills += summary.fills;
        all.kills += summary.kills;
        all.cuts += summary.cuts;
        all.rejected += summary.rejected;
        all.executions += summary.executions;
        all.unbooked += summary.unbooked;
    }
    println!("{all:?}");
    assert!(all.fills > 0 && all.kills > 0 && all.cuts > 0);
    all
}

#[test]
fn every_request_has_one_answer_and_no_fill_is_there_twice_however_the_market_speaks() {
    hold(Faults::ALL);
}

#[test]
fn what_no_fill_can_say_is_listed_to_the_last_lot() {
    assert!(hold(Faults::RUDE).unbooked > 100);
}

#[test]
fn over_a_line_that_loses_nothing_too() {
    hold(Faults::NONE);
}

#[test]
fn what_is_told_twice_or_out_of_order_alone_changes_nothing() {
    hold(Faults { twice: 50, lost: 0, out_of_order: true, told_again: true, rude: 0, lost_corrections: 0 });
}

#[test]
fn what_is_lost_is_found_out() {
    hold(Faults { twice: 0, lost: 40, out_of_order: false, told_again: false, rude: 0, lost_corrections: 0 });
}

/// A correction that is lost with the line, and nothing more comes of its order.
#[test]
fn a_correction_that_is_lost_with_the_line_is_listed_at_the_next() {
    let faults = Faults { lost_corrections: 1, ..Faults::NONE };
    assert!(hold(faults).unbooked > 100);
}

/// A line that gives a trade that is told again another name: what no venue may do.
struct Careless(Line, u64);

impl Venue for Careless {
    fn list(&mut self, instrument: &Instrument) {
        self.0.list(instrument);
    }

    fn send(&mut self, command: &Command) {
        self.0.send(command);
    }

    fn poll(&mut self, now: Nanos, news: &mut Vec<News>) -> Result<(), String> {
        self.0.poll(now, news)?;
        for piece in news {
            if let News::Report(Report { says: Says::Trade { id, .. }, .. }) = piece {
                self.1 += 1;
                *id = format!("{id}-{}", self.1);
            }
        }
        Ok(())
    }
}

struct CarelessMarket(MadeUp);

impl Rig for CarelessMarket {
    type Line = Careless;

    fn line(&mut self) -> Careless {
        Careless(self.0.line(), 0)
    }

    fn pass(&mut self) {
        self.0.pass();
    }

    fn cut(&mut self) {
        self.0.cut();
    }

    fn calm(&mut self) {
        self.0.calm();
    }

    fn traded(&self) -> Option<BTreeMap<String, i128>> {
        self.0.traded()
    }

    fn is_rude(&self) -> bool {
        self.0.is_rude()
    }
}

#[test]
fn a_venue_that_tells_a_trade_twice_under_two_names_does_not_pass() {
    let faults = Faults { twice: 50, ..Faults::NONE };
    let error =
        conform(&mut CarelessMarket(MadeUp::new(1, faults)), 1, 1_500).expect_err("it does not conform");
    println!("{}", error.lines().next().unwrap_or_default());
}
