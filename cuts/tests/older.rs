//! What processes of older versions have left, in the hands of a successor.

use cuts::{Cut, Platform, Script, WRITERS, difference};

#[test]
fn an_entry_of_which_an_older_td_has_written_the_copy_and_not_the_result_is_booked_once() {
    let td = WRITERS.iter().find(|writer| writer.name == "td").expect("a row of the table");
    let play = |half: bool| {
        let script = Script::twice(&format!("cuts-half-{half}-{}", std::process::id()), half);
        let cut = Cut { node: td.node, commits: Vec::new() };
        Platform::play(script.topology().clone(), &script, &cut).traces
    };
    let (whole, half) = (play(false), play(true));
    let results = |traces: &cuts::Traces| {
        traces.lines("td.drops").iter().filter(|line| line.contains("EntryResult entry=")).count()
    };
    assert_eq!((results(&whole), results(&half)), (6, 6));
    assert_eq!(difference(&whole, &half, td), None);
}
