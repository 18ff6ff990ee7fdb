//! The values of a parameter: a list, or a range with exact decimals.
//!
//! | written | values |
//! |---|---|
//! | `[1, 2, "x"]` | these |
//! | `{ from = 0.1, to = 0.5, step = 0.1 }` | 0.1, 0.2, 0.3, 0.4, 0.5: computed in decimals, `to` where the steps reach it |
//! | `{ from = 1, to = 1000, log = 4 }` | 1, 10, 100, 1000: as many, each the same multiple of the one before |

use std::collections::BTreeSet;

use serde_json::Value as Json;
use settings::{Report, Span, Table, nearest};
use topology::config::Decimal;

/// More values than this are no list of a parameter.
const MOST_VALUES: i128 = 10_000;
/// Digits of the values between the ends of a range by ratio.
const DIGITS: i32 = 4;

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// As in tables.
    pub text: String,
    /// As behind `--set KEY=`.
    pub toml: String,
    /// Where it is written: of a range, the whole of it.
    pub(crate) span: Span,
}

/// Keys of a range.
const KEYS: [&str; 4] = ["from", "to", "step", "log"];

/// Whether the table is a range and not a table of the platform file: `md.from` is a time of day.
pub(crate) fn is_range(table: &Table) -> bool {
    let is_number = |key| table.value(key).is_some_and(|(value, _)| decimal(&value).is_some());
    is_number("from") || is_number("to")
}

/// The elements of a list.
pub(crate) fn of_list(key: &str, span: Span, items: &[(Json, Span)], report: &mut Report) -> Vec<Value> {
    if items.is_empty() {
        report.error(span, format!("`{key}` has no value to try")).help("write at least one: [1, 2, 3]");
    }
    let (mut seen, mut values) = (BTreeSet::new(), Vec::new());
    for (item, span) in items {
        let value = Value { text: text(item), toml: toml(item), span: *span };
        match seen.insert(value.toml.clone()) {
            true => values.push(value),
            false => {
                report
                    .error(*span, format!("`{key}` has the value {} twice", value.text))
                    .help("the same run twice says nothing more: leave one out");
            }
        }
    }
    values
}

/// The steps of a range.
pub(crate) fn of_range(key: &str, span: Span, table: &Table, report: &mut Report) -> Vec<Value> {
    for unknown in table.keys().filter(|name| !KEYS.contains(name)) {
        let noted = report.error(table.key_span(unknown), format!("unknown key `{unknown}` in a range"));
        match nearest(unknown, KEYS) {
            Some(near) => noted.help(format!("did you mean `{near}`?")),
            None => {
                noted.help("a range is { from = 1, to = 10, step = 1 } or { from = 1, to = 1000, log = 4 }")
            }
        };
    }
    let mut number = |name: &str| {
        let found = table.value(name);
        let value = found.as_ref().and_then(|(value, _)| decimal(value));
        match (&value, found) {
            (None, Some((_, span))) => {
                report
                    .error(span, format!("`{name}` of this range is no exact number"))
                    .help("write a number with up to nine places behind the point");
            }
            (None, None) if name != "step" && name != "log" => {
                report.error(span, format!("the range of `{key}` has no `{name}`")).help("write from and to");
            }
            _ => {}
        }
        value
    };
    let (from, to) = (number("from"), number("to"));
    let (step, log) = (number("step"), number("log"));
    let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
    let texts = match (step, log) {
        (Some(step), None) => stepped(from, to, step),
        (None, Some(count)) => by_ratio(from, to, count),
        (Some(_), Some(_)) => Err("write `step` or `log`, not both".to_owned()),
        (None, None) if table.keys().any(|name| name == "step" || name == "log") => return Vec::new(),
        (None, None) => {
            Err("write `step`, how far values lie apart, or `log`, how many there are from one end to the other by ratio".to_owned())
        }
    };
    match texts {
        Ok(texts) => texts.into_iter().map(|text| Value { toml: text.clone(), text, span }).collect(),
        Err(help) => {
            report.error(span, format!("the range of `{key}` has no steps")).help(help);
            Vec::new()
        }
    }
}

fn stepped(from: i128, to: i128, step: i128) -> Result<Vec<String>, String> {
    if step == 0 || (to - from).signum() * step.signum() < 0 {
        return Err("the step must lead from `from` to `to`".to_owned());
    }
    let steps = (to - from) / step;
    if steps >= MOST_VALUES {
        return Err(format!("that would be {} values; {MOST_VALUES} are allowed", steps + 1));
    }
    Ok((0..=steps).map(|number| shown(from + number * step)).collect())
}

fn by_ratio(from: i128, to: i128, count: i128) -> Result<Vec<String>, String> {
    let count = match count % Decimal::ONE {
        0 if (2..=MOST_VALUES).contains(&(count / Decimal::ONE)) => count / Decimal::ONE,
        _ => return Err(format!("`log` is how many values there are, from 2 to {MOST_VALUES}")),
    };
    if from <= 0 || to <= 0 {
        return Err("both ends of a range by ratio are above zero".to_owned());
    }
    let is_whole = from % Decimal::ONE == 0 && to % Decimal::ONE == 0;
    let ratio = to as f64 / from as f64;
    let mut values: Vec<i128> = Vec::new();
    for number in 0..count {
        let value = match number {
            0 => from,
            last if last + 1 == count => to,
            _ => {
                let exact = from as f64 * ratio.powf(number as f64 / (count - 1) as f64);
                let unit = 10_f64.powi((exact.log10().floor() as i32 + 1 - DIGITS).max(0));
                let rounded = (exact / unit).round() as i128 * unit as i128;
                if is_whole { (rounded + Decimal::ONE / 2) / Decimal::ONE * Decimal::ONE } else { rounded }
            }
        };
        // Of whole numbers that lie close together, some come twice.
        if values.last() != Some(&value) {
            values.push(value);
        }
    }
    Ok(values.into_iter().map(shown).collect())
}

/// In 1e-9; `None` for what is no exact number.
fn decimal(value: &Json) -> Option<i128> {
    let text = match value {
        Json::Number(number) => number.as_f64().map(|float| match number.as_i64() {
            Some(whole) => whole.to_string(),
            None => float.to_string(),
        })?,
        Json::String(text) => text.clone(),
        _ => return None,
    };
    text.parse::<Decimal>().ok().map(|decimal| decimal.0)
}

/// Without zeros that say nothing.
fn shown(value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let (whole, places) = (value.unsigned_abs() / 1_000_000_000, value.unsigned_abs() % 1_000_000_000);
    let text = format!("{sign}{whole}.{places:09}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// As a cell of a table has it.
fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => toml(other),
    }
}

/// As TOML on one line.
pub(crate) fn toml(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        Json::Object(object) => {
            let pairs = object.iter().map(|(key, value)| format!("{} = {}", quoted(key), toml(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A key as TOML takes it.
pub(crate) fn quoted(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { Json::from(key).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> i128 {
        text.parse::<Decimal>().unwrap().0
    }

    #[test]
    fn a_range_is_exact_and_ends_where_it_says() {
        let range = |from, to, step| stepped(number(from), number(to), number(step));
        assert_eq!(range("0.1", "0.5", "0.1").unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(range("1", "10", "4").unwrap(), ["1", "5", "9"]);
        assert_eq!(range("1", "-1", "-0.5").unwrap(), ["1", "0.5", "0", "-0.5", "-1"]);
        assert_eq!(range("2", "2", "1").unwrap(), ["2"]);
        assert!(range("1", "2", "-1").is_err() && range("1", "2", "0").is_err());
        assert!(range("0", "1", "0.000001").is_err(), "a million values");
    }

    #[test]
    fn a_range_by_ratio_has_its_ends_and_no_value_twice() {
        let range = |from, to, count| by_ratio(number(from), number(to), number(count));
        assert_eq!(range("1", "1000", "4").unwrap(), ["1", "10", "100", "1000"]);
        assert_eq!(range("0.001", "1", "4").unwrap(), ["0.001", "0.01", "0.1", "1"]);
        assert_eq!(range("1", "4", "9").unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(range("0.5", "2", "3").unwrap(), ["0.5", "1", "2"]);
        assert_eq!(range("100", "1", "3").unwrap(), ["100", "10", "1"]);
        assert!(range("0", "1", "3").is_err() && range("1", "2", "1").is_err());
    }

    #[test]
    fn values_are_written_as_toml_takes_them() {
        let value = serde_json::json!(["a\"b", 1, 0.5, true, { "x": 1 }]);
        assert_eq!(toml(&value), r#"["a\"b", 1, 0.5, true, { x = 1 }]"#);
        assert_eq!((quoted("quote_ticks"), quoted("a.b")), ("quote_ticks".to_owned(), "\"a.b\"".to_owned()));
    }
}
