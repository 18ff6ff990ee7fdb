//! Orders of FIX sessions: to the core as HTTP's go, with the ClOrdID as client id.

use tokio::sync::oneshot;
use wire::terms::{Term, TermError};
use wire::{AccountId, InstrumentId, Price, Quantity, Text};

use super::codec::{Fields, Message};
use super::link::Link;
use super::status::{Answer, UNKNOWN, Unknown};
use super::store::Change;
use super::words::{self, Wrong, need, parse, quantity};
use crate::core::ask::{Ask, Client, OrderName, Outcome, Reply, Scope, Submission, too_many};
use crate::http::body::client_id;
use crate::http::{account, demand};
use crate::view::OrderView;

/// What an order gets that found no room.
const FULL: &str = "not sent: td is behind";

impl Link {
    pub(super) fn say(&self, kind: &'static str, fields: Fields) {
        let _ = self.answers.send(Answer::message(kind, fields));
    }

    pub(super) fn exec_id(&self) -> String {
        format!("g-{:x}-{:x}", self.place.now(), self.store.next_out)
    }

    /// The account of a message: its own, or the session's.
    pub(super) fn account(&self, message: &Message) -> Result<u32, String> {
        let asked = match message.get(1) {
            Some(text) => {
                Some(text.parse().map_err(|_| format!("Account (1) is `{text}`; it must be a number"))?)
            }
            None => self.entry.account,
        };
        let account = account(&self.place.shared, &self.identity, asked);
        account.map(|account| account.0).map_err(|problem| problem.detail().to_owned())
    }

    fn check(&self, may: bool, what: &str, account: u32) -> Result<(), String> {
        demand(may, what, &self.identity)
            .and_then(|()| self.place.shared.guard.rate_of(account))
            .map_err(|problem| problem.detail().to_owned())
    }

    /// Asks the core; `answer` makes the answer to the session of the outcome.
    pub(super) fn ask<T: 'static>(
        &self,
        make: impl FnOnce(Reply<T>) -> Ask,
        answer: impl FnOnce(Option<T>) -> Answer + 'static,
    ) -> bool {
        let (reply, outcome) = oneshot::channel();
        if !self.place.shared.door.put(make(reply)) {
            return false;
        }
        let (answers, patience) = (self.answers.clone(), self.place.shared.patience());
        tokio::task::spawn_local(async move {
            let outcome = tokio::time::timeout(patience, outcome).await;
            // Who has gone meanwhile hears of it by td's reports.
            let _ = answers.send(answer(outcome.ok().and_then(Result::ok)));
        });
        true
    }
}

/// A NewOrderSingle.
pub(super) fn new_order(link: &mut Link, message: &Message) -> Result<(), Wrong> {
    let id = need(message, 11)?.to_owned();
    let symbol = need(message, 55)?;
    let number = link.place.market.borrow().number(symbol);
    // What is wrong with the message is said before what is wrong with the order.
    words::order(message, InstrumentId(number.unwrap_or_default()), AccountId(0))?;
    let terms = words::terms(message)?;
    let refuse = |link: &Link, reason: u32, text: &str| {
        let fields = words::refused(message, &link.exec_id(), reason, text, link.place.now());
        link.say("8", fields);
    };
    let Some(number) = number else {
        refuse(link, 1, &format!("there is no instrument `{symbol}`"));
        return Ok(());
    };
    let name = match client_id(&id) {
        Ok(name) => name,
        Err(_) => {
            refuse(link, 99, "ClOrdID (11) has up to 48 printable ASCII characters, without spaces, / and %");
            return Ok(());
        }
    };
    let account = match link.account(message) {
        Ok(account) => account,
        Err(text) => {
            refuse(link, 15, &text);
            return Ok(());
        }
    };
    if let Err(text) = link.check(link.identity.token.role.trades(), "send orders", account) {
        refuse(link, 99, &text);
        return Ok(());
    }
    if link.store.root(&id) != id {
        refuse(link, 6, "this ClOrdID is a cancel's or a replace's");
        return Ok(());
    }
    let submission = Submission {
        client: Client { token: link.identity.number, address: Text::cut(&link.peer.address) },
        client_id: name,
        order: words::order(message, InstrumentId(number), AccountId(account))?,
        terms,
        // A client that sends again says so.
        is_retry: message.is(43) || message.is(97),
        at_once: true,
    };
    let (now, exec_id) = (link.place.now(), link.exec_id());
    let refused = |reason: u32, text: &str| words::refused(message, &exec_id, reason, text, now);
    let (differs, full) =
        (refused(6, "this ClOrdID was used for an order that differs; nothing was sent"), refused(99, FULL));
    let seen = link.place.last().1;
    let unknown = Fields::default()
        .with(45, message.sequence())
        .with(372, 'D')
        .with(379, &id)
        .with(380, 4)
        .with(58, "what became of it is not known; the same again with its ClOrdID is sent once at most");
    let is_asked = link.ask(
        |reply| Ask::Submit(Box::new(submission), reply),
        move |outcome| {
            match outcome {
                // td's report says it.
                Some(Outcome::Order(_)) => Answer::default(),
                Some(Outcome::Again(order) | Outcome::Refused(order, _)) => {
                    Answer::statuses(vec![order], None, seen)
                }
                Some(Outcome::Differs(_)) => Answer::message("8", differs),
                Some(Outcome::Term(term, error)) => {
                    Answer::message("8", Fields(full.0.replace(FULL, &cannot(term, error))))
                }
                Some(Outcome::Full) => Answer::message("8", full),
                Some(Outcome::TooMany(most)) => {
                    Answer::message("8", Fields(full.0.replace(FULL, &too_many(most))))
                }
                _ => Answer::message("j", unknown),
            }
        },
    );
    if !is_asked {
        refuse(link, 99, "not sent: the gateway is behind");
    }
    Ok(())
}

/// Why an order cannot have this term so.
fn cannot(term: &Term, error: TermError) -> String {
    format!("{} ({}): {error}; nothing was sent", term.name, term.tag)
}

/// An OrderCancelRequest or an OrderCancelReplaceRequest.
pub(super) fn change(link: &mut Link, message: &Message, is_replace: bool) -> Result<(), Wrong> {
    let (id, before) = (need(message, 11)?.to_owned(), need(message, 41)?.to_owned());
    words::side(message)?;
    let (price, lots, terms) = match is_replace {
        true => {
            (parse::<Price>(message, 44)?, Some(Quantity(quantity(message, 38)?)), words::terms(message)?)
        }
        false => (None, None, Vec::new()),
    };
    let root = link.store.root(&before).to_owned();
    let now = link.place.now();
    let refuse = {
        let (id, before) = (id.clone(), before.clone());
        move |order: Option<&OrderView>, reason: u32, text: &str| {
            words::cancel_refused((&id, &before), order, is_replace, (reason, text), now)
        }
    };
    let prepared = link.account(message).and_then(|account| {
        let role = link.identity.token.role;
        let (may, what) =
            if is_replace { (role.trades(), "change orders") } else { (role.cancels(), "cancel orders") };
        link.check(may, what, account)?;
        let name = client_id(&root).map_err(|_| "OrigClOrdID (41) is no ClOrdID of an order".to_owned())?;
        client_id(&id).map_err(|_| "ClOrdID (11) has up to 48 printable ASCII characters".to_owned())?;
        if id == before || id == root {
            return Err("ClOrdID (11) must differ from OrigClOrdID (41)".to_owned());
        }
        Ok((AccountId(account), name))
    });
    let (account, name) = match prepared {
        Ok(prepared) => prepared,
        Err(text) => {
            link.say("9", refuse(None, 99, &text));
            return Ok(());
        }
    };
    let noted = link.store.change(Change { id: id.clone(), before: before.clone(), root, is_replace });
    match noted {
        Ok(true) => {}
        Ok(false) => return Ok(()),
        Err(error) => {
            log::error!("FIX: the state of {} cannot be written: {error}", link.entry.client);
            link.say("9", refuse(None, 99, "the state of this session cannot be written"));
            return Ok(());
        }
    }
    let (order, scope) = (OrderName::Client(account, name), Some(vec![account.0]));
    let (refusal, dropped) = (refuse.clone(), id.clone());
    let asked = (if is_replace { "G" } else { "F" }, message.sequence(), id.clone());
    let is_asked = link.ask(
        |reply| match is_replace {
            true => Ask::Replace { order, scope, price, quantity: lots, terms, reply },
            false => Ask::Cancel { order, scope, reply },
        },
        move |outcome| {
            let mut behind = 0;
            let fields = match outcome {
                // td's report says it, or will.
                Some(Outcome::Order(_) | Outcome::Refused(..)) | None => return Answer::default(),
                Some(Outcome::Ended(order)) if order.status == UNKNOWN => {
                    let unknown = Some(Box::new(Unknown { order, asked }));
                    return Answer { dropped: Some(dropped), unknown, ..Answer::default() };
                }
                Some(Outcome::Ended(order)) => {
                    behind = order.sequence;
                    refusal(Some(&order), 0, "the order has ended")
                }
                Some(Outcome::NoSuchOrder) => refusal(None, 1, "there is no such order"),
                Some(Outcome::Full) => refusal(None, 99, "not sent: td is behind"),
                Some(Outcome::Term(term, error)) => refusal(None, 99, &cannot(term, error)),
                Some(_) => {
                    refusal(None, 99, "no order of this name is remembered, but the oldest are forgotten")
                }
            };
            Answer { dropped: Some(dropped), behind, ..Answer::message("9", fields) }
        },
    );
    if !is_asked {
        let fields = refuse(None, 99, "not sent: the gateway is behind");
        let _ = link.answers.send(Answer { dropped: Some(id), ..Answer::message("9", fields) });
    }
    Ok(())
}

/// An OrderMassCancelRequest.
pub(super) fn mass_cancel(link: &mut Link, message: &Message) -> Result<(), Wrong> {
    let id = need(message, 11)?.to_owned();
    let kind = need(message, 530)?.to_owned();
    let side = message.get(54).map(|_| words::side(message)).transpose()?;
    let now = link.place.now();
    let answer = {
        let (id, kind, exec_id) = (id, kind.clone(), link.exec_id());
        // FIX 4.4 does not have this field: its engines refuse the message.
        let report_id = link.is_fixt().then(|| exec_id.clone());
        move |response: &str, refused: Option<(u32, &str)>, met: u64| {
            Fields::default()
                .with(11, &id)
                .with(37, &exec_id)
                .may(1369, report_id.as_ref())
                .with(530, &kind)
                .with(531, response)
                .may(532, refused.map(|(reason, _)| reason))
                .with(533, met)
                .with(60, crate::time::utc(now))
                .may(58, refused.map(|(_, text)| text))
        }
    };
    let symbol = message.get(55).map(str::to_owned);
    let prepared = match kind.as_str() {
        "1" => {
            let symbol = symbol.ok_or_else(|| Wrong::missing(55))?;
            let number = link.place.market.borrow().number(&symbol);
            number
                .map(|number| Some(InstrumentId(number)))
                .ok_or((1, format!("there is no instrument `{symbol}`")))
        }
        "7" => Ok(None),
        _ => Err((0, "MassCancelRequestType (530) must be 1 or 7".to_owned())),
    };
    let prepared = prepared.and_then(|instrument| {
        let account = link.account(message).map_err(|text| (99, text))?;
        link.check(link.identity.token.role.cancels(), "cancel orders", account)
            .map_err(|text| (99, text))?;
        Ok((instrument, Some(AccountId(account))))
    });
    let (instrument, account) = match prepared {
        Ok(prepared) => prepared,
        Err((reason, text)) => {
            link.say("r", answer("0", Some((reason, &text)), 0));
            return Ok(());
        }
    };
    let made = answer.clone();
    let is_asked = link.ask(
        |reply| Ask::CancelAll { scope: Scope { account, instrument, side }, reply },
        move |outcome| {
            let fields = match outcome {
                Some(Outcome::CancelsAll(met)) => made(&kind, None, met),
                Some(_) => made("0", Some((99, "not sent: td is behind")), 0),
                None => made("0", Some((99, "what became of it is not known")), 0),
            };
            Answer::message("r", fields)
        },
    );
    if !is_asked {
        link.say("r", answer("0", Some((99, "not sent: the gateway is behind")), 0));
    }
    Ok(())
}
