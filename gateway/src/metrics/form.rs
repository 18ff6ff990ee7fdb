//! In which of its forms Prometheus wants its metrics.

use bytes::Bytes;
use prometheus_client::encoding::{prometheus_protobuf, text};
use prometheus_client::registry::Registry;

/// The forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The text format of always, for whoever says nothing else.
    Text,
    /// OpenMetrics.
    OpenMetrics,
    /// The only one that has native histograms.
    Protobuf,
}

impl Form {
    /// Which of them is wanted most.
    pub(crate) fn of(accept: &str) -> Form {
        let mut best = (Form::Text, 0.0);
        for wish in accept.split(',') {
            let (kind, rest) = wish.split_once(';').unwrap_or((wish, ""));
            let form = match kind.trim() {
                "application/vnd.google.protobuf" if rest.contains("io.prometheus.client.MetricFamily") => {
                    Form::Protobuf
                }
                "application/openmetrics-text" => Form::OpenMetrics,
                "text/plain" => Form::Text,
                _ => continue,
            };
            let weight = rest.split(';').find_map(|part| part.trim().strip_prefix("q=")?.parse().ok());
            let weight: f64 = weight.unwrap_or(1.0);
            if weight > best.1 {
                best = (form, weight);
            }
        }
        best.0
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Form::Text => "text/plain; version=0.0.4; charset=utf-8",
            Form::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Form::Protobuf => {
                "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            }
        }
    }

    pub(super) fn encode(self, registry: &Registry) -> Result<Bytes, String> {
        let mut printed = String::new();
        match self {
            Form::Protobuf => {
                let bytes = prometheus_protobuf::encode_to_vec(registry);
                return bytes.map(Bytes::from).map_err(|error| error.to_string());
            }
            Form::OpenMetrics => text::encode(&mut printed, registry),
            Form::Text => text::encode_registry(&mut printed, registry),
        }
        .map_err(|error| format!("the metrics cannot be printed: {error}"))?;
        Ok(Bytes::from(if self == Form::Text { classic(&printed) } else { printed }))
    }
}

/// The older format says a counter's `_total` also where it is described, and has no units of their own.
fn classic(open_metrics: &str) -> String {
    let mut counters: Vec<&str> = Vec::new();
    for line in open_metrics.lines() {
        if let Some(name) = line.strip_prefix("# TYPE ").and_then(|rest| rest.strip_suffix(" counter")) {
            counters.push(name);
        }
    }
    let mut printed = String::with_capacity(open_metrics.len());
    let mut number = 0;
    for line in open_metrics.lines().filter(|line| !line.starts_with("# UNIT ")) {
        let described = line.strip_prefix("# HELP ").or_else(|| line.strip_prefix("# TYPE "));
        let name = described.and_then(|rest| rest.split(' ').next());
        // In the order of the lines: HELP, then TYPE of each.
        match (name, counters.get(number)) {
            (Some(name), Some(counter)) if name == *counter => {
                let (head, rest) = line.split_at("# HELP ".len() + name.len());
                printed.push_str(head);
                printed.push_str("_total");
                printed.push_str(rest);
                number += usize::from(line.starts_with("# TYPE "));
            }
            _ => printed.push_str(line),
        }
        printed.push('\n');
    }
    printed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_gets_the_form_that_it_wants_most() {
        let prometheus = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,\
                          application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.1";
        for (accept, form) in [
            ("", Form::Text),
            ("*/*", Form::Text),
            ("text/plain", Form::Text),
            ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4", Form::OpenMetrics),
            (prometheus, Form::Protobuf),
            ("application/vnd.google.protobuf;proto=another;q=1", Form::Text),
        ] {
            assert_eq!(Form::of(accept), form, "{accept}");
        }
    }

    #[test]
    fn counters_are_described_by_the_name_that_their_samples_have() {
        let open = "# HELP a_bytes What.\n# TYPE a_bytes counter\n# UNIT a_bytes bytes\na_bytes_total{x=\"y\"} 1\n\
                    # HELP b That.\n# TYPE b gauge\nb 2\n";
        assert_eq!(
            classic(open),
            "# HELP a_bytes_total What.\n# TYPE a_bytes_total counter\na_bytes_total{x=\"y\"} 1\n# HELP b That.\n# TYPE b gauge\nb 2\n"
        );
    }
}
