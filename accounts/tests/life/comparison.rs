//! The whole against the model.

use accounts::Desk;
use wire::*;

use super::Life;

impl Life {
    /// The whole against the model.
    pub(crate) fn compare(&mut self) {
        self.desk.audit().unwrap();
        let restored = Desk::restore(&self.desk.snapshot()).unwrap();
        assert!(restored.snapshot() == self.desk.snapshot(), "restored, it is another");
        self.desk = restored;
        if !self.is_honest {
            return;
        }
        let model = &self.model;
        for (account, (kind, method)) in &model.world.accounts {
            let name = format!("{kind} {method}");
            for view in self.desk.purses(StrategyId(1), AccountId(*account)) {
                let totals = view.totals;
                let kept = [
                    view.balance,
                    totals.realised,
                    totals.variation,
                    totals.invested,
                    totals.fees + totals.taxes,
                    view.margin,
                ];
                assert_eq!(kept, model.money(*account, view.currency), "{name}");
                assert_eq!(view.frozen, model.reserved(*account, view.currency), "reservations of {name}");
                assert_eq!(view.gross, model.gross(*account, view.currency), "gross of {name}");
            }
            let view = self.desk.account(AccountId(*account)).unwrap();
            assert_eq!(view.available, model.available(*account), "available of {name}");
            assert_eq!(view.day_result, model.day_result(*account), "the day of {name}");
            for instrument in model.world.terms.keys() {
                let Some(row) =
                    self.desk.position(StrategyId(1), AccountId(*account), InstrumentId(*instrument))
                else {
                    continue;
                };
                let position = model.position(*account, *instrument);
                let lots = [row.long_today, row.long_yesterday, row.short_today, row.short_yesterday];
                let wanted = [(0, false), (0, true), (1, false), (1, true)]
                    .map(|(side, old)| position.lots(side, old));
                assert_eq!(lots, wanted, "lots of {name} in {instrument}");
                assert_eq!((row.long_cost, row.short_cost), (position.cost(0), position.cost(1)), "{name}");
            }
        }
        self.count("comparisons");
    }
}
