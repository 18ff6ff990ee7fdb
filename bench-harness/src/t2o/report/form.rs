//! Formats figures as text.

use crate::t2o::result::CellResult;

/// Microseconds with a suitable number of digits: `0.84`, `51.7`, `1,204`.
pub(super) fn us(figure: f64) -> String {
    match figure {
        figure if figure < 10.0 => format!("{figure:.2}"),
        figure if figure < 100.0 => format!("{figure:.1}"),
        figure => thousands(figure.round() as u64),
    }
}

/// `51.7–60.2`, or one figure when both print the same.
pub(super) fn range(bounds: [f64; 2]) -> String {
    let [low, high] = bounds.map(us);
    if low == high { low } else { format!("{low}–{high}") }
}

/// `1,204`.
pub(super) fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate without needless digits.
pub(super) fn rate(rate: f64) -> String {
    if rate.fract() == 0.0 { thousands(rate as u64) } else { rate.to_string() }
}

/// Seconds between two quotes of one instrument.
pub(super) fn interval(cell: &CellResult, instruments: u32) -> String {
    seconds(f64::from(instruments) / cell.rate)
}

/// To the microsecond, without needless digits.
fn seconds(seconds: f64) -> String {
    let text = if seconds < 1.0 { format!("{seconds:.6}") } else { format!("{seconds:.2}") };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Mean of one stage as in the report: the range of the means of the runs.
pub(super) fn means(cell: &CellResult, stage: &str) -> String {
    cell.stage(stage).map_or("–".to_owned(), |stage| range(stage.mean_us))
}

/// `2026-11-21 09:15 UTC`.
pub(super) fn date(unix: u64) -> String {
    let (days, seconds) = (unix / 86_400, unix % 86_400);
    // Days since 1 March of year 0: then leap days come last, and months count evenly.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", seconds / 3_600, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_what_they_deserve() {
        assert_eq!([us(0.836), us(51.66), us(1_204.4), us(0.0)], ["0.84", "51.7", "1,204", "0.00"]);
        assert_eq!(range([51.66, 51.68]), "51.7");
        assert_eq!(range([5.0, 51.66]), "5.00–51.7");
        assert_eq!([rate(8_000.0), rate(0.333)], ["8,000", "0.333"]);
        assert_eq!([seconds(0.000125), seconds(240.24024), seconds(400.0)], ["0.000125", "240.24", "400"]);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_795_247_410), "2026-11-21 07:50 UTC");
    }
}
