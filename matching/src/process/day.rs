//! What an exchange does beside its requests: it opens, does what is due, publishes its market, and writes its state down.

use node::{Context, RunError, WriteError};
use wire::Nanos;

use super::feed::MarketMessage;
use super::keeper::{Keeper, Reached};
use super::{Books, Market, Matching, RETRY, begin, take_over};
use crate::recall::Recall;

impl Matching {
    /// Writes an exchange's market data. What finds no room is kept, and no request is taken meanwhile.
    pub(super) fn publish(&mut self) -> Result<(), RunError> {
        let (Books::Exchange(exchange), Some(market)) = (&mut self.books, &mut self.market_data) else {
            return Ok(());
        };
        post(market, exchange.feed.messages())?;
        exchange.feed.clear();
        Ok(())
    }

    /// Writes market data of a predecessor.
    pub(super) fn post(&mut self, messages: &[MarketMessage]) -> Result<(), RunError> {
        self.market_data.as_mut().map_or(Ok(()), |market| post(market, messages))
    }

    /// An exchange does what is due by now.
    pub(super) fn advance(&mut self, context: &mut Context) -> Result<(), RunError> {
        let is_open = self.listing_done && self.market == Market::Open && self.is_written();
        let Books::Exchange(exchange) = &mut self.books else { return Ok(()) };
        if !is_open {
            return Ok(());
        }
        while let Some(due) = exchange.exchange.due_by(self.now) {
            if let Some(keeper) = &mut self.keeper
                && !keeper.announce(self.request, due).map_err(|source| failed(keeper, source))?
            {
                context.wake_at(context.now() + RETRY);
                return Ok(());
            }
            exchange.pass(due, &mut self.answers);
        }
        if let Some(due) = exchange.timely(self.now) {
            context.wake_at(due);
        }
        self.answer(context)
    }

    /// The instruments of an exchange are listed, and its day began at `start`: it opens, or goes on.
    pub(super) fn open(&mut self, context: &mut Context, start: Nanos) -> Result<(), RunError> {
        let Books::Exchange(exchange) = &mut self.books else { return Ok(()) };
        if let Some(successor) = self.successor.take() {
            match successor.restore(exchange, start, self.executions.frames()) {
                Ok(restored) => {
                    self.request = restored.request;
                    self.answers = restored.answers;
                    if let Some(keeper) = &mut self.keeper {
                        keeper.resume(restored.base);
                    }
                    self.answer(context)?;
                    return self.post(&restored.market);
                }
                Err(error) => log::error!("the books cannot be found again: {error}"),
            }
            **exchange = successor.empty();
            if let Some(keeper) = &mut self.keeper {
                begin(keeper, self.generation)?;
            }
            let lost = Recall::read(successor.instance(), &self.executions.journal)?;
            self.request = lost.request;
            let market = self.market_data.as_ref();
            take_over(&mut self.books, lost, market, successor.instance(), &mut self.answers)?;
        }
        if let Books::Exchange(exchange) = &mut self.books {
            exchange.open(start, self.now, &mut self.answers);
        }
        Ok(())
    }

    /// Writes an exchange's state down: all of it when it must be, else some when there is time.
    pub(super) fn keep(&mut self, context: &mut Context, is_idle: bool) -> Result<(), RunError> {
        let is_open = self.listing_done && self.market == Market::Open && self.is_written();
        let reached = self.reached();
        let (Some(keeper), Books::Exchange(exchange), true) = (&mut self.keeper, &mut self.books, is_open)
        else {
            return Ok(());
        };
        let is_whole = if keeper.is_due(&reached) {
            keeper.end(exchange, &reached)
        } else if is_idle {
            keeper.idle(exchange, &reached)
        } else {
            Ok(false)
        };
        if is_whole.map_err(|source| failed(keeper, source))? {
            context.keep(self.orders, reached.request);
        } else if keeper.has_work(exchange, &reached) {
            // The next turn may have time for it.
            context.worked();
        }
        Ok(())
    }

    pub(super) fn reached(&self) -> Reached {
        Reached {
            request: self.request,
            execution: self.executions.position(),
            executions: self.executions.frames(),
            market: self.market_data.as_ref().map_or(0, node::Output::position),
        }
    }
}

fn post(market: &mut node::Output, messages: &[MarketMessage]) -> Result<(), RunError> {
    for message in messages {
        let posted = market.post_bytes(message.id(), message.instrument().0, message.bytes());
        posted.map_err(|source| RunError::Write { journal: market.journal.clone(), source })?;
    }
    Ok(())
}

fn failed(keeper: &Keeper, source: WriteError) -> RunError {
    RunError::Write { journal: keeper.journal().to_owned(), source }
}
