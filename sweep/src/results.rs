//! What is in a sweep's table.

use std::path::{Path, PathBuf};

use crate::error::SweepError;
use crate::store::{Manifest, State, TABLE, is_in_use, read_manifest};

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its name: `0001`.
    pub run: String,
    /// By parameter.
    pub values: Vec<String>,
    /// Empty where the sweep has no days.
    pub day: String,
    /// `train` or `test`.
    pub part: String,
    /// Empty where the sweep has no seeds.
    pub seed: String,
    /// `finished`, `failed`, `timeout`, `open`.
    pub state: String,
    /// Why it did not come to its end.
    pub why: String,
    /// By measure; `None` where there is none.
    pub measures: Vec<Option<f64>>,
}

/// A sweep's folder, as it is read again.
#[derive(Clone, Debug)]
pub struct Results {
    /// Where it is.
    pub folder: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Names of the measures.
    pub measures: Vec<String>,
    /// In the order of the grid.
    pub rows: Vec<Row>,
    /// Somebody is at work in it.
    pub is_alive: bool,
}

impl Results {
    /// Reads manifest and table.
    ///
    /// # Errors
    /// [`SweepError`].
    pub fn read(folder: &Path) -> Result<Results, SweepError> {
        let manifest = read_manifest(folder)?;
        let path = folder.join(TABLE);
        let damaged = |why: String| SweepError::Damaged { path: path.clone(), why };
        let mut table = csv::Reader::from_path(&path).map_err(|error| damaged(error.to_string()))?;
        let head = table.headers().map_err(|error| damaged(error.to_string()))?.clone();
        let own = 1 + manifest.parameters.len() + 5;
        let is_ours = head.get(0) == Some("run")
            && head.len() > own
            && manifest
                .parameters
                .iter()
                .enumerate()
                .all(|(index, axis)| head.get(index + 1) == Some(&axis.key));
        if !is_ours {
            return Err(damaged("its columns are not those that sweep.json says".to_owned()));
        }
        let mut rows = Vec::new();
        for record in table.records() {
            let record = record.map_err(|error| damaged(error.to_string()))?;
            let cell = |index: usize| record.get(index).unwrap_or_default().to_owned();
            let after = 1 + manifest.parameters.len();
            rows.push(Row {
                run: cell(0),
                values: (1..after).map(cell).collect(),
                day: cell(after),
                part: cell(after + 1),
                seed: cell(after + 2),
                state: cell(after + 3),
                why: cell(after + 4),
                measures: (own..head.len()).map(|index| cell(index).parse().ok()).collect(),
            });
        }
        Ok(Results {
            folder: folder.to_owned(),
            measures: head.iter().skip(own).map(str::to_owned).collect(),
            is_alive: manifest.state == State::Running && is_in_use(folder),
            manifest,
            rows,
        })
    }

    /// What means are over: days, or seeds that make a market each.
    pub fn unit(&self) -> &'static str {
        let is_by_seed = self.manifest.days.is_empty() && self.manifest.seeds_are_days;
        if is_by_seed { "seeds" } else { "days" }
    }

    /// In a word: one that was killed is `unfinished`.
    pub fn state_word(&self) -> &'static str {
        match self.manifest.state {
            State::Running if self.is_alive => "running",
            State::Running => "unfinished",
            State::Finished => "finished",
            State::Interrupted => "interrupted",
        }
    }

    /// The parameters by the last words of their keys, where these tell them apart.
    pub fn short_names(&self) -> Vec<String> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let lasts: Vec<String> = self.manifest.parameters.iter().map(|axis| last(&axis.key)).collect();
        let is_alone = |name: &str| lasts.iter().filter(|other| *other == name).count() == 1;
        let names = self.manifest.parameters.iter().zip(&lasts);
        names.map(|(axis, last)| if is_alone(last) { last.clone() } else { axis.key.clone() }).collect()
    }

    /// Where a measure is in the rows.
    pub fn measure(&self, name: &str) -> Option<usize> {
        self.measures.iter().position(|measure| measure == name)
    }

    /// Rows in this state.
    pub fn count(&self, state: &str) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }
}
