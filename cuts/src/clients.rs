//! Clients of the gateway, which outlive its process: they connect again, and send again what was not answered.

use gateway::{Answer, Clients};

use crate::script::Asked;

/// A connection to a later process has another number.
const NEXT: u64 = 1_000;

/// The scripted clients.
#[derive(Debug, Default)]
pub(crate) struct Served {
    /// The door of the present process.
    clients: Option<Clients>,
    /// Processes that have ended.
    deaths: u64,
    connected: Vec<u64>,
    /// Orders that wait for an answer.
    open: Vec<(Asked, Answer)>,
}

impl Served {
    /// There is a gateway, the first or a successor.
    pub(crate) fn begin(&mut self, clients: Clients) {
        self.deaths += u64::from(self.clients.replace(clients).is_some());
        let (connected, open) = (self.connected.clone(), std::mem::take(&mut self.open));
        connected.iter().for_each(|session| self.door().connect(session + NEXT * self.deaths));
        open.into_iter().for_each(|(asked, _)| self.ask(asked));
    }

    fn door(&self) -> &Clients {
        self.clients.as_ref().expect("the script has a gateway")
    }

    pub(crate) fn ask(&mut self, asked: Asked) {
        self.open.retain_mut(|(_, answer)| !answer.is_over());
        let number = |session: u64| session + NEXT * self.deaths;
        let door = self.door();
        match asked {
            Asked::Connect(session) => {
                door.connect(number(session));
                self.connected.push(session);
            }
            Asked::Disconnect(session) => {
                door.disconnect(number(session));
                self.connected.retain(|connected| *connected != session);
            }
            Asked::Order(session, name, order) => {
                let answer = door.order(session.map(number), name, &order);
                self.open.push((asked, answer));
            }
            // A change is not sent again: whether the first one was taken, its order says.
            Asked::Replace(account, name, price, quantity) => {
                drop(door.replace(account, name, price, quantity));
            }
            Asked::Cancel(account, name) => drop(door.cancel(account, name)),
            Asked::CancelAll(account) => drop(door.cancel_all(account)),
        }
    }
}
