//! Every producer with every consumer.

use std::fmt::Write as _;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::cases::{Bench, CASES, Case};
use crate::discovery::{Driver, Found};
use crate::world::World;

/// One case of one pair.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Language of the producer.
    pub producer: String,
    /// Language of the consumer.
    pub consumer: String,
    /// The case's name.
    pub case: &'static str,
    /// What did not hold; `None`: it passed.
    pub problem: Option<String>,
}

/// What was not run.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// A language, or a pair and a case.
    pub what: String,
    /// Why.
    pub reason: String,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Matrix {
    /// Those that took part.
    pub languages: Vec<String>,
    /// Drivers that do not build or speak: the language and why.
    pub broken: Vec<(String, String)>,
    /// All that was run.
    pub cells: Vec<Cell>,
    /// All that was not.
    pub skipped: Vec<Skipped>,
}

impl Matrix {
    /// Runs the cases of these names, or all, with what was found, for pairs of languages that `is_wanted` says. `each` sees every
    /// cell when it is done, and may end the run there.
    pub fn run(
        found: Vec<Found>,
        only: &[String],
        is_wanted: impl Fn(&str, &str) -> bool,
        mut each: impl FnMut(&Cell) -> ControlFlow<()>,
    ) -> Matrix {
        let mut matrix = Matrix::default();
        let mut drivers = Vec::new();
        for found in found {
            match found {
                Found::Ready(driver) => {
                    drivers.retain(|known: &Driver| known.language != driver.language);
                    drivers.push(driver);
                }
                Found::Missing(what, reason) => matrix.skipped.push(Skipped { what, reason }),
                Found::Broken(language, why) => matrix.broken.push((language, why)),
            }
        }
        matrix.languages = drivers.iter().map(|driver| driver.language.clone()).collect();
        let cases: Vec<&Case> = CASES
            .iter()
            .filter(|case| only.is_empty() || only.iter().any(|name| name == case.name))
            .collect();
        for producer in &drivers {
            for consumer in
                drivers.iter().filter(|consumer| is_wanted(&producer.language, &consumer.language))
            {
                for case in &cases {
                    match cell(producer, consumer, case) {
                        Ok(cell) => {
                            let next = each(&cell);
                            matrix.cells.push(cell);
                            if next.is_break() {
                                return matrix;
                            }
                        }
                        Err(skipped) => matrix.skipped.push(skipped),
                    }
                }
            }
        }
        matrix
    }

    /// True when something ran and all of it held.
    pub fn passed(&self) -> bool {
        self.broken.is_empty()
            && !self.cells.is_empty()
            && self.cells.iter().all(|cell| cell.problem.is_none())
    }

    /// As JSON: docs in README.md.
    pub fn json(&self) -> Value {
        let cell = |cell: &Cell| {
            let mut value = json!({
                "producer": cell.producer,
                "consumer": cell.consumer,
                "case": cell.case,
                "passed": cell.problem.is_none(),
            });
            if let Some(problem) = &cell.problem {
                value["problem"] = json!(problem);
            }
            value
        };
        json!({
            "languages": self.languages,
            "cells": self.cells.iter().map(cell).collect::<Vec<_>>(),
            "skipped": self.skipped.iter()
                .map(|skipped| json!({ "what": skipped.what, "reason": skipped.reason }))
                .collect::<Vec<_>>(),
            "broken": self.broken.iter()
                .map(|(language, why)| json!({ "language": language, "reason": why }))
                .collect::<Vec<_>>(),
        })
    }

    /// A table of pairs, then what did not hold and what was skipped.
    pub fn text(&self) -> String {
        let mut text = format!("{:>12}", "writes\\reads");
        let width = self.languages.iter().map(String::len).max().unwrap_or(0).max(7) + 2;
        for language in &self.languages {
            let _ = write!(text, "{language:>width$}");
        }
        text.push('\n');
        for producer in &self.languages {
            let _ = write!(text, "{producer:>12}");
            for consumer in &self.languages {
                let of_pair = |cell: &&Cell| cell.producer == *producer && cell.consumer == *consumer;
                let all = self.cells.iter().filter(of_pair).count();
                let held = self.cells.iter().filter(of_pair).filter(|cell| cell.problem.is_none()).count();
                let _ = write!(text, "{:>width$}", format!("{held}/{all}"));
            }
            text.push('\n');
        }
        for cell in &self.cells {
            if let Some(problem) = &cell.problem {
                let _ = writeln!(
                    text,
                    "failed: {} -> {}, {}: {problem}",
                    cell.producer, cell.consumer, cell.case
                );
            }
        }
        for (language, why) in &self.broken {
            let _ = writeln!(text, "failed: {language}: {why}");
        }
        for skipped in &self.skipped {
            let _ = writeln!(text, "skipped: {}: {}", skipped.what, skipped.reason);
        }
        let failed = self.cells.iter().filter(|cell| cell.problem.is_some()).count();
        let _ = writeln!(
            text,
            "{} passed, {failed} failed, {} skipped",
            self.cells.len() - failed,
            self.skipped.len()
        );
        text
    }
}

fn cell(producer: &Driver, consumer: &Driver, case: &Case) -> Result<Cell, Skipped> {
    let lacks = |driver: &Driver, needed: &[&str]| {
        let missing: Vec<&str> = needed.iter().copied().filter(|word| !driver.can(&[word])).collect();
        (!missing.is_empty()).then(|| format!("{} cannot {}", driver.language, missing.join(", ")))
    };
    let ways: Vec<&'static str> = case.ways.iter().copied().filter(|way| consumer.can(&[way])).collect();
    let no_way =
        || ways.is_empty().then(|| format!("{} cannot {}", consumer.language, case.ways.join(" or ")));
    let reason = lacks(producer, case.producer).or_else(|| lacks(consumer, case.consumer)).or_else(no_way);
    if let Some(reason) = reason {
        let what = format!("{} -> {}, {}", producer.language, consumer.language, case.name);
        return Err(Skipped { what, reason });
    }
    let held = ways.into_iter().try_for_each(|way| {
        let bench = Bench { world: World::new()?, producer, consumer, way };
        (case.run)(&bench).map_err(|error| format!("{way}: {error}"))
    });
    Ok(Cell {
        producer: producer.language.clone(),
        consumer: consumer.language.clone(),
        case: case.name,
        problem: held.err(),
    })
}
