//! No file and no command line, however wrong, makes the check panic; and what it points at is there.

use proptest::prelude::*;
use proptest::sample::Index;

/// One change to a text.
#[derive(Clone, Debug)]
enum Change {
    Delete(Index, usize),
    Insert(Index, String),
    SwapLines(Index, Index),
    DoubleLine(Index),
    DropLine(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let word = prop_oneof![
        "[a-z\\[\\]{}=\"'.,#\n -]{1,4}",
        "\\PC{1,3}",
        prop::sample::select(vec![
            "[[service]]\n",
            "[strategies]\n",
            "[[strategies.group]]\n",
            "[pin.nodes.md]\n",
            "name = \"takers\"\n",
            "count = 1000\n",
            "-1",
            "1e400",
            "nan",
            "0x7fffffffffffffff",
            "99999999999999999999",
            "\"\"",
            "{}",
            "[]",
            "[[]]",
            "12:00:00",
            "\r\n",
            "\u{feff}",
            "\0",
            "é",
        ])
        .prop_map(str::to_owned),
    ];
    prop_oneof![
        (any::<Index>(), 1_usize..20).prop_map(|(at, count)| Change::Delete(at, count)),
        (any::<Index>(), word).prop_map(|(at, text)| Change::Insert(at, text)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Change::SwapLines(a, b)),
        any::<Index>().prop_map(Change::DoubleLine),
        any::<Index>().prop_map(Change::DropLine),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.split('\n').collect();
    let line = |at: &Index| at.index(text.split('\n').count());
    match change {
        Change::Delete(at, count) if !characters.is_empty() => {
            let start = at.index(characters.len());
            characters.drain(start..(start + count).min(characters.len()));
            return characters.into_iter().collect();
        }
        Change::Delete(..) => {}
        Change::Insert(at, text) => {
            let start = at.index(characters.len() + 1);
            characters.splice(start..start, text.chars());
            return characters.into_iter().collect();
        }
        Change::SwapLines(a, b) => lines.swap(line(a), line(b)),
        Change::DoubleLine(at) => lines.insert(line(at), lines[line(at)]),
        Change::DropLine(at) => drop(lines.remove(line(at))),
    }
    lines.join("\n")
}

fn check(text: &str, sets: &[String]) -> Result<(), TestCaseError> {
    let diagnostics = match topology::parse("mutant.toml", text, sets) {
        Ok(platform) => {
            prop_assert_eq!(platform.topology.check(), vec![]);
            let json = serde_json::to_string(&platform.topology).expect("plain data");
            let back: topology::Topology = serde_json::from_str(&json).expect("what was written");
            prop_assert_eq!(&back, &platform.topology);
            prop_assert!(!platform.settings().is_empty());
            platform.warnings
        }
        Err(diagnostics) => {
            prop_assert!(diagnostics.errors() > 0);
            diagnostics
        }
    };
    prop_assert!(!diagnostics.render(true).contains("schema and config types"), "{}", diagnostics);
    for location in diagnostics.diagnostics.iter().filter_map(|diagnostic| diagnostic.location.as_ref()) {
        if location.file == "mutant.toml" {
            let line = text.split('\n').nth(location.line - 1);
            prop_assert_eq!(line.map(|line| line.trim_end_matches('\r')), Some(location.text.as_str()));
        }
        prop_assert!(location.column <= location.text.chars().count() + 1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn mutants_of_the_demo_never_panic(changes in prop::collection::vec(change(), 1..8)) {
        let text = changes.iter().fold(topology::DEMO.to_owned(), |text, change| apply(&text, change));
        check(&text, &[])?;
    }

    #[test]
    fn any_text_never_panics(text in "\\PC{0,80}", set in "\\PC{0,40}") {
        check(&text, &[set])?;
    }

    #[test]
    fn any_setting_never_panics(
        key in "(md|td|strategies|strategies\\.group|pin\\.nodes|node|journal)(\\.[a-z0-9_\"*-]{1,8}){0,3}",
        value in prop_oneof!["\\PC{0,12}", "[0-9.:eE+-]{1,10}", "\\[\\{[a-z]{1,5} = [0-9]\\}\\]", "\\{[a-z]{1,5} = [0-9]\\}"],
    ) {
        check(topology::DEMO, &[format!("{key}={value}")])?;
    }
}
