//! Every producer with every consumer.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

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
    /// cell when it is done, in any order, and may end the run there. Cases run side by side, one for each CPU.
    pub fn run(
        found: Vec<Found>,
        only: &[String],
        is_wanted: impl Fn(&str, &str) -> bool,
        each: impl FnMut(&Cell) -> ControlFlow<()> + Send,
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
        let pairs =
            drivers.iter().flat_map(|producer| drivers.iter().map(move |consumer| (producer, consumer)));
        let wanted = pairs.filter(|(producer, consumer)| is_wanted(&producer.language, &consumer.language));
        let tasks: Vec<Task<'_>> = wanted
            .flat_map(|(producer, consumer)| cases.iter().map(move |case| Task { producer, consumer, case }))
            .collect();
        for done in run_all(&tasks, each) {
            match done {
                Ok(cell) => matrix.cells.push(cell),
                Err(skipped) => matrix.skipped.push(skipped),
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

/// One case of one pair, to be run.
struct Task<'a> {
    producer: &'a Driver,
    consumer: &'a Driver,
    case: &'a Case,
}

/// What came of the tasks, in their order; those behind an end that `each` asked for are left out.
fn run_all(
    tasks: &[Task<'_>],
    each: impl FnMut(&Cell) -> ControlFlow<()> + Send,
) -> Vec<Result<Cell, Skipped>> {
    let next = Mutex::new(tasks.iter().enumerate());
    let done = Mutex::new((each, vec![None; tasks.len()], false));
    let work = || {
        loop {
            let Some((index, task)) = held(&next).next() else { return };
            if held(&done).2 {
                return;
            }
            let cell = cell(task.producer, task.consumer, task.case);
            let (each, cells, is_over) = &mut *held(&done);
            *is_over |= cell.as_ref().is_ok_and(|cell| each(cell).is_break());
            cells[index] = Some(cell);
        }
    };
    // Each case has two processes, of which one waits for the other.
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let (_, cells, _) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    cells.into_iter().flatten().collect()
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
