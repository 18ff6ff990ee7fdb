//! What people write in `docs/messages.md`, and a reader that knows only that page, agree with the code.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "a test that cannot go on fails")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use wire::*;

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// The part above the marker, which people write, names what the code has.
#[test]
fn units_and_parts_in_the_document_are_those_of_the_code() {
    let text = std::fs::read_to_string(path("docs/messages.md")).unwrap();
    let says = |sentence: &str| assert!(text.contains(sentence), "the document does not say: {sentence}");
    says(&format!("`value / {}`", Price::ONE));
    says(&format!("`value / {}`", Money::ONE));
    says(&Price::NONE.0.to_string());
    says(&format!("1 to {}", MAX_INSTRUMENTS - 1));
    says(&format!("{} bytes of UTF-8", Symbol::CAPACITY));
    let id = OrderId::new(StrategyId(0x1234), 0x5678, 0x9abc_def0);
    assert_eq!(id.0, 0x1234_5678_9abc_def0, "the bits of an order id");
    says("seat = id >> 48");
    assert_eq!(id.to_string(), format!("{}-{}-{}", 0x1234, 0x5678, 0x9abc_def0_u32));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `examples/readers/messages.py` knows nothing but the document.
#[test]
fn a_program_that_knows_only_the_document_reads_the_messages() {
    let mut quote = Quote::empty(InstrumentId(3));
    (quote.sequence, quote.event_time) = (77, Nanos(5));
    quote.bids[0] = Level { price: Price(12_340_000_000), quantity: Quantity(700) };
    quote.flags = Quote::CALL_AUCTION;
    quote.asks[9] = Level { price: Price(-1), quantity: Quantity(9) };
    let fill = Fill {
        order_id: OrderId::new(StrategyId(7), 2, 42),
        trade_id: 11,
        instrument: InstrumentId(3),
        side: Side::Sell,
        liquidity: Liquidity::Taker,
        reserved: [0; 2],
        price: Price(12_340_000_000),
        quantity: Quantity(5),
        remaining: Quantity(2),
        event_time: Nanos(6),
        execution: 4096,
        answered_up_to: 0,
    };
    let cancel = CancelOrder::new(OrderId::new(StrategyId(7), 2, 43), InstrumentId(3));
    let position = PositionState {
        cash: WideMoney::from_wide(-1_500_000_001),
        ..PositionState::decode(&[0; PositionState::SIZE]).unwrap()
    };
    let frames = [
        (Quote::ID, hex(quote.bytes())),
        (Fill::ID, hex(fill.bytes())),
        (CancelOrder::ID, hex(cancel.bytes())),
        (PositionState::ID, hex(position.bytes())),
        (Fill::ID, hex(&fill.bytes()[..8])),
        (9_999, String::new()),
    ];
    let input: String = frames
        .iter()
        .map(|(id, payload)| {
            format!("{{\"position\": 64, \"id\": {id}, \"topic\": 3, \"payload\": \"{payload}\"}}\n")
        })
        .collect();
    let python = Command::new("python3")
        .arg(path("examples/readers/messages.py"))
        .arg(path("docs/messages.md"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn();
    let mut python = match python {
        Ok(python) => python,
        Err(error) => return println!("skipped: python3: {error}"),
    };
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), frames.len(), "{text}");
    let says = |line: usize, words: &[&str]| {
        for word in words {
            assert!(lines[line].contains(word), "{word} is not in {}", lines[line]);
        }
    };
    let first_bid = "\"bids\": [{\"price\": 12.34, \"quantity\": 700}, {\"price\": null, \"quantity\": 0}";
    says(
        0,
        &[
            "\"message\": \"Quote\"",
            "\"instrument\": 3",
            "\"sequence\": 77",
            "\"last_price\": null",
            "\"flags\": [\"call_auction\"]",
            first_bid,
        ],
    );
    says(0, &["{\"price\": -1e-09, \"quantity\": 9}]"]);
    says(
        1,
        &[
            "\"order_id\": \"7-2-42\"",
            "\"side\": \"sell\"",
            "\"liquidity\": \"taker\"",
            "\"price\": 12.34",
            "\"execution\": 4096",
        ],
    );
    says(2, &["\"message\": \"CancelOrder\"", "\"order_id\": \"7-2-43\""]);
    says(3, &["\"cash\": -1.500000001"]);
    says(4, &["\"error\""]);
    says(5, &["\"error\""]);
}
