//! What is recorded, and what is to be durable.

use std::path::Path;

use super::parse;
use topology::TdSection;

const RECORDED: &str = "[md]\n[journal]\nreports.durability = \"sync\"\n[[recorder]]\nname = \"disk\"\npath = \"/tmp/r\"\n[strategies]\ncount = 2\n";

#[test]
fn what_is_to_be_durable_must_be_recorded_whole() {
    let said = |text: &str| match topology::parse("test.toml", text, &[]) {
        Ok(platform) => format!("warnings: {}", platform.warnings),
        Err(wrong) => format!("errors: {wrong}"),
    };
    let fine = said(RECORDED);
    assert!(fine.starts_with("warnings: ") && !fine.contains("sync"), "{fine}");
    let with = |line: &str| said(&RECORDED.replace("path =", &format!("{line}\npath =")));
    let missing = with("journals = [\"md.*\"]");
    assert!(missing.starts_with("errors: ") && missing.contains("no recorder records it"), "{missing}");
    assert_eq!(missing.matches("no recorder records it").count(), 1, "one key, said once: {missing}");
    let nobody = said("[md]\n[journal]\ndurability = \"sync\"\n[strategies]\n");
    assert!(nobody.starts_with("errors: ") && nobody.contains("no recorder records it"), "{nobody}");
    let loose = with("loose = [\"reports.*\"]");
    assert!(loose.starts_with("errors: ") && loose.contains("reads it loosely"), "{loose}");
    let parted = with("journals = [\"reports.*\", \"orders.*\"]");
    assert!(
        parted.starts_with("warnings: ") && parted.contains("not `td.orders`, which leads to it"),
        "{parted}"
    );
}

#[test]
fn recorders_have_names_and_folders_of_their_own() {
    let said = |more: &str| {
        let text = format!("{RECORDED}[[recorder]]\n{more}\n");
        topology::parse("test.toml", &text, &[]).map_or_else(|wrong| wrong.to_string(), |_| "fine".to_owned())
    };
    assert_eq!(said("name = \"other\"\npath = \"/tmp/o\""), "fine");
    assert!(said("name = \"disk\"\npath = \"/tmp/o\"").contains("named `disk`"));
    let shared = said("name = \"other\"\npath = \"/tmp/r\"");
    assert!(shared.contains("have one folder: /tmp/r") && shared.contains("a folder of its own"), "{shared}");
    let unnamed = parse("[md]\n[[recorder]]\npath = \"r\"\n[strategies]\n", &[]);
    assert!(Path::new(&unnamed.config.recorder[0].path).ends_with("r"));
}

#[test]
fn td_knows_whose_reports_wait_for_which_recorder() {
    let recorders = |text: &str| -> Vec<Vec<u16>> {
        let platform = parse(text, &[]);
        let td = platform.topology.node("td").expect("td");
        let section: TdSection = serde_json::from_value(td.section.clone()).expect("its section");
        section.strategies.into_iter().map(|strategy| strategy.recorders).collect()
    };
    let disk = parse(RECORDED, &[]).topology.node("disk").expect("a recorder").seat;
    assert_eq!(recorders(RECORDED), [vec![disk], vec![disk]]);
    assert_eq!(recorders(&RECORDED.replace("sync", "async")), [Vec::<u16>::new(), Vec::new()]);
}
