use super::*;

const SMALL: &str = r#"
[scenario]
name = "small"
[run]
stagger = "0s"
strategies = 2
instruments = 2
[[load]]
rate = 80
[[load]]
rate = 0.5
longest = "10s"
[base.td]
mode = "parked"
[[group]]
name = "A"
[[group]]
name = "F"
rates = [80]
[group.platform.md]
mode = "fast"
"#;

fn said(text: &str) -> String {
    parse("s.toml", text, &[]).unwrap_err().to_string()
}

#[test]
fn cells_are_groups_at_loads() {
    let scenario = parse("s.toml", SMALL, &["run.samples=160".to_owned()]).unwrap();
    let names: Vec<&str> = scenario.cells.iter().map(|cell| cell.name.as_str()).collect();
    assert_eq!(names, ["A1", "A2", "F1"]);
    let [a1, a2, f1] = &scenario.cells[..] else { panic!() };
    assert_eq!((a1.measured().as_secs(), a1.expected_samples()), (2, 160));
    assert_eq!((a2.measured().as_secs(), a2.expected_samples()), (10, 5));
    assert_eq!(a2.topology.node("md").unwrap().section["interval"], "4s");
    assert_eq!(a2.topology.node("md").unwrap().section["stagger"], "2s");
    assert_eq!((a1.topology.nodes.len(), a1.topology.instance.as_str()), (7, "small-a1"));
    assert!(f1.topology.node("md").unwrap().mode.is_fast());
    assert!(!a1.topology.node("md").unwrap().mode.is_fast());
}

#[test]
fn the_think_time_reaches_the_strategies() {
    let scenario = parse("s.toml", SMALL, &["run.think=\"5us\"".to_owned()]).unwrap();
    let strategy = scenario.cells[0].topology.node("strategy-1").unwrap();
    assert_eq!(strategy.parameters["think_ns"], 5_000);
}

#[test]
fn faults_are_shown_where_the_scenario_has_them() {
    let text = said(&SMALL.replace("strategies = 2", "strategis = 2"));
    assert!(text.contains("did you mean `strategies`?") && text.contains("s.toml:6:1"), "{text}");
    let text = said(&SMALL.replace("mode = \"fast\"", "mode = \"fats\""));
    assert!(text.contains("did you mean \"fast\"?") && text.contains("s.toml:21:8"), "{text}");
    let text = said(&SMALL.replace("mode = \"parked\"", "mood = \"parked\""));
    assert_eq!(text.matches("unknown key `mood`").count(), 1, "{text}");
    let text = said(&SMALL.replace("rates = [80]", "rates = [81]"));
    assert!(text.contains("the rate 81, which no [[load]] has"), "{text}");
    let text = said(&SMALL.replace("rate = 80\n", "rate = \"80\"\n"));
    assert!(text.contains("leave out the quotes"), "{text}");
    let text = said(&SMALL.replace("mode = \"fast\"", "interval = \"1s\""));
    assert!(text.contains("`md.interval` is not said in a scenario's platform"), "{text}");
}

#[test]
fn a_scenario_needs_loads_and_groups() {
    let text = said("[scenario]\nname = \"x\"\n");
    assert!(text.contains("no load") && text.contains("no group"), "{text}");
}

#[test]
fn instances_of_long_names_are_cut() {
    let text = SMALL.replace("\"small\"", "\"a-very-long-name-of-a-scenario-it-is\"");
    let scenario = parse("s.toml", &text, &[]).unwrap();
    assert!(scenario.cells.iter().all(|cell| cell.topology.instance.len() <= 32));
}

#[test]
fn every_shipped_scenario_is_right() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../configs/scenarios");
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let scenario = load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!scenario.cells.is_empty());
        assert!(is_scenario(&std::fs::read_to_string(&path).unwrap()));
        looked_at += 1;
    }
    assert!(looked_at >= 3, "{looked_at} scenarios");
    assert!(!is_scenario(topology::DEMO));
}

#[test]
fn claims_are_checked_where_they_stand() {
    let with = |holds: &str| format!("{SMALL}[[claim]]\nname = \"x\"\nsays = \"x\"\nholds = \"{holds}\"\n");
    assert!(parse("s.toml", &with("p50(F, 80) < mean(A, 0.5)"), &[]).is_ok());
    let text = said(&with("p50(F, 80) < meen(A, 80)"));
    assert!(text.contains("cannot be read at `meen`") && text.contains("s.toml:25:23"), "{text}");
    assert!(said(&with("p50(Q, 80) < 1")).contains("no group `Q`"));
    assert!(said(&with("p50(F, 0.5) < 1")).contains("group `F` is not measured at 0.5/s"));
}

#[test]
fn the_load_of_a_cell_does_not_depend_on_what_its_takers_hold() {
    let params = |text: &str| {
        let scenario = parse("s.toml", text, &[]).unwrap();
        let nodes = scenario.cells.into_iter().flat_map(|cell| cell.topology.nodes);
        let strategies = nodes.filter(|node| node.kind == topology::NodeKind::Strategy);
        strategies.map(|node| node.parameters["max_position"].clone()).collect::<Vec<_>>()
    };
    let limits = params(SMALL);
    assert!(!limits.is_empty());
    assert!(limits.iter().all(|limit| limit.as_i64().is_some_and(|lots| lots > 1_000_000)), "{limits:?}");
    let own = SMALL.replacen("[base.td]", "[base.strategies.params]\nmax_position = 7\n[base.td]", 1);
    assert!(params(&own).iter().all(|limit| *limit == 7), "what the scenario says counts");
}
