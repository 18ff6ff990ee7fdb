//! One random life: a desk and the naive model, to which the same things happen.

mod comparison;
mod entries;
mod lies;
mod orders;
mod random;
mod worst;

use std::collections::BTreeMap;

use accounts::{Applied, Desk, Entry, Options};
use wire::*;

use self::random::Random;
use crate::model::{self, Event, Model, World};
use crate::support::*;

const KINDS: [(AccountKind, CostMethod); 9] = [
    (AccountKind::Cash, CostMethod::Average),
    (AccountKind::Cash, CostMethod::Fifo),
    (AccountKind::Cash, CostMethod::Settlement),
    (AccountKind::Margin, CostMethod::Average),
    (AccountKind::Margin, CostMethod::Fifo),
    (AccountKind::Margin, CostMethod::Settlement),
    (AccountKind::Futures, CostMethod::Average),
    (AccountKind::Futures, CostMethod::Fifo),
    (AccountKind::Futures, CostMethod::Settlement),
];

pub(crate) struct Life {
    random: Random,
    pub(crate) desk: Desk,
    model: Model,
    open: Vec<NewOrder>,
    numbers: u32,
    /// The order that was sent in the step before, if there was one.
    latest: Option<OrderId>,
    trades: u64,
    day: u32,
    now: u64,
    /// The market keeps to what was sent.
    is_honest: bool,
    /// How often: sent, refused, fills, settlements, answers of the model.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl Life {
    pub(crate) fn new(seed: u64, is_honest: bool) -> Life {
        let mut random = Random(seed | 1);
        (0..8).for_each(|_| _ = random.next());
        let mut desk = Desk::new(Options { remembered: 64 });
        let mut apply = |entry: Entry| assert_eq!(desk.apply(&entry), Ok(Applied::Done), "{entry:?}");
        let mut terms = BTreeMap::new();
        for entry in reference() {
            let Entry::Terms(mut of) = entry else {
                apply(entry);
                continue;
            };
            // Not everything may be traded, or sold short, or at any price.
            of.flags &= !if random.one_in(6) { ContractTerms::SHORTABLE } else { 0 };
            of.flags &= !if random.one_in(16) { ContractTerms::TRADABLE } else { 0 };
            match random.below(8) {
                0 => (of.price_low, of.price_high) = (price(2), price(9)),
                1 => of.price_high = Price::NONE,
                2 => (of.price_low, of.price_high) = (Price::NONE, Price::NONE),
                _ => of.price_high = price(20),
            }
            terms.insert(of.instrument.0, of);
            apply(Entry::Terms(of));
        }
        let mut fees = Vec::new();
        for charge in 1..=random.below(4) as u16 {
            let rule = FeeRule {
                side: [FeeSide::Both, FeeSide::Buy, FeeSide::Sell][random.below(3) as usize],
                event: [FeeEvent::Any, FeeEvent::Open, FeeEvent::Close, FeeEvent::CloseToday]
                    [random.below(4) as usize],
                kind: if random.one_in(2) { ChargeKind::Fee } else { ChargeKind::Tax },
                unit: [0, 7, 10_000_000][random.below(3) as usize],
                ..fee(
                    charge,
                    random.below(3) * 333_333,
                    i128::from(random.below(2)) * 1_000_000_007,
                    i128::from(random.below(2)) * 5 * ONE,
                )
            };
            fees.push(rule);
            apply(Entry::Fee(rule));
        }
        let mut margins = BTreeMap::new();
        for instrument in 1..=4 {
            let rate = 50_000_001 + random.below(100_000_000);
            margins.insert(instrument, rate);
            apply(Entry::Margin(margin(instrument, rate)));
        }
        let mut paid = Vec::new();
        let mut accounts = BTreeMap::new();
        for (index, (kind, method)) in KINDS.into_iter().enumerate() {
            let account = index as u32 + 1;
            accounts.insert(account, (kind, method));
            apply(open(account, kind, method));
            let amount = 20_000 + i128::from(random.below(200_000));
            apply(deposit(account, amount));
            paid.push(Event::Money(account, currency("CNY"), amount * ONE));
        }
        let rates = BTreeMap::from([(currency("CNY"), 1_000_000_000), (currency("USD"), 7_100_000_000)]);
        let mut model = Model::new(World { accounts, terms, fees, margin: margins, rates });
        paid.into_iter().for_each(|event| model.on(event));
        Life {
            random,
            desk,
            model,
            open: Vec::new(),
            numbers: 0,
            latest: None,
            trades: 0,
            day: 20_260_101,
            now: 0,
            is_honest,
            counts: BTreeMap::new(),
        }
    }

    /// Tells the model, which holds for a market that keeps to what was sent.
    fn note(&mut self, event: Event) {
        if self.is_honest {
            self.model.on(event);
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    pub(crate) fn step(&mut self) {
        if !self.is_honest && self.random.one_in(8) {
            self.lie();
        }
        match self.random.below(100) {
            0..40 => self.send(),
            40..75 => self.trade(),
            75..82 => self.end(),
            82..90 => self.replace(),
            90..94 => self.mark(),
            94..96 => self.transfer(),
            96..98 => self.limit(),
            98 => self.settle(),
            _ => self.switch(),
        }
    }

    /// The kill switches that have fallen are those of the model. Most are lifted soon: what is killed decides nothing else.
    pub(crate) fn kills(&mut self) {
        let fallen: Vec<_> =
            self.desk.take_kills().into_iter().map(|kill| model::subject(kill.scope, kill.subject)).collect();
        if !self.is_honest {
            return;
        }
        assert_eq!(fallen, std::mem::take(&mut self.model.fallen));
        fallen.iter().for_each(|_| self.count("kills"));
        for (scope, subject) in self.model.killed.clone() {
            if self.random.one_in(4) {
                let of = [
                    AccountScope::Account,
                    AccountScope::Group,
                    AccountScope::Strategy,
                    AccountScope::Platform,
                ][usize::from(scope) - 1];
                self.desk.apply(&change(of, subject, AccountAction::Revive, 0)).unwrap();
                self.note(Event::Kill((scope, subject), false));
            }
        }
    }
}
