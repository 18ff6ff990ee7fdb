//! Names as each language writes them.

/// `NewOrder` → `new_order`, `MAX_PAYLOAD` → `max_payload`, `sent-late` → `sent_late`.
pub(crate) fn snake(name: &str) -> String {
    let is_constant = name.chars().all(|letter| letter.is_ascii_uppercase() || !letter.is_ascii_alphabetic());
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !is_constant && !text.is_empty() {
            text.push('_');
        }
        text.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    text
}

/// `NewOrder` → `NEW_ORDER`.
pub(crate) fn shout(name: &str) -> String {
    snake(name).to_uppercase()
}

/// `NEW_ORDER` → `NewOrder`.
pub(crate) fn camel(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1.min(word.len()));
        format!("{}{}", first.to_uppercase(), rest.to_lowercase())
    };
    name.split('_').map(word).collect()
}
