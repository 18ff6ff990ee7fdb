//! Each ExecType in each state of an order: what happens, as `docs/adapters.md` has it, and that no cell loses what was executed.

use std::path::Path;

use fix_codec::codec::{Decoder, Message, Step, message};
use venue::{Command, Driver, Effects, Input, LOT, News};
use venue_fix::{ExecType, Instruments, hear};
use wire::{
    CancelOrder, Execution, InstrumentId, NewOrder, OrderId, OrderType, Price, Quantity, ReplaceOrder,
    Request, Side, StrategyId, TimeInForce,
};

const BEGIN: &str = "<!-- Rows, made by `cargo xtask gen` from venue/fix/src and venue/src/driver -->";
const END: &str = "<!-- End of the rows -->";

/// The states of an order, as far as they differ.
const STATES: [&str; 6] = ["unknown", "sent", "working", "cancel sent", "replace sent", "ended"];

struct One;

impl Instruments for One {
    fn instrument(&self, symbol: &str) -> Option<InstrumentId> {
        (symbol == "SIM001").then_some(InstrumentId(1))
    }
}

fn read(body: &str) -> Message {
    let mut decoder = Decoder::default();
    decoder.add(&message("FIX.4.4", &format!("35=8|{body}").replace('|', "\x01")));
    let Step::Message(message) = decoder.next() else { panic!("{body}") };
    message
}

/// A driver with an order in a state; and what the market calls the order.
struct Case {
    driver: Driver,
    name: String,
    position: u64,
}

impl Case {
    fn take(&mut self, input: &Input) -> Effects {
        let mut effects = Effects::default();
        self.driver.take(input, &mut effects);
        effects
    }

    fn request(&mut self, request: Request) -> Effects {
        self.position += 64;
        self.take(&Input::Request(self.position, request))
    }

    fn hear(&mut self, body: &str) -> Effects {
        let mut news = Vec::new();
        hear(&read(body), &One, &mut news);
        let mut all = Effects::default();
        for piece in news {
            let effects = self.take(&Input::News(piece));
            all.executions.extend(effects.executions);
            all.commands.extend(effects.commands);
            all.alarms.extend(effects.alarms);
        }
        all
    }

    fn in_state(state: &str, life: TimeInForce) -> Case {
        let mut case = Case { driver: Driver::new("p"), name: "other".to_owned(), position: 0 };
        case.take(&Input::Stop(false));
        case.take(&Input::News(News::Up));
        if state == "unknown" {
            return case;
        }
        let id = OrderId::new(StrategyId(5), 1, 1);
        let (price, quantity) = (Price(100 * Price::ONE), Quantity(10));
        let order = NewOrder::plain(id, InstrumentId(1), Side::Buy, OrderType::Limit, life, price, quantity);
        let sent = case.request(Request::New(order));
        let Some(Command::New { name, .. }) = sent.commands.first() else { panic!("{sent:?}") };
        case.name.clone_from(name);
        if state == "sent" {
            return case;
        }
        let about = case.about("e1", "14=4|");
        case.hear(&format!("{about}150=F|39=1|31=100|32=4|"));
        match state {
            "cancel sent" => drop(case.request(Request::Cancel(CancelOrder::new(id, InstrumentId(1))))),
            "replace sent" => drop(case.request(Request::Replace(ReplaceOrder {
                order_id: id,
                instrument: InstrumentId(1),
                source: 0,
                price,
                quantity: Quantity(12),
            }))),
            "ended" => drop(case.hear(&format!("{}150=C|39=C|", case.about("c1", "14=4|")))),
            _ => {}
        }
        case
    }

    fn about(&self, id: &str, filled: &str) -> String {
        format!(
            "11={}|37=7|17={id}|55=SIM001|54=1|38=10|44=100|60=20260101-00:00:01|52=20260101-00:00:01|{filled}",
            self.name
        )
    }

    /// The report of a type, and what it moves the position by, in lots.
    fn report(&self, exec_type: ExecType, code: &str, state: &str) -> (String, i64) {
        let has_traded = if matches!(state, "unknown" | "sent") { 0 } else { 4 };
        let (rest, moved) = match exec_type {
            ExecType::New => ("39=0|", 0),
            ExecType::PartialFill | ExecType::Fill | ExecType::Trade => ("39=1|31=99|32=3|", 3),
            ExecType::DoneForDay => ("39=3|", 0),
            ExecType::Canceled => ("39=4|", 0),
            // To what was asked for.
            ExecType::Replaced => ("39=1|", 0),
            ExecType::PendingCancel => ("39=6|", 0),
            ExecType::Stopped => ("39=7|", 0),
            ExecType::Rejected => ("39=8|", 0),
            ExecType::Suspended => ("39=9|", 0),
            ExecType::PendingNew => ("39=A|", 0),
            ExecType::Calculated => ("39=B|", 0),
            ExecType::Expired => ("39=C|", 0),
            ExecType::Restated => ("39=1|", 0),
            ExecType::PendingReplace => ("39=E|", 0),
            ExecType::TradeCorrect if has_traded == 0 => ("39=1|19=e0|31=99|32=2|", 2),
            ExecType::TradeCorrect => ("39=1|19=e1|31=101|32=2|", -2),
            ExecType::TradeCancel => ("39=0|19=e1|31=100|32=4|", -4),
            ExecType::OrderStatus => ("39=1|", 0),
            ExecType::Triggered => ("39=1|", 0),
            ExecType::Other => ("39=1|", 0),
        };
        let filled = format!("14={}|", (has_traded + moved).max(0));
        let mut about = self.about("e9", &filled);
        if exec_type == ExecType::Restated {
            about = about.replace("38=10", "38=8");
        }
        if exec_type == ExecType::Replaced && state == "replace sent" {
            about = about.replace("38=10", "38=12").replace("11=p-1", "11=p-2");
        }
        (format!("{about}150={code}|{rest}"), moved)
    }
}

/// What happens, in words; and the lots that are booked and listed by it.
fn outcome(case: &mut Case, body: &str) -> (String, i128) {
    let open = |driver: &Driver| driver.unbooked().map(|what| what.lots).sum::<i128>();
    let (before, strays) = (open(&case.driver), case.driver.strays());
    let effects = case.hear(body);
    let (mut words, mut moved) = (Vec::new(), open(&case.driver) - before);
    for execution in &effects.executions {
        words.push(match execution {
            Execution::Fill(fill) => {
                moved += i128::from(fill.side.sign() * fill.quantity.0) * LOT;
                "**fill**".to_owned()
            }
            Execution::Update(update) => {
                let reason = match update.reason {
                    wire::Reason::None => String::new(),
                    reason => format!(" ({reason})"),
                };
                format!("{}{reason}", update.status)
            }
        });
    }
    words.extend(effects.alarms.iter().map(|alarm| {
        let why = alarm.split([',', ':']).nth(1).unwrap_or_default().trim();
        format!("**not booked**: {why}")
    }));
    for command in &effects.commands {
        words.push(match command {
            Command::Ask { .. } => "asked for".to_owned(),
            Command::Cancel { .. } => "cancelled there".to_owned(),
            other => format!("{other:?}"),
        });
    }
    if case.driver.strays() > strays {
        words.push("counted, logged".to_owned());
    }
    if words.is_empty() {
        words.push("–".to_owned());
    }
    (words.join(", "), moved)
}

fn rows() -> String {
    let mut text = format!("| ExecType | {} |\n|---|{}\n", STATES.join(" | "), "---|".repeat(STATES.len()));
    let mut cells = 0;
    let lasting = [(ExecType::DoneForDay, "3"), (ExecType::Calculated, "B")];
    let all = ExecType::ALL.iter().map(|row| (*row, TimeInForce::Day));
    for ((exec_type, code), life) in all.chain(lasting.map(|row| (row, TimeInForce::GoodTillCancel))) {
        let of = if life == TimeInForce::Day { "" } else { ", good till cancel" };
        let shown = if exec_type == ExecType::Other { "any other" } else { code };
        text.push_str(&format!("| {shown} {exec_type:?}{of} |"));
        for state in STATES {
            let mut case = Case::in_state(state, life);
            let (body, moved) = case.report(exec_type, code, state);
            let (words, done) = outcome(&mut case, &body);
            assert_eq!(done, i128::from(moved) * LOT, "{exec_type:?} in {state}: {words}");
            // The same report again moves nothing.
            let (again, done) = outcome(&mut case, &body);
            assert_eq!(done, 0, "{exec_type:?} in {state} again: {again}");
            text.push_str(&format!(" {words} |"));
            cells += 1;
        }
        text.push('\n');
    }
    assert_eq!(cells, (ExecType::ALL.len() + 2) * STATES.len());
    text
}

#[test]
fn golden_file_of_every_exec_type_in_every_state_which_lose_no_execution() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adapters.md");
    golden::hold_part(&path, BEGIN, END, &format!("\n\n{}\n", rows()));
}
