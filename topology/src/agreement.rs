//! The schema and the typed structs agree: what passes the one is accepted by the other.

use settings::forms as common;
use settings::schema::{Form, Kind, Section, TableSchema};

use crate::config::PlatformConfig;
use crate::forms;

/// TOML values that a kind allows, at the ends of its range.
fn samples(kind: &Kind) -> Vec<String> {
    match kind {
        Kind::Flag => vec!["true".to_owned(), "false".to_owned()],
        Kind::Integer { min, max } => vec![min.to_string(), max.to_string()],
        Kind::Number { min, max } if *max < f64::MAX => {
            vec![format!("{min:?}"), format!("{max:?}"), "1".to_owned()]
        }
        Kind::Number { min, .. } => vec![format!("{min:?}")],
        Kind::Text => vec!["\"text\"".to_owned()],
        Kind::Duration { min_ns, max_ns } => vec![format!("\"{min_ns}ns\""), format!("\"{max_ns}ns\"")],
        Kind::Parsed(form) => vec![form.example.to_owned()],
        Kind::Words(words) => words.words.iter().map(|(word, _)| format!("\"{word}\"")).collect(),
        Kind::List(item) => vec!["[]".to_owned(), format!("[{}]", samples(item).join(", "))],
        Kind::Free => vec!["{}".to_owned(), "{ a = [1, { b = 2.5 }] }".to_owned()],
        Kind::Either(kinds) => kinds.iter().flat_map(samples).collect(),
        Kind::Table(schema) => schema
            .all_keys()
            .iter()
            .flat_map(|key| {
                samples(&key.kind).into_iter().map(|value| format!("{{ {} = {value} }}", key.name))
            })
            .collect(),
        Kind::Tables(_) | Kind::Groups(_) | Kind::Named(..) => Vec::new(),
    }
}

/// Every key below `schema` as a `--set` argument with each of its samples.
fn settings(schema: &'static TableSchema, path: &str, all: &mut Vec<String>) {
    for key in schema.all_keys() {
        let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        match key.kind {
            Kind::Table(inner) => settings(inner, &path, all),
            Kind::Named(_, inner) => settings(inner, &format!("{path}.md"), all),
            Kind::Groups(groups) => settings(groups.table, &path, all),
            Kind::Tables(inner) => {
                for inner_key in inner.all_keys() {
                    let samples = samples(&inner_key.kind);
                    all.extend(
                        samples.iter().map(|value| format!("{path} = [{{ {} = {value} }}]", inner_key.name)),
                    );
                }
            }
            ref kind => all.extend(samples(kind).iter().map(|value| format!("{path}={value}"))),
        }
    }
}

#[test]
fn what_the_schema_allows_the_structs_take() {
    let mut all = Vec::new();
    settings(PlatformConfig::TABLE, "", &mut all);
    let mut right = 0;
    for set in &all {
        let result = crate::parse("test.toml", "[md]\n[strategies]\ncount = 1\n", std::slice::from_ref(set));
        let Err(diagnostics) = result else {
            right += 1;
            continue;
        };
        let text = diagnostics.to_string();
        // Rules between keys may forbid a value; the schema and the structs may not.
        for fault in ["disagree", "unknown key", "must be", " is not ", " is no duration"] {
            assert!(!text.contains(fault), "--set {set}\n{text}");
        }
    }
    println!("{} settings, {right} right by themselves", all.len());
    assert!(right > 150, "{right} of {}", all.len());
}

#[test]
fn every_key_explains_itself() {
    fn walk(schema: &'static TableSchema, count: &mut usize) {
        for key in schema.all_keys() {
            *count += 1;
            assert!(key.doc_text().ends_with(['.', ']']), "{}: {}", key.name, key.doc_text());
            match key.kind {
                Kind::Table(inner) | Kind::Tables(inner) | Kind::Named(_, inner) => walk(inner, count),
                Kind::Groups(groups) => walk(groups.table, count),
                _ => {}
            }
        }
    }
    let mut count = 0;
    walk(PlatformConfig::TABLE, &mut count);
    assert!(count > 100, "{count}");
}

/// Names at the edges of what any form of name allows.
fn names() -> Vec<String> {
    let letters: Vec<char> = (' '..='~').chain(['é', '\n', '\u{0}', '·']).collect();
    let mut names: Vec<String> =
        ["", ".", "..", "a..b", "a.b", ".a", "a.", "md.quotes", "-a", "a-", "*", "a.*"]
            .map(str::to_owned)
            .to_vec();
    for letter in letters {
        names.extend([
            format!("{letter}"),
            format!("a{letter}"),
            format!("{letter}a"),
            format!("a{letter}b"),
        ]);
    }
    names.extend((1..=80).map(|length| "x".repeat(length)));
    names.extend((1..=40).map(|length| format!("{}.{}", "x".repeat(length), "y".repeat(length))));
    names
}

#[test]
fn the_schema_and_the_check_allow_the_same_names() {
    let name_forms = [
        common::NAME,
        forms::INSTANCE,
        forms::NODE,
        forms::MEMBER,
        forms::JOURNAL,
        forms::JOURNALS,
        forms::NODE_PATTERN,
    ];
    let mut compared = 0;
    for Form { what, pattern, parse, longest, .. } in name_forms {
        let pattern = regex::Regex::new(pattern).unwrap();
        let most = longest.unwrap();
        for name in names() {
            let by_schema = pattern.is_match(&name) && name.chars().count() <= most;
            let by_check = parse(&name);
            assert_eq!(by_schema, by_check.is_ok(), "{what}: {name:?}: {by_check:?}");
            compared += 1;
        }
    }
    println!("{compared} names compared");
    assert!(compared > 2_000);
}

#[test]
fn other_texts_that_the_schema_allows_pass_the_check() {
    let texts: &[(Form, &[&str])] = &[
        (common::TIME_OF_DAY, &["00:00", "23:59:59.5", "29:00", "24:00:00", "09:60", "9:30"]),
        (
            forms::POLICY,
            &[
                "fifo:0", "fifo:1", "fifo:99", "fifo:100", "nice:-20", "nice:-21", "nice:19", "nice:20",
                "idle", "idle:1",
            ],
        ),
        (forms::CPU, &["0", "7", "1-2", "-1"]),
    ];
    for (form, texts) in texts {
        let pattern = regex::Regex::new(form.pattern).unwrap();
        for text in *texts {
            assert_eq!(pattern.is_match(text), (form.parse)(text).is_ok(), "{}: {text}", form.what);
        }
    }
}
