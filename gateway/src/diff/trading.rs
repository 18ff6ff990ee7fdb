//! Orders of DIFF sessions: to the core as HTTP's go, with the client's order_id as client id.

use std::collections::HashMap;
use std::rc::Rc;

use tokio::sync::oneshot;
use wire::{AccountId, InstrumentId, Text};

use super::asked::{self, InsertOrder, ReqLogin};
use super::{Handle, Place, rows};
use crate::core::ask::{Ask, Client, OrderName, Outcome, Submission, too_many};
use crate::http::auth::{Identity, Peer};
use crate::http::body::client_id;
use crate::http::{account, demand};
use crate::view::OrderView;

/// For whom a session trades for an account.
pub(super) struct Login {
    pub(super) identity: Identity,
    /// From off this host, without a certificate, it sees only.
    may_enter: bool,
}

/// Who logs in for an account.
pub(super) fn login(place: &Place, asked: &ReqLogin, peer: &Peer) -> Result<(u32, Login), String> {
    let shared = &place.shared;
    let number = asked::account(&asked.user_name).ok_or_else(|| {
        format!(
            "`user_name` is `{}`; it must be the number of an account, without leading zeros",
            asked.user_name
        )
    })?;
    let identity = shared.guard.identify(&asked.password).map_err(|problem| problem.detail().to_owned())?;
    account(shared, &identity, Some(number)).map_err(|problem| problem.detail().to_owned())?;
    Ok((number, Login { identity, may_enter: peer.is_local || peer.has_certificate }))
}

/// The account that is meant, and who is logged in for it.
fn meant<'a>(logins: &'a HashMap<u32, Login>, user_id: &str) -> Result<(u32, &'a Login), String> {
    let number = match (user_id, logins.len()) {
        ("", 1) => logins.keys().next().copied(),
        _ => asked::account(user_id),
    };
    let found = number.and_then(|number| logins.get(&number).map(|login| (number, login)));
    found.ok_or_else(|| format!("nobody is logged in for `{user_id}`: req_login goes first"))
}

fn check(place: &Place, login: &Login, may: bool, what: &str, account: u32) -> Result<(), String> {
    let text = |problem: crate::http::problem::Problem| problem.detail().to_owned();
    demand(may, what, &login.identity).map_err(text)?;
    if !login.may_enter {
        return Err("from off the host, order entry needs a client certificate".to_owned());
    }
    place.shared.guard.rate_of(account).map_err(text)
}

/// The session hears with its next answer how an order stands: as it is known by now, which may be more than the core's answer
/// has, but never less than the session has heard.
fn tell_order(place: &Place, handle: &Handle, order: &OrderView) {
    let mut board = place.board.borrow_mut();
    board.order(order);
    let book = board.accounts.get(&order.account);
    if let Some(entry) = book.and_then(|book| book.orders.get(&rows::order_id(order).into_owned())) {
        handle.session.borrow_mut().tell(order.account, "orders", entry);
    }
}

fn notify(place: &Place, handle: &Handle, level: &str, content: &str) {
    handle.session.borrow_mut().notify(place.now(), level, content);
    place.tell(handle);
}

fn refuse(place: &Place, handle: &Handle, account: Option<u32>, asked: &InsertOrder, why: &str) {
    // Never in the place of an order that is there.
    let is_known = account.and_then(|account| {
        place.board.borrow().accounts.get(&account).map(|book| book.ids.contains_key(&asked.order_id))
    });
    if let Some(account) = account.filter(|_| is_known != Some(true)) {
        let entry = rows::entry(&asked.order_id, &rows::never_sent(account, asked, why));
        handle.session.borrow_mut().tell(account, "orders", &entry);
    }
    notify(place, handle, "ERROR", &format!("order {}: {why}", asked.order_id));
}

pub(super) fn insert(
    place: &Rc<Place>,
    handle: &Rc<Handle>,
    logins: &HashMap<u32, Login>,
    peer: &Peer,
    asked: Box<InsertOrder>,
) {
    let (account, login) = match meant(logins, &asked.user_id) {
        Ok(meant) => meant,
        Err(why) => return refuse(place, handle, None, &asked, &why),
    };
    if rows::is_id(&asked.order_id) {
        // It may be an order's that is there, or will be.
        let why = "`order_id` has the form of the platform's own ids: choose another one";
        return notify(place, handle, "ERROR", &format!("order {}: {why}", asked.order_id));
    }
    let submission = match submission(place, login, peer, account, &asked) {
        Ok(submission) => submission,
        Err(why) => return refuse(place, handle, Some(account), &asked, &why),
    };
    let (reply, answer) = oneshot::channel();
    if !place.shared.door.put(Ask::Submit(Box::new(submission), reply)) {
        return refuse(place, handle, Some(account), &asked, "not sent: the gateway is behind");
    }
    let (place, handle) = (Rc::clone(place), Rc::clone(handle));
    tokio::task::spawn_local(async move {
        match tokio::time::timeout(place.shared.patience(), answer).await {
            Ok(Ok(Outcome::Order(order))) => place.board.borrow_mut().order(&order),
            // It was sent before: this session hears how it stands, whatever it has seen.
            Ok(Ok(Outcome::Again(order) | Outcome::Refused(order, _))) => tell_order(&place, &handle, &order),
            Ok(Ok(Outcome::Differs(_))) => {
                let why = "this order_id was used for an order that differs; nothing was sent";
                notify(&place, &handle, "ERROR", &format!("order {}: {why}", asked.order_id));
            }
            Ok(Ok(Outcome::Full)) => {
                refuse(&place, &handle, Some(account), &asked, "not sent: td is behind");
            }
            Ok(Ok(Outcome::TooMany(most))) => {
                refuse(&place, &handle, Some(account), &asked, &too_many(most));
            }
            _ => {
                let why =
                    "what became of it is not known; the same again with its order_id is sent once at most";
                notify(&place, &handle, "WARNING", &format!("order {}: {why}", asked.order_id));
            }
        }
        place.tell(&handle);
    });
}

fn submission(
    place: &Place,
    login: &Login,
    peer: &Peer,
    account: u32,
    asked: &InsertOrder,
) -> Result<Submission, String> {
    let text = |problem: crate::http::problem::Problem| problem.detail().to_owned();
    let client_id = client_id(&asked.order_id).map_err(text)?;
    if client_id.is_empty() {
        return Err("`order_id` is empty".to_owned());
    }
    let name = format!("{}.{}", asked.exchange_id, asked.instrument_id);
    let instrument =
        place.board.borrow().number(&name).ok_or_else(|| format!("there is no instrument `{name}`"))?;
    let order = asked.order(InstrumentId(instrument), AccountId(account))?;
    check(place, login, login.identity.token.role.trades(), "send orders", account)?;
    Ok(Submission {
        client: Client { token: login.identity.number, address: Text::cut(&peer.address) },
        client_id,
        order,
        terms: Vec::new(),
        is_retry: false,
        at_once: true,
    })
}

pub(super) fn cancel(
    place: &Rc<Place>,
    handle: &Rc<Handle>,
    logins: &HashMap<u32, Login>,
    user_id: &str,
    order_id: String,
) {
    let asked = meant(logins, user_id).and_then(|(account, login)| {
        check(place, login, login.identity.token.role.cancels(), "cancel orders", account)?;
        let known = {
            let board = place.board.borrow();
            board.accounts.get(&account).and_then(|book| book.ids.get(&order_id)).map(|(id, _)| *id)
        };
        let order = known.map_or_else(|| rows::called(account, &order_id), |id| Ok(OrderName::Id(id)))?;
        Ok((order, vec![account]))
    });
    let (order, scope) = match asked {
        Ok(asked) => asked,
        Err(why) => return notify(place, handle, "ERROR", &format!("cancel of {order_id}: {why}")),
    };
    let (reply, answer) = oneshot::channel();
    if !place.shared.door.put(Ask::Cancel { order, scope: Some(scope), reply }) {
        return notify(
            place,
            handle,
            "ERROR",
            &format!("cancel of {order_id}: not sent, the gateway is behind"),
        );
    }
    let (place, handle) = (Rc::clone(place), Rc::clone(handle));
    tokio::task::spawn_local(async move {
        let why = match tokio::time::timeout(place.shared.patience(), answer).await {
            Ok(Ok(Outcome::Order(_))) => return,
            Ok(Ok(Outcome::Refused(_, reason))) => format!("refused: {reason}"),
            Ok(Ok(Outcome::Ended(order))) => {
                tell_order(&place, &handle, &order);
                "the order has ended".to_owned()
            }
            Ok(Ok(Outcome::NoSuchOrder)) => "there is no such order".to_owned(),
            Ok(Ok(Outcome::Full)) => "not sent: td is behind".to_owned(),
            _ => "what became of it is not known".to_owned(),
        };
        notify(&place, &handle, "WARNING", &format!("cancel of {order_id}: {why}"));
    });
}
