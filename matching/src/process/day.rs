//! What is done beside requests: an exchange opens, does what is due and publishes its market; the state of the books is
//! written down, and found again.

use node::{Context, RunError, WriteError};
use wire::Nanos;

use super::feed::MarketMessage;
use super::images::SavedError;
use super::keeper::{Keeper, Kept, Reached};
use super::replay::RestoreError;
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
        let Books::Exchange(exchange) = &mut self.books else { return self.go_on(context) };
        if let Some(successor) = self.successor.take() {
            match successor.restore(exchange, start, self.executions.frames()) {
                Ok(restored) => {
                    self.request = restored.request;
                    self.answers = restored.answers;
                    if let Some(keeper) = &mut self.keeper {
                        keeper.resume(&**exchange, &restored.places);
                    }
                    self.answer(context)?;
                    return self.post(&restored.market);
                }
                Err(error) => log_lost(&error),
            }
            **exchange = successor.empty();
            if let Some(keeper) = &mut self.keeper {
                begin(keeper, self.generation)?;
            }
            let lost = Recall::read(successor.instance(), &self.executions.journal)?;
            self.request = lost.request;
            let market = self.market_data.as_ref();
            take_over(&mut self.books, lost, market, successor.instance(), &mut self.answers)?;
            self.lost = self.answers.len() as u64;
            self.count_lost(context);
        }
        if let Books::Exchange(exchange) = &mut self.books {
            exchange.open(start, self.now, &mut self.answers);
        }
        Ok(())
    }

    /// The instruments of a recorded or quoted market are listed: the successor of a killed process goes on with its books.
    fn go_on(&mut self, context: &Context) -> Result<(), RunError> {
        let Books::Recorded(recorded) = &mut self.books else { return Ok(()) };
        let Some(successor) = self.successor.take() else { return Ok(()) };
        match successor.restore_beside(recorded, self.executions.frames()) {
            Ok(resumed) => {
                (self.request, self.answers) = (resumed.request, resumed.answers);
                if let Some(keeper) = &mut self.keeper {
                    keeper.resume(&**recorded, &resumed.places);
                }
                self.anomalies = recorded.engine.anomalies().total();
                if let Some(way) = &mut self.way {
                    let latest = recorded.engine.latest();
                    way.resume(latest, recorded.engine.now() >= latest, resumed.waiting);
                }
                self.answer(context)?;
                self.say_when_due(context);
                return Ok(());
            }
            Err(error) => log_lost(&error),
        }
        **recorded = successor.empty_beside(recorded.fill());
        if let Some(keeper) = &mut self.keeper {
            begin(keeper, self.generation)?;
        }
        let lost = Recall::read(successor.instance(), &self.executions.journal)?;
        self.request = lost.request;
        take_over(&mut self.books, lost, None, successor.instance(), &mut self.answers)?;
        self.lost = self.answers.len() as u64;
        self.count_lost(context);
        Ok(())
    }

    /// Writes the state down: all of it when it must be, else some when there is time.
    pub(super) fn keep(&mut self, context: &mut Context, is_idle: bool) -> Result<(), RunError> {
        if self.market == Market::Closed {
            // Nobody finds the books of a closed market again: what was kept for that is needed no more.
            [Some(self.orders), self.heard]
                .into_iter()
                .flatten()
                .for_each(|input| context.keep(input, u64::MAX));
            return Ok(());
        }
        let is_open = self.listing_done && self.is_written();
        let reached = self.reached();
        let (Some(keeper), true) = (&mut self.keeper, is_open) else { return Ok(()) };
        if self.is_stepped && !keeper.is_due(&reached) {
            return Ok(());
        }
        let kept = match &mut self.books {
            Books::Exchange(exchange) => keep(keeper, &mut **exchange, &reached, is_idle),
            Books::Recorded(recorded) => keep(keeper, &mut **recorded, &reached, is_idle),
        };
        match kept.map_err(|source| failed(keeper, source))? {
            Progress::Whole => {
                context.keep(self.orders, reached.request);
                if let Some(heard) = self.heard {
                    context.keep(heard, reached.market);
                }
            }
            // The next turn may have time for it.
            Progress::Part => context.worked(),
            Progress::Nothing => {}
        }
        if !keeper.has_state() {
            // It found no room, and nothing is taken without it.
            context.wake_at(context.now() + RETRY);
        }
        Ok(())
    }

    pub(super) fn reached(&self) -> Reached {
        Reached {
            request: self.request,
            execution: self.executions.position(),
            executions: self.executions.frames(),
            market: match &self.books {
                Books::Recorded(recorded) => recorded.read,
                Books::Exchange(_) => self.market_data.as_ref().map_or(0, node::Output::position),
            },
        }
    }
}

/// Why the books begin without orders.
fn log_lost(error: &RestoreError) {
    match error {
        RestoreError::Saved(SavedError::None(_)) => {
            log::info!("{error}: the process before has taken nothing")
        }
        error => log::error!("the books cannot be found again: {error}"),
    }
}

fn post(market: &mut node::Output, messages: &[MarketMessage]) -> Result<(), RunError> {
    for message in messages {
        let posted = market.post_bytes(message.id(), message.instrument().0, message.bytes());
        posted.map_err(|source| RunError::Write { journal: market.journal.clone(), source })?;
    }
    Ok(())
}

/// How far the state was written down.
enum Progress {
    /// There is an end.
    Whole,
    /// There is more to write.
    Part,
    Nothing,
}

fn keep<K: Kept>(
    keeper: &mut Keeper,
    kept: &mut K,
    reached: &Reached,
    is_idle: bool,
) -> Result<Progress, WriteError> {
    let is_whole = if keeper.is_due(reached) {
        keeper.end(kept, reached)?
    } else {
        is_idle && keeper.idle(kept, reached)?
    };
    Ok(match is_whole {
        true => Progress::Whole,
        false if keeper.has_work(kept, reached) => Progress::Part,
        false => Progress::Nothing,
    })
}

fn failed(keeper: &Keeper, source: WriteError) -> RunError {
    RunError::Write { journal: keeper.journal().to_owned(), source }
}
