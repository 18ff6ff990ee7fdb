//! The models between strategies and market: the queue, and how long requests and reports are under way.

use std::time::Duration;

use super::Rules;
use crate::config::{DrawnLatency, Fill, Latency, Queue, RestartPolicy};

pub(super) fn check(rules: &mut Rules<'_>) {
    let matching = &rules.config.matching;
    if matching.queue == Queue::Position && matching.fill == Fill::Quotes {
        rules.error(
            "matching.queue",
            "quotes do not say which orders rest at a price: nobody knows an order's position among them",
            "write \"through\" (behind all of them) or \"touch\" (before all), or fill from a recorded book",
        );
    }
    for (key, latency) in
        [("order_latency", &matching.order_latency), ("report_latency", &matching.report_latency)]
    {
        let path = format!("matching.{key}");
        if let Latency::Drawn(drawn) = latency
            && let Some((message, help)) = fault(drawn)
        {
            rules.error(&path, message, help);
        }
        if *latency == Latency::NONE {
            continue;
        }
        if !rules.config.is_in_lock_step() {
            rules.error(
                &path,
                format!("`{key}` goes by the market's time, which only lock-step has: this platform races"),
                "leave it out, or make it a backtest: a replay at md.speed = \"max\" without `live`",
            );
        } else if matching.run.restart != RestartPolicy::Never {
            rules.error(
                "matching.restart",
                format!("with `{key}`, what is under way is lost with the process, and nobody could go on"),
                "leave it out: it is \"never\" then",
            );
        }
    }
    let fill = matching.fill;
    for key in ["queue", "order_latency", "report_latency", "latency_seed"] {
        let path = format!("matching.{key}");
        if matches!(fill, Fill::Exchange | Fill::External) && rules.rows.is_written(&path) {
            let message =
                format!("`{key}` means nothing: matching.fill is \"{fill}\", not \"book\" or \"quotes\"");
            rules.warning(&path, message, "leave it out");
        }
    }
}

/// What is wrong with a table, and what to write.
fn fault(drawn: &DrawnLatency) -> Option<(String, String)> {
    let DrawnLatency { uniform, normal, lognormal, samples, .. } = drawn;
    let given = [uniform.is_some(), normal.is_some(), lognormal.is_some(), samples.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        let message = "a delay is drawn in exactly one way".to_owned();
        return Some((message, "write one of uniform, normal, lognormal, samples".to_owned()));
    }
    if uniform.as_ref().is_some_and(|uniform| uniform.max == Duration::ZERO && uniform.min > Duration::ZERO) {
        let message = "uniform: max is missing".to_owned();
        return Some((message, "as in { min = \"100us\", max = \"200us\" }".to_owned()));
    }
    if uniform.as_ref().is_some_and(|uniform| uniform.max < uniform.min) {
        let message = "uniform.max is below uniform.min".to_owned();
        return Some((message, "exchange them".to_owned()));
    }
    if normal.as_ref().is_some_and(|normal| normal.mean == Duration::ZERO) {
        let message = "half of a normal distribution with mean zero lies below zero".to_owned();
        return Some((message, "write a mean, as in { mean = \"150us\", sd = \"20us\" }".to_owned()));
    }
    if lognormal.as_ref().is_some_and(|it| it.median == Duration::ZERO || it.p99 < it.median) {
        let message = "of a lognormal distribution the median is above zero, and p99 no less".to_owned();
        return Some((message, "as in { median = \"150us\", p99 = \"900us\" }".to_owned()));
    }
    None
}
