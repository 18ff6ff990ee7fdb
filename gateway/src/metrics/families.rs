//! A metric with its labelled values.

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

pub(super) type Labels = Vec<(&'static str, String)>;

/// A name, what it means, and its values. The unit and `_total` are put behind the name.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) unit: Option<Unit>,
    pub(super) kind: MetricType,
    pub(super) rows: Vec<(Labels, f64)>,
}

impl Family {
    pub(super) fn counter(name: &str, help: &str, unit: Option<Unit>) -> Family {
        let (name, help) = (name.to_owned(), help.to_owned());
        Family { name, help, unit, kind: MetricType::Counter, rows: Vec::new() }
    }

    pub(super) fn gauge(name: &str, help: &str, unit: Option<Unit>) -> Family {
        Family { kind: MetricType::Gauge, ..Family::counter(name, help, unit) }
    }

    pub(super) fn add(&mut self, labels: Labels, value: f64) {
        self.rows.push((labels, value));
    }

    /// One that has no labels.
    pub(super) fn with(mut self, value: u64) -> Family {
        self.add(Vec::new(), value as f64);
        self
    }

    pub(super) fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let mut family = encoder.encode_descriptor(&self.name, &self.help, self.unit.as_ref(), self.kind)?;
        for (labels, value) in &self.rows {
            // Without labels it has no braces either.
            if labels.is_empty() {
                return print(self.kind, *value, family);
            }
            print(self.kind, *value, family.encode_family(labels)?)?;
        }
        Ok(())
    }
}

fn print(kind: MetricType, value: f64, row: MetricEncoder<'_>) -> Result<(), std::fmt::Error> {
    // Counts are printed as such.
    let whole = (value.fract() == 0.0 && (0.0..9e15).contains(&value)).then_some(value as u64);
    match (kind, whole) {
        (MetricType::Counter, Some(whole)) => ConstCounter::new(whole).encode(row),
        (MetricType::Counter, None) => ConstCounter::new(value).encode(row),
        (_, Some(whole)) => ConstGauge::new(whole).encode(row),
        (_, None) => ConstGauge::new(value).encode(row),
    }
}
