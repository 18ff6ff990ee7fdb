//! What is said of rows of a recorded day that contradict others, for readers who have never seen the names.

use observe::Irregular;

use crate::output::number;

/// Two lines at most: contradictions, which count against `md.tolerate`; and what sound files may have too.
pub(super) fn text(irregular: &Irregular) -> String {
    let (mut wrong, mut sound) = (Vec::new(), Vec::new());
    for (name, count) in irregular.kinds() {
        // Those at seams are told apart from the others.
        let count = if name == "displaced" { count.saturating_sub(irregular.at_seams) } else { count };
        let (words, is_sound) = words(name);
        if count > 0 {
            let list = if is_sound { &mut sound } else { &mut wrong };
            list.push(format!("{} {words} ({name})", number(count)));
        }
    }
    let line = |head: &str, list: &[String]| match list {
        [] => String::new(),
        list => format!("\n{head}: {}", list.join(", ")),
    };
    line("source, contradictions", &wrong) + &line("source, also seen", &sound)
}

/// What a kind is, and whether sound files may have it.
fn words(name: &str) -> (&'static str, bool) {
    match name {
        "displaced" => ("order numbers given out twice", false),
        "excess" => ("rows that take more than is left of an order", false),
        "off_time" => ("rows out of the order of time", false),
        "off_price" => ("rows off a price or side", false),
        "off_quantity" => ("rows off a quantity or sum of money", false),
        "unmatched" => ("rows about an order that is not there", false),
        "reused" => ("orders with the number of one that is gone", false),
        "crossed" => ("times a crossed book: rows are missing or wrong", false),
        "unended" => ("files without a line end: perhaps cut off", false),
        "prior" => ("orders from before the first row", true),
        "stale" => ("orders proved gone by a later row", true),
        "at_seams" => ("orders ended by the start of another session", true),
        "unknown" => ("rows about orders from before the first row, left out", true),
        _ => ("rows of another kind", false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_and_what_sound_files_have_are_told_apart() {
        assert_eq!(text(&Irregular::default()), "");
        let seen = Irregular { displaced: 7, at_seams: 7, prior: 55, ..Irregular::default() };
        assert_eq!(
            text(&seen),
            "\nsource, also seen: 55 orders from before the first row (prior), 7 orders ended by the start of another \
             session (at_seams)"
        );
        let wrong = text(&Irregular { crossed: 1, displaced: 8, ..seen });
        assert!(wrong.starts_with(
            "\nsource, contradictions: 1 order numbers given out twice (displaced), 1 times a crossed"
        ));
    }

    #[test]
    fn each_kind_has_its_words() {
        for (name, _) in Irregular::default().kinds() {
            assert_ne!(words(name).0, words("").0, "{name}");
        }
    }
}
