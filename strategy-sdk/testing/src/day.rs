//! Where a recorded day comes from.

use std::path::{Path, PathBuf};
use std::time::Duration;

use md::source::{Files, OnBadRow, Options, PriorOrders, SourceError, SourceKind, Tolerance, open};
use strategy_sdk::{Nanos, ParameterError};

use crate::market::{Files as Rebuilt, Market};
use crate::recording::Recorded;

/// The files of a recorded day, and which part of it is meant.
#[derive(Clone, Debug)]
pub struct Day {
    path: PathBuf,
    kind: Kind,
    symbols: Vec<String>,
    from: Option<Nanos>,
    to: Option<Nanos>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Files(SourceKind),
    Recording,
}

/// Why a day could not be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The strategy does not take the parameters.
    #[error("parameters: {0}")]
    Parameters(#[from] ParameterError),
    /// The files.
    #[error(transparent)]
    Files(#[from] SourceError),
    /// The recording.
    #[error("{}: {problem}", .folder.display())]
    Recording {
        /// Its folder.
        folder: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// What the strategy hears and what its orders trade with do not go together.
    #[error(
        "the strategy {0}: let it hear MarketData::Best or Depth, or its orders trade with FillModel::Book"
    )]
    Unfit(&'static str),
    /// The strategy answers its own orders without end.
    #[error(
        "the strategy answered one event with more than {0} requests: it answers its own orders without end"
    )]
    Endless(usize),
}

impl Day {
    fn of(path: impl AsRef<Path>, kind: Kind) -> Day {
        let path = path.as_ref().to_owned();
        Day { path, kind, symbols: Vec::new(), from: None, to: None }
    }

    /// LOBSTER: a message file, or the folder that holds it. Its files name no instrument: [`Day::symbols`] does.
    pub fn lobster(path: impl AsRef<Path>) -> Day {
        Day::of(path, Kind::Files(SourceKind::Lobster))
    }

    /// Shanghai Level 2: the folder of orders and trades.
    pub fn sse(path: impl AsRef<Path>) -> Day {
        Day::of(path, Kind::Files(SourceKind::Sse))
    }

    /// BATS PITCH: a file, or its folder.
    pub fn pitch(path: impl AsRef<Path>) -> Day {
        Day::of(path, Kind::Files(SourceKind::Pitch))
    }

    /// Databento, market by order: a file, or its folder.
    pub fn dbn(path: impl AsRef<Path>) -> Day {
        Day::of(path, Kind::Files(SourceKind::Dbn))
    }

    /// What the recorder of a platform wrote: the folder of a recording, or one that holds those of one instance.
    pub fn recording(path: impl AsRef<Path>) -> Day {
        Day::of(path, Kind::Recording)
    }

    /// These instruments alone.
    pub fn symbols<'a>(self, symbols: impl IntoIterator<Item = &'a str>) -> Day {
        Day { symbols: symbols.into_iter().map(str::to_owned).collect(), ..self }
    }

    /// What lies before this time of day only builds the books.
    pub fn from(self, after_midnight: Duration) -> Day {
        Day { from: Some(nanos(after_midnight)), ..self }
    }

    /// What lies from this time of day on is left out.
    pub fn to(self, after_midnight: Duration) -> Day {
        Day { to: Some(nanos(after_midnight)), ..self }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Market>, ReplayError> {
        match self.kind {
            Kind::Files(kind) => {
                let options = Options {
                    from: self.from,
                    to: self.to,
                    symbols: self.symbols.clone(),
                    on_bad_row: OnBadRow::Stop,
                    tolerate: Tolerance::default(),
                    prior: PriorOrders::default(),
                    date: None,
                };
                let source = open(kind, &Files::Path(self.path.clone()), &options)?;
                Ok(Box::new(Rebuilt::new(source)))
            }
            Kind::Recording => {
                let recorded = Recorded::open(&self.path, &self.symbols, self.from, self.to);
                let failed = |problem| ReplayError::Recording { folder: self.path.clone(), problem };
                Ok(Box::new(recorded.map_err(failed)?))
            }
        }
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}
