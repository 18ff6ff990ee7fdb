//! Money, prices, limits and switches, and the end of a day.

use std::collections::BTreeMap;

use accounts::{Applied, Entry, Refusal};
use wire::*;

use super::Life;
use crate::model::{self, Event, World};
use crate::support::*;

impl Life {
    pub(super) fn mark(&mut self) {
        let instrument = InstrumentId(1 + self.random.below(4) as u32);
        let price = Price((1 + self.random.below(15) as i64) * Price::ONE);
        self.desk.mark(instrument, price);
        self.note(Event::Mark(instrument, price));
    }

    pub(super) fn transfer(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let amount = 1 + i128::from(self.random.below(3_000)) * ONE;
        let currency = currency(if self.random.one_in(2) { "CNY" } else { "USD" });
        let action = if self.random.one_in(2) { AccountAction::Deposit } else { AccountAction::Withdraw };
        let Entry::Change(change) = change(AccountScope::Account, account, action, amount) else { return };
        let before = self.desk.snapshot();
        let signed = if action == AccountAction::Deposit { amount } else { -amount };
        let may = signed > 0 || self.may_withdraw(account, currency, amount);
        let applied = self.desk.apply(&Entry::Change(AccountChange { currency, ..change }));
        assert!(!self.is_honest || applied.is_ok() == may, "{applied:?} for {signed} {currency}");
        match applied {
            Ok(_) => self.note(Event::Money(account, currency, signed)),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Insufficient);
                assert!(self.desk.snapshot() == before, "a refused entry changed something");
                self.count("withdrawals refused");
            }
        }
    }

    fn may_withdraw(&self, account: u32, currency: Currency, amount: i128) -> bool {
        let needed = -model::convert(-amount, self.model.world.rates[&currency], World::HOME);
        self.model.money(account, currency)[0] >= amount && self.model.available(account) >= needed
    }

    pub(super) fn settle(&mut self) {
        self.day += 1;
        let mut prices = BTreeMap::new();
        for instrument in 1..=4 {
            let at = 1 + self.random.below(15) as i64;
            prices.insert(instrument, price(at));
        }
        let rows: Vec<(InstrumentId, i64)> =
            prices.iter().map(|(id, price)| (InstrumentId(*id), price.0 / Price::ONE)).collect();
        let applied = settle(&mut self.desk, self.day, &rows).unwrap();
        let Applied::Settled(settlement) = applied else { panic!("not settled") };
        for row in &settlement.statements {
            assert_eq!(row.opening + row.day_totals.balance(), row.closing, "{row}");
        }
        let again = self.desk.snapshot();
        assert_eq!(settle(&mut self.desk, self.day, &[]), Ok(Applied::Already));
        assert!(again == self.desk.snapshot(), "a day that is settled twice");
        self.note(Event::Settle(prices));
        self.count("settlements");
    }

    /// A limit of any scope is set or lifted, or a check switched.
    pub(super) fn limit(&mut self) {
        if !self.is_honest {
            return;
        }
        let (scope, number) = [
            (AccountScope::Account, 1 + self.random.below(9) as u32),
            (AccountScope::Group, 1),
            (AccountScope::Strategy, 1 + self.random.below(2) as u32),
            (AccountScope::Platform, 0),
        ][self.random.below(4) as usize];
        let wide = if scope == AccountScope::Account { 1 } else { 4 };
        let (kind, most) = [
            (LimitKind::Position, self.random.below(500) * wide),
            (LimitKind::GrossNotional, self.random.below(20_000) * wide),
            (LimitKind::OrderQuantity, self.random.below(600)),
            (LimitKind::OrderNotional, self.random.below(20_000)),
            (LimitKind::OpenOrders, self.random.below(6) * wide),
            (LimitKind::OrderRate, self.random.below(100)),
            (LimitKind::MessageRate, self.random.below(150)),
            (LimitKind::RunawayRate, self.random.below(150)),
            (LimitKind::RejectRate, self.random.below(50)),
            (LimitKind::Loss, self.random.below(20_000)),
            (LimitKind::PriceBand, 0),
            (LimitKind::SelfTrade, 0),
            (LimitKind::Money, 0),
        ][self.random.below(13) as usize];
        let is_switch = matches!(kind, LimitKind::PriceBand | LimitKind::SelfTrade | LimitKind::Money);
        let is_off = self.random.one_in(2);
        let (scope, number) = match kind {
            // The desk adds losses of groups up at surveys only.
            LimitKind::Loss => (AccountScope::Account, 1 + self.random.below(9) as u32),
            _ if is_switch => (AccountScope::Platform, 0),
            _ => (scope, number),
        };
        let of_one = kind == LimitKind::Position && self.random.one_in(2);
        let entry = AccountLimit {
            change: match (is_switch, is_off) {
                (true, true) => LimitChange::Disable,
                (true, false) => LimitChange::Enable,
                (false, true) => LimitChange::Lift,
                (false, false) => LimitChange::Set,
            },
            burst: 1 + self.random.below(20) as u32,
            instrument: InstrumentId(if of_one { 1 + self.random.below(4) as u32 } else { 0 }),
            ..limit(scope, number, kind, most)
        };
        assert_eq!(self.desk.apply(&Entry::Limit(entry)), Ok(Applied::Done), "{entry:?}");
        self.count("limits");
        self.note(Event::Limit(entry));
    }

    /// Kills and revives, freezes and unfreezes; what has fallen by itself is lifted now and then.
    pub(super) fn switch(&mut self) {
        let account = 1 + self.random.below(9) as u32;
        let killed = model::subject(AccountScope::Account, account);
        if !self.model.killed.contains(&killed) {
            self.desk.apply(&change(AccountScope::Account, account, AccountAction::Kill, 0)).unwrap();
            self.note(Event::Kill(killed, true));
            self.send();
            self.desk.apply(&change(AccountScope::Account, account, AccountAction::Revive, 0)).unwrap();
            self.note(Event::Kill(killed, false));
        }
        self.desk.apply(&change(AccountScope::Account, account, AccountAction::Freeze, 0)).unwrap();
        self.note(Event::Freeze(account, true));
        self.send();
        self.desk.apply(&change(AccountScope::Account, account, AccountAction::Unfreeze, 0)).unwrap();
        self.note(Event::Freeze(account, false));
    }
}
