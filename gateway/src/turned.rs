//! The core without the threads around it, turned by its owner, and clients without connections: for proofs that a successor
//! completes what a killed gateway has left.

use std::sync::Arc;

use node::{Node, RunError, Runner, Steps, Stepwise};
use tokio::sync::oneshot;
use topology::GatewaySection;
use wire::{AccountId, NewOrder, Price, Quantity, Text};

use crate::core::Core;
use crate::core::ask::{Ask, Client, Door, OrderName, Outcome, Scope, Submission};
use crate::push::{Hub, Known};

/// The number of the token that all clients show.
const TOKEN: u64 = 1;

/// The core of this node, which serves nothing but these clients.
///
/// # Errors
/// [`RunError`].
pub fn steps(mut node: Node) -> Result<(Box<dyn Steps>, Clients), RunError> {
    let GatewaySection { config, .. } = node.section()?;
    let (door, hub) = (Door::new(node.handle()), Hub::new(Arc::default(), Known::default()));
    let core = Core::new(&mut node, hub, door.clone(), config.cancel_on_stop, Arc::default())?;
    Ok((Stepwise.run(node, core)?, Clients { door }))
}

/// Clients of one process of the gateway: what they ask is taken in its next turn.
#[derive(Clone, Debug)]
pub struct Clients {
    door: Door,
}

/// An answer that may come.
#[derive(Debug)]
pub struct Answer(oneshot::Receiver<Outcome>);

impl Answer {
    /// True when it is there, or never comes because the gateway has ended.
    pub fn is_over(&mut self) -> bool {
        !matches!(self.0.try_recv(), Err(oneshot::error::TryRecvError::Empty))
    }
}

impl Clients {
    /// A connection whose orders end with it.
    pub fn connect(&self, session: u64) {
        self.door.put(Ask::Begin(session, TOKEN));
    }

    /// It ends.
    pub fn disconnect(&self, session: u64) {
        self.door.put(Ask::End(session));
    }

    /// An order under the client's own name, of a connection or of none. It may have been sent before.
    pub fn order(&self, session: Option<u64>, name: &str, order: &NewOrder) -> Answer {
        let submission = Box::new(Submission {
            client: Client { token: TOKEN, address: Text::cut("turned") },
            client_id: Text::cut(name),
            order: *order,
            terms: Vec::new(),
            is_retry: true,
            at_once: false,
        });
        self.ask(|reply| match session {
            Some(session) => Ask::SubmitIn(session, submission, reply),
            None => Ask::Submit(submission, reply),
        })
    }

    /// Another price and quantity for an order.
    pub fn replace(&self, account: AccountId, name: &str, price: Price, quantity: Quantity) -> Answer {
        let order = OrderName::Client(account, Text::cut(name));
        let (price, quantity) = (Some(price), Some(quantity));
        self.ask(|reply| Ask::Replace { order, scope: None, price, quantity, terms: Vec::new(), reply })
    }

    /// The end of an order.
    pub fn cancel(&self, account: AccountId, name: &str) -> Answer {
        let order = OrderName::Client(account, Text::cut(name));
        self.ask(|reply| Ask::Cancel { order, scope: None, reply })
    }

    /// The end of all orders for an account.
    pub fn cancel_all(&self, account: AccountId) -> Answer {
        let scope = Scope { account: Some(account), ..Scope::default() };
        self.ask(|reply| Ask::CancelAll { scope, reply })
    }

    fn ask(&self, ask: impl FnOnce(oneshot::Sender<Outcome>) -> Ask) -> Answer {
        let (reply, answer) = oneshot::channel();
        self.door.put(ask(reply));
        Answer(answer)
    }
}
