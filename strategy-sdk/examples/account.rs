//! Prints how its account stands, once a second, and buys a lot at the ask as long as its money lasts.
//!
//! Its group in the platform file names the account: `accounts = [7]`.

use std::process::ExitCode;
use std::time::Duration;

use strategy_sdk::{
    AccountError, Context, NoParameters, OrderRequest, ParameterError, Quantity, Quote, Side, Strategy, Timer,
};

/// Buys while it can.
#[derive(Debug)]
struct Saver;

impl Strategy for Saver {
    type Parameters = NoParameters;

    fn create(_parameters: NoParameters) -> Result<Saver, ParameterError> {
        Ok(Saver)
    }

    fn start(&mut self, context: &mut Context) {
        context.every(Duration::from_secs(1), 0);
    }

    fn quote(&mut self, context: &mut Context, quote: &Quote) {
        let Some(instrument) = context.instrument(quote.instrument) else { return };
        let Some(ask) = quote.best_ask() else { return };
        if context.working_quantity(instrument.id, Side::Buy) > Quantity::ZERO {
            return;
        }
        // td checks it again: between this look and the order, others may have spent the money.
        let Ok(account) = context.account() else { return };
        let price = i128::from(ask.price.0) * i128::from(instrument.lot.0);
        if account.is_killed() || account.is_frozen() || account.available.wide() < price {
            return;
        }
        let order = OrderRequest::limit(Side::Buy, instrument.id, ask.price, instrument.lot).ioc();
        if let Err(error) = context.order(order) {
            context.log(error);
        }
    }

    fn timer(&mut self, context: &mut Context, _timer: Timer) {
        match context.account() {
            Ok(account) => context.log(format_args!(
                "account {}: balance {}, equity {}, available {}, frozen {}, margin {}, today {}, {} orders at work",
                account.account,
                account.balance,
                account.equity,
                account.available,
                account.frozen,
                account.margin,
                account.day_result,
                account.open_orders
            )),
            // Nothing to wait for: it says what to do.
            Err(error @ AccountError::NotKept) => {
                context.log(error);
                context.request_stop();
            }
            Err(error) => context.log(error),
        }
    }
}

fn main() -> ExitCode {
    strategy_sdk::main::<Saver>()
}
