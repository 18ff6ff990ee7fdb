//! What is said of rows of a recorded day that contradict others, for readers who have never seen the names.

use observe::Irregular;
use wire::{Irregularity, Verdict};

use crate::output::number;

/// Two lines at most: contradictions, which count against `md.tolerate`; and what sound files may have too. `quotes`: published in all.
pub(super) fn text(irregular: &Irregular, quotes: u64) -> String {
    let share = |kind, count: u64| match kind {
        Irregularity::PriorQuotes if quotes > 0 => {
            format!(", {:.1} % of all", count as f64 * 100.0 / quotes as f64)
        }
        _ => String::new(),
    };
    let list = |verdicts: &[Verdict]| -> Vec<String> {
        let seen = Irregularity::seen(verdicts, |kind| irregular.of(kind));
        let words = |(kind, count): (Irregularity, u64)| {
            format!("{} {}{} ({})", number(count), kind.words(), share(kind, count), kind.as_str())
        };
        seen.map(words).collect()
    };
    let wrong = list(&[Verdict::Contradiction, Verdict::Suspicion]);
    let sound = list(&[Verdict::Sound]);
    let line = |head: &str, list: &[String]| match list {
        [] => String::new(),
        list => format!("\n{head}: {}", list.join(", ")),
    };
    line("source, contradictions", &wrong) + &line("source, also seen", &sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_and_what_sound_files_have_are_told_apart() {
        assert_eq!(text(&Irregular::default(), 0), "");
        let with = |displaced: u64, crossed: u64| {
            Irregular::gather(|kind| match kind {
                Irregularity::Displaced => displaced,
                Irregularity::AtSeams => 7,
                Irregularity::Prior => 55,
                Irregularity::Crossed => crossed,
                _ => 0,
            })
        };
        assert_eq!(
            text(&with(7, 0), 0),
            "\nsource, also seen: 55 orders from before the first row (prior), 7 orders ended by the start of another \
             session (at_seams)"
        );
        let wrong = text(&with(8, 1), 0);
        assert!(wrong.starts_with(
            "\nsource, contradictions: 1 order numbers given out twice (displaced), 1 times a crossed"
        ));
    }

    #[test]
    fn quotes_that_rest_on_later_rows_come_with_their_share() {
        let seen = Irregular::gather(|kind| if kind == Irregularity::PriorQuotes { 3 } else { 0 });
        assert_eq!(
            text(&seen, 40),
            "\nsource, also seen: 3 quotes whose best bid or ask only later rows prove, 7.5 % of all (prior_quotes)"
        );
    }
}
