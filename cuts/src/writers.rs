//! The writers that are ended, a row each.

use crate::script::Script;
use crate::traces::{Traces, difference};

/// A writer.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Its node.
    pub node: &'static str,
    /// Its name in the table, which is the node's where that says enough.
    pub name: &'static str,
    /// What it is tried in.
    pub scripts: &'static [fn(&str) -> Script],
    /// Least number of commits that the script makes it do: a script that does less tries nothing.
    pub least: usize,
    /// What its successor is held to.
    pub held: Held,
    /// Journals that need not be the same behind its successor.
    pub except: &'static [Except],
}

/// What a successor is held to.
#[derive(Clone, Copy, Debug)]
pub enum Held {
    /// The frames of a run without an end.
    Frames,
    /// What holds in the end, however it came to that: the death itself has consequences.
    Outcome(fn(&Traces) -> Result<(), String>),
}

impl Writer {
    /// What does not hold of a run with an end; `None`: all holds.
    pub fn fault(&self, whole: &Traces, cut: &Traces) -> Option<String> {
        match self.held {
            Held::Frames => difference(whole, cut, self),
            Held::Outcome(holds) => holds(whole).and_then(|()| holds(cut)).err(),
        }
    }
}

/// A journal that may differ.
#[derive(Clone, Copy, Debug)]
pub struct Except {
    /// Its name.
    pub journal: &'static str,
    /// Why.
    pub reason: &'static str,
    /// Which of its frames are compared all the same, without their positions.
    pub compares: fn(&str) -> bool,
}

const fn left_out(journal: &'static str, reason: &'static str) -> Except {
    Except { journal, reason, compares: |_| false }
}

const EVENTS: Except = left_out("master.events", "has the death and the successor");
const STATE: Except = left_out("ledger.state", "snapshots; the last one is compared");
const DESK: Except = left_out("ledger.desk", "snapshots; the last one is compared");
const RISK: Except = Except {
    journal: "ledger.risk",
    reason: "freezes and cancels are asked for again until the drop copy has them, less and less often: how often depends on who \
             has a turn; marks, kills and orders go once, and what td makes of all is compared in its own journals",
    compares: |line| {
        !line.contains(" action=freeze ")
            && !line.contains(" action=unfreeze ")
            && !line.contains("CancelOrder ")
    },
};
const BOOKS: Except = left_out("matching.state", "images of books, as time allows");
/// `is_snapshot` among the flags of a `BookEvent`.
const SNAPSHOT: u64 = wire::BookEvent::SNAPSHOT as u64;
const MARKET: Except = Except {
    journal: "matching.market",
    reason: "snapshots of books and statistics come once in so many seconds; a successor begins with a snapshot of each book, \
             and where there are no images yet, it says that the books are empty",
    compares: |line| {
        let flags = line.split(" flags=0x").nth(1).and_then(|rest| rest.split(' ').next());
        let flags = flags.and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or(0);
        let is_event = line.contains("BookEvent ") && !line.contains("action=clear");
        (is_event && flags & SNAPSHOT == 0) || line.contains("TradePrint")
    },
};
const QUOTES: Except = Except {
    journal: "md.quotes",
    reason: "md quotes the snapshot of the successor's books",
    compares: |line| line.contains("TradePrint"),
};

/// All of them.
pub const WRITERS: &[Writer] = &[
    Writer {
        name: "td",
        node: "td",
        scripts: &[Script::day, Script::fall, Script::full, Script::elsewhere, Script::unread],
        least: 20,
        held: Held::Frames,
        except: &[EVENTS, STATE, DESK, RISK, BOOKS, MARKET],
    },
    Writer {
        name: "ledger",
        node: "ledger",
        scripts: &[Script::day, Script::fall, Script::full, Script::elsewhere],
        least: 4,
        held: Held::Frames,
        except: &[EVENTS, STATE, DESK, RISK, BOOKS, MARKET],
    },
    Writer {
        name: "matching",
        node: "matching",
        scripts: &[Script::day, Script::fall, Script::full, Script::late],
        least: 6,
        held: Held::Frames,
        except: &[EVENTS, STATE, DESK, RISK, BOOKS, MARKET, QUOTES],
    },
    Writer {
        name: "a venue's program",
        node: "matching",
        scripts: &[Script::elsewhere],
        least: 10,
        held: Held::Frames,
        except: &[EVENTS, STATE, DESK, RISK],
    },
    Writer {
        name: "the gateway",
        node: "gateway",
        scripts: &[Script::clients],
        least: 9,
        held: Held::Frames,
        except: &[EVENTS, STATE, DESK, RISK, BOOKS, MARKET],
    },
    Writer {
        name: "the gateway, with connections",
        node: "gateway",
        scripts: &[Script::sessions],
        least: 7,
        held: Held::Outcome(sessions_end),
        except: &[],
    },
];

/// The part of a line behind a word, up to the next space.
fn word<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    line.split_once(before)?.1.split(' ').next()
}

/// Each order of a connection ends once, each name is one order, each order goes to td once; what has no connection works on.
fn sessions_end(traces: &Traces) -> Result<(), String> {
    let mut names = Vec::new();
    for line in traces.lines("orders.gateway").iter().filter(|line| line.contains(" ClientOrder ")) {
        let id = word(line, "order_id=client ").ok_or_else(|| format!("no order: {line}"))?;
        let name = word(line, "client_id=").ok_or_else(|| format!("no name: {line}"))?;
        let ends_with_session = word(line, "flags=0x") == Some("1");
        if names.contains(&name) {
            return Err(format!("two orders are called {name}"));
        }
        names.push(name);
        let is_it = |line: &&String| word(line, "order_id=client ") == Some(id);
        let sent = traces.lines("td.orders").iter().filter(|line| line.contains(" NewOrder ")).filter(is_it);
        let is_final = |line: &&String| {
            ["filled", "cancelled", "rejected"].into_iter().any(|end| word(line, "status=") == Some(end))
        };
        let ends = traces.lines("reports.gateway").iter().filter(is_it).filter(is_final);
        let (sent, ends) = (sent.count(), ends.count());
        if (sent, ends) != (1, usize::from(ends_with_session)) {
            return Err(format!("order {name}: {sent} times with td, {ends} ends"));
        }
    }
    if names.len() == 7 { Ok(()) } else { Err(format!("{} orders: {names:?}", names.len())) }
}
