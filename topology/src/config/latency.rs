//! Of `[matching]`: the way between the strategies and a recorded or quoted market, in a backtest.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use settings::schema::{Kind, Section};
use settings::{described, duration, section, words};

/// Longest delay.
pub(crate) const LONGEST_NS: u64 = 3_600_000_000_000;

/// Every delay's range.
const RANGE: Kind = Kind::Duration { min_ns: 0, max_ns: LONGEST_NS };

words! {
    /// Where a strategy's order stands among those of a recorded or quoted market at its price.
    pub enum Queue ("place in the queue") {
        /// Behind those that rested there before it, and before those that came later; `fill = "book"` only.
        Position = "position",
        /// Behind all: a trade fills it only at a worse price than its own, or where something comes in that crosses it.
        Through = "through",
        /// Before all: any trade at its price fills it. An upper bound.
        Touch = "touch",
    }
}

words! {
    /// Which stages of a run's orders are taken for a delay.
    pub enum LatencyStage ("stages of an order") {
        /// From the publication of the market data to the order's arrival at td (t1 to t4).
        T2o = "t2o",
        /// From the publication of the market data until the strategy has it (t1 to t2).
        Md = "md",
        /// From the strategy to td (t3 to t4).
        Order = "order",
    }
}

/// How long something is under way.
#[derive(Clone, Debug, PartialEq)]
pub enum Latency {
    /// Always as long.
    Constant(Duration),
    /// Drawn anew for each.
    Drawn(Box<DrawnLatency>),
}

impl Latency {
    /// Nothing is ever under way.
    pub const NONE: Latency = Latency::Constant(Duration::ZERO);

    /// The run whose times are drawn, if it is one.
    pub fn samples(&self) -> Option<&Path> {
        match self {
            Latency::Drawn(drawn) => drawn.samples.as_deref(),
            Latency::Constant(_) => None,
        }
    }

    /// A relative path starts at `folder`.
    pub(crate) fn rebase(&mut self, folder: &Path) {
        if let Latency::Drawn(drawn) = self
            && let Some(path) = &mut drawn.samples
        {
            *path = folder.join(&*path);
        }
    }
}

section! {
    /// A delay that is drawn: exactly one of `uniform`, `normal`, `lognormal`, `samples`.
    pub struct DrawnLatency {
        /// Each value between two is as likely.
        uniform: Option<UniformLatency> = None;
        /// A normal distribution, cut off at zero.
        normal: Option<NormalLatency> = None;
        /// A lognormal distribution: the long tail that networks and hosts have.
        lognormal: Option<LognormalLatency> = None;
        /// The times of a real run: its folder, or a file with the columns of t2o.csv.
        samples: Option<PathBuf> = None;
        /// Which stages of `samples`.
        stage: LatencyStage = LatencyStage::T2o;
    }
}

section! {
    /// `{ uniform = { min = "100us", max = "200us" } }`.
    pub struct UniformLatency {
        /// The shortest.
        #[serde(with = "duration")]
        min: Duration = Duration::ZERO => RANGE;
        /// The longest.
        #[serde(with = "duration")]
        max: Duration = Duration::ZERO => RANGE;
    }
}

section! {
    /// `{ normal = { mean = "150us", sd = "20us" } }`.
    pub struct NormalLatency {
        /// The mean.
        #[serde(with = "duration")]
        mean: Duration = Duration::ZERO => RANGE;
        /// The standard deviation.
        #[serde(with = "duration")]
        sd: Duration = Duration::ZERO => RANGE;
    }
}

section! {
    /// `{ lognormal = { median = "150us", p99 = "900us" } }`.
    pub struct LognormalLatency {
        /// Half are shorter.
        #[serde(with = "duration")]
        median: Duration = Duration::ZERO => RANGE;
        /// One in a hundred is longer.
        #[serde(with = "duration")]
        p99: Duration = Duration::ZERO => RANGE;
    }
}

described! {
    Latency = Kind::Either(&[RANGE, Kind::Table(<DrawnLatency as Section>::TABLE)]);
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Latency::Constant(delay) => duration::serialize(delay, serializer),
            Latency::Drawn(drawn) => drawn.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Constant(#[serde(with = "duration")] Duration),
            Drawn(Box<DrawnLatency>),
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Constant(delay) => Latency::Constant(delay),
            Form::Drawn(drawn) => Latency::Drawn(drawn),
        })
    }
}

/// As the platform file writes it; a constant without its quotes.
impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = humantime::format_duration;
        let drawn = match self {
            Latency::Constant(delay) => return write!(f, "{}", text(*delay)),
            Latency::Drawn(drawn) => drawn,
        };
        if let Some(uniform) = &drawn.uniform {
            let (min, max) = (text(uniform.min), text(uniform.max));
            return write!(f, "{{ uniform = {{ min = \"{min}\", max = \"{max}\" }} }}");
        }
        if let Some(normal) = &drawn.normal {
            let (mean, sd) = (text(normal.mean), text(normal.sd));
            return write!(f, "{{ normal = {{ mean = \"{mean}\", sd = \"{sd}\" }} }}");
        }
        if let Some(lognormal) = &drawn.lognormal {
            let (median, p99) = (text(lognormal.median), text(lognormal.p99));
            return write!(f, "{{ lognormal = {{ median = \"{median}\", p99 = \"{p99}\" }} }}");
        }
        let samples = drawn.samples.as_deref().unwrap_or(Path::new("")).display();
        write!(f, "{{ samples = \"{samples}\", stage = \"{}\" }}", drawn.stage)
    }
}
