//! The values in `docs/journal-format.md` for the words of the registry, from the lists in the code.

use journal::layout::MAX_SEATS;
use node::{Counter, NodeState, Phase, kind_word, read_kind_word};
use topology::NodeKind;
use topology::config::Mode;

use super::Part;

/// The tables of values within the page.
pub(super) fn part() -> Part {
    Part {
        page: "docs/journal-format.md",
        begin: "<!-- Values, made by `cargo xtask gen` from node/src/state.rs -->\n",
        end: Some("<!-- End of the values -->\n"),
        text: generated(),
    }
}

/// A number with its word, as the source lists them, and its doc comment.
struct Listed {
    number: u64,
    word: String,
    doc: String,
}

/// The members of `name` in the file that lists them.
fn listed(name: &str) -> Vec<Listed> {
    let source = match name {
        "kinds!" => include_str!("../../../topology/src/services/kind.rs"),
        _ => include_str!("../../../node/src/state.rs"),
    };
    let start =
        source.find(&format!("\n{name} {{")).or_else(|| source.find(&format!("    {name} {{\n"))).unwrap();
    let mut doc = Vec::new();
    let mut listed = Vec::new();
    for line in source[start..].lines().skip(1).map(str::trim).skip_while(|line| line.ends_with('{')) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push(text.trim());
        } else if let Some((_, rest)) = line.split_once(" = ") {
            let (number, word) = rest.trim_end_matches(',').split_once(" => ").unwrap();
            let (number, word) = (number.parse().unwrap(), word.trim_matches('"').to_owned());
            listed.push(Listed { number, word, doc: std::mem::take(&mut doc).join(" ") });
        } else if line == "}" {
            break;
        }
    }
    assert!(!listed.is_empty(), "{name} has no members");
    listed
}

fn table(title: &str, name: &str, word_of: impl Fn(u64) -> Option<&'static str>) -> String {
    let rows = listed(name);
    let mut text = format!("\n{title}\n\n| value | name | meaning |\n|---|---|---|\n");
    for Listed { number, word, doc } in &rows {
        assert_eq!(word_of(*number), Some(word.as_str()), "{name} {number}");
        text.push_str(&format!("| {number} | {word} | {doc} |\n"));
    }
    let most = rows.iter().map(|row| row.number).max().unwrap();
    assert_eq!((0..=most + 9).filter(|number| word_of(*number).is_some()).count(), rows.len(), "{name}");
    text
}

fn generated() -> String {
    let state = table("`seat.STATE`:", "NodeState", |n| NodeState::from_word(n).map(NodeState::as_str));
    let kind =
        table("`seat.KIND`, kind of node:", "kinds!", |n| NodeKind::from_word(n).map(NodeKind::as_str));
    let phase = table("`registry.PHASE`:", "Phase", |n| Phase::from_word(n).map(Phase::as_str));
    let counter =
        |n: u64| Counter::ALL.iter().find(|(counter, _)| *counter as u64 == n).map(|(_, word)| *word);
    let counters = table("`seat.COUNTERS`, by number; the others are 0:", "counters!", counter);
    let modes = [
        (Mode::Fast, "Polls without a pause."),
        (Mode::Parked, "Sleeps on its WAIT."),
        (Mode::Adaptive { spin: std::time::Duration::ZERO }, "Polls for a while, then sleeps."),
        (
            Mode::Napping { within: std::time::Duration::ZERO },
            "Sleeps by the clock while there is work, its WAIT saying that it is awake; else on its WAIT.",
        ),
    ];
    let mut wait = "\n`seat.KIND`, wait mode:\n\n| value | name | meaning |\n|---|---|---|\n".to_owned();
    for (mode, doc) in modes {
        let word = kind_word(NodeKind::Md, mode);
        let (low, high) = (word & 0xffff, word >> 16);
        assert_eq!(
            (low, read_kind_word(word)),
            (NodeKind::Md.to_word(), Some((NodeKind::Md, mode.as_str())))
        );
        wait.push_str(&format!("| {high} | {} | {doc} |\n", mode.as_str()));
    }
    let bits = MAX_SEATS.ilog2();
    let call = format!(
        "| 26 | (a call) | No counter: of a node that runs strategies the latest call of one. The lowest {bits} bits are its \
         seat, the others its start in ns with those bits 0. |\n"
    );
    let asks = format!(
        "| {} | (an ask) | No counter: number of the latest ask for new parameters of the strategy. |\n\
         | {} | (an answer) | No counter: that of the ask that it answered last, plus 1; 0 where it takes none while it runs. |\n",
        node::ASK_WORD,
        node::ANSWER_WORD
    );
    format!("{state}{kind}{wait}{phase}{counters}{call}{asks}\n")
}
