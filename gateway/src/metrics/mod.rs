//! `/metrics`: what shared memory and the gateway itself count, for Prometheus. Nothing is kept for it: each scrape reads.
//!
//! How many series there are follows from the platform file: nodes, journals and their readers. No label has a client, a token, an
//! account or an instrument.

mod families;
mod form;
mod own;
mod platform;
mod stages;

pub(crate) use form::Form;

use bytes::Bytes;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::http::Shared;
use crate::watch::Look;
use families::Family;
use stages::Stage;

/// All that is printed at one scrape.
#[derive(Debug)]
struct Scrape {
    families: Vec<Family>,
    stages: Vec<Stage>,
    durations: Vec<(&'static str, Histogram)>,
}

/// The metrics in this form. It reads for a moment: not for a thread that serves others.
pub(crate) fn print(shared: &Shared, form: Form) -> Result<Bytes, String> {
    let look = Look::take(&shared.instance)?;
    let kills = shared.watch.kills(&shared.instance, &look, shared.keeps_accounts);
    let mut families = platform::families(&look, kills);
    families.extend(own::families(shared));
    let durations = shared.meter.durations().map(|(class, histogram)| (class, histogram.clone())).collect();
    let scrape = Scrape { families, stages: stages::read(&shared.instance), durations };
    let mut registry = Registry::default();
    registry.register_collector(Box::new(scrape));
    form.encode(&registry)
}

impl Collector for Scrape {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for family in self.families.iter().filter(|family| !family.rows.is_empty()) {
            family.encode(&mut encoder)?;
        }
        if !self.stages.is_empty() {
            let help = "Time of orders by stage, from the quote to td; the sum is that of the buckets";
            let kind = MetricType::Histogram;
            let mut family =
                encoder.encode_descriptor("colo_order_stage", help, Some(&Unit::Seconds), kind)?;
            for stage in &self.stages {
                stage.encode(family.encode_family(&[("stage", stage.name)])?)?;
            }
        }
        let help = "From a request's head until its answer, by class of route";
        let (unit, kind) = (Unit::Seconds, Histogram::TYPE);
        let mut family =
            encoder.encode_descriptor("colo_gateway_request_duration", help, Some(&unit), kind)?;
        for (class, histogram) in &self.durations {
            histogram.encode(family.encode_family(&[("route", *class)])?)?;
        }
        Ok(())
    }
}
