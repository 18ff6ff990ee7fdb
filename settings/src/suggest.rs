//! "Did you mean …?"

/// The candidate most like `written`, if one is like it enough: at most a third of its letters differ.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let written = plain(written);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&written, &plain(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `a`, `b` or `c`.
pub fn or_list<'a>(words: impl IntoIterator<Item = &'a str>, quote: &str) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("{quote}{word}{quote}")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["source", "interval", "max_position", "to"];
        assert_eq!(nearest("sorce", keys), Some("source"));
        assert_eq!(nearest("Interval", keys), Some("interval"));
        assert_eq!(nearest("max-position", keys), Some("max_position"));
        assert_eq!(nearest("banana", keys), None);
        assert_eq!(or_list(["a", "b", "c"], "`"), "`a`, `b` or `c`");
        assert_eq!(or_list(["a"], "\""), "\"a\"");
    }
}
