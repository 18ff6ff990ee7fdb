//! A whole desk whose market reports trades of another side and of another instrument than the orders have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::platform::Desk;
use crate::support::Rude;

/// After so many orders two of them have such reports.
const ORDERS: u64 = 4;

#[derive(Default)]
struct Seen {
    orders: u64,
    working: BTreeSet<String>,
    cancelled: u64,
    /// Cancels wait.
    holds_cancels: bool,
}

/// An order, as the market has it.
struct Order {
    symbol: String,
    side: String,
    lots: String,
    price: String,
    traded: u64,
}

impl Order {
    fn head(&self, name: &str) -> String {
        let Order { symbol, side, lots, price, .. } = self;
        format!("11={name}|37=V|55={symbol}|54={side}|38={lots}|44={price}|14={}|6=100|", self.traded)
    }

    fn status(&self, state: &str) -> String {
        let Order { symbol, side, lots, price, traded } = self;
        format!("39={state}|14={traded}|6=100|38={lots}|44={price}|55={symbol}|54={side}|")
    }
}

/// Takes every order, and trades one lot of the first two: of the one on the other side, of the other in another instrument.
fn market(mut rude: Rude, seen: &Mutex<Seen>, is_over: &Receiver<()>) {
    let mut orders: BTreeMap<String, Order> = BTreeMap::new();
    let mut names = Vec::new();
    let mut cancels = Vec::new();
    while is_over.try_recv() == Err(TryRecvError::Empty) {
        rude.read();
        if !seen.lock().unwrap().holds_cancels {
            rude.heard.extend(cancels.drain(..));
        }
        while let Some(message) = rude.heard.pop_front() {
            if message.kind() == "F" && seen.lock().unwrap().holds_cancels {
                cancels.push(message);
                continue;
            }
            let field = |tag| message.get(tag).unwrap_or_default().to_owned();
            let name = field(11);
            let mut seen = seen.lock().unwrap();
            match message.kind() {
                "D" => {
                    seen.orders += 1;
                    let price = message.get(44).unwrap_or("100").to_owned();
                    let order =
                        Order { symbol: field(55), side: field(54), lots: field(38), price, traded: 0 };
                    let report =
                        format!("{}17=n{}|150=0|39=0|151={}|", order.head(&name), seen.orders, order.lots);
                    rude.say("8", &report);
                    rude.statuses.insert(name.clone(), order.status("0"));
                    seen.working.insert(name.clone());
                    orders.insert(name.clone(), order);
                    names.push(name);
                    if seen.orders == ORDERS {
                        for (name, trade) in names.iter().zip(["side", "symbol"]) {
                            let Some(order) = orders.get_mut(name) else { continue };
                            order.traded = 1;
                            rude.statuses.insert(name.clone(), order.status("1"));
                            let other = if order.side == "1" { "2" } else { "1" };
                            let head = match trade {
                                "side" => order
                                    .head(name)
                                    .replace(&format!("|54={}|", order.side), &format!("|54={other}|")),
                                _ => order.head(name).replace(&order.symbol, "OTHER"),
                            };
                            rude.say("8", &format!("{head}17={trade}|150=F|39=1|31=100|32=1|151=1|"));
                        }
                    }
                }
                "F" => {
                    let of = field(41);
                    seen.cancelled += u64::from(seen.working.remove(&of));
                    let Some(order) = orders.get(&of) else { continue };
                    rude.statuses.insert(of.clone(), order.status("4"));
                    let head = order.head(&name);
                    rude.say("8", &format!("{head}41={of}|17=c{of}|150=4|39=4|151=0|"));
                }
                _ => {}
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// `matching.on_unbooked` is "stop" where nothing else is said: no order goes out while a trade is not booked, cancels do.
#[test]
fn a_trade_of_another_side_or_instrument_stops_orders_and_lets_cancels_out() {
    let folder = tempfile::tempdir().unwrap();
    let rude = Rude::listen();
    let Some(desk) = Desk::of(&rude, "venue-contradicts", folder.path()) else { return };
    // The strategy cancels its orders by itself, and some are to be left for the operator.
    let seen = Arc::new(Mutex::new(Seen { holds_cancels: true, ..Seen::default() }));
    let (over, is_over) = channel::<()>();
    let acceptor = {
        let seen = Arc::clone(&seen);
        std::thread::spawn(move || market(rude, &seen, &is_over))
    };
    desk.up(&[]);
    desk.until("executions that are not booked", || desk.unbooked() == Some(2));
    let list = desk.json(&["venue", "list", "-i", &desk.name]);
    assert_eq!(list["is_stopped"], true, "{list}");
    let rows = list["not_booked"].as_array().unwrap();
    let shown: Vec<_> = rows.iter().map(|row| (&row["why"], &row["trade"], &row["instrument"])).collect();
    let (why, side, symbol) = (Value::from("contradicts"), Value::from("side"), Value::from("symbol"));
    assert_eq!(shown, [(&why, &side, &1.into()), (&why, &symbol, &Value::Null)], "{list}");
    let (code, text) = desk.audit();
    assert!(code == Some(4) && text.contains("not booked: number 1,"), "{code:?}: {text}");
    // What was on its way is there, and then no order goes out.
    let refused = || desk.matching()["counters"]["closed_rejects"].as_u64().unwrap_or_default();
    desk.until("refusals", || refused() > 0);
    let before = seen.lock().unwrap().orders;
    let so_far = refused();
    desk.until("further refusals", || refused() > so_far);
    assert_eq!(seen.lock().unwrap().orders, before, "no order goes out");
    // Cancels do, and reach every order.
    let working = seen.lock().unwrap().working.len();
    assert!(working > 0, "no order works: this shows nothing");
    seen.lock().unwrap().holds_cancels = false;
    let killed = desk.colo(&["kill", "--strategy", "noise-1", "--why", "test", "-i", &desk.name]);
    assert!(killed.status.success(), "{}{}", text_of(&killed.stdout), text_of(&killed.stderr));
    assert_eq!(seen.lock().unwrap().working, BTreeSet::new());
    assert!(seen.lock().unwrap().cancelled >= working as u64);
    for number in ["1", "2"] {
        let settled = desk.colo(&["venue", "settle", number, "--why", "agreed", "-i", &desk.name]);
        assert!(settled.status.success(), "{}", text_of(&settled.stderr));
    }
    desk.until("settlement", || desk.unbooked() == Some(0));
    let revived = desk.colo(&["revive", "--strategy", "noise-1", "--why", "test", "-i", &desk.name]);
    assert!(revived.status.success(), "{}", text_of(&revived.stderr));
    desk.until("orders", || seen.lock().unwrap().orders > before);
    let (code, text) = desk.audit();
    assert_eq!(code, Some(0), "{text}");
    drop(desk);
    drop(over);
    acceptor.join().unwrap();
}

#[test]
fn orders_go_on_where_the_platform_file_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let rude = Rude::listen();
    let Some(desk) = Desk::of(&rude, "venue-goes-on", folder.path()) else { return };
    let (seen, (over, is_over)) = (Arc::new(Mutex::new(Seen::default())), channel::<()>());
    let acceptor = {
        let seen = Arc::clone(&seen);
        std::thread::spawn(move || market(rude, &seen, &is_over))
    };
    desk.up(&["--set", "matching.on_unbooked=go-on"]);
    desk.until("executions that are not booked", || desk.unbooked() == Some(2));
    let list = desk.json(&["venue", "list", "-i", &desk.name]);
    assert_eq!(list["is_stopped"], false, "{list}");
    // Orders from before the Logon are refused.
    let refused = || desk.matching()["counters"]["closed_rejects"].as_u64().unwrap_or_default();
    let (before, so_far) = (seen.lock().unwrap().orders, refused());
    desk.until("further orders", || seen.lock().unwrap().orders > before + 4);
    assert_eq!((desk.unbooked(), desk.audit().0), (Some(2), Some(4)));
    assert_eq!(refused(), so_far);
    drop(desk);
    drop(over);
    acceptor.join().unwrap();
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
