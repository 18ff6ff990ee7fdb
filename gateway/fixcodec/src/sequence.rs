//! The rules of sequence numbers: what is done with a message, by its number. Pure.

use crate::codec::Message;

/// What is done with a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the next one.
    Take,
    /// Some before it are missing: they are asked for, and this one comes again with them.
    Ask,
    /// It was there before.
    Pass,
    /// The next message will have this number.
    Jump(u64),
    /// It says a number that cannot be: the tag, and why.
    Refuse(u32, &'static str),
    /// There is no way to go on.
    End(String),
}

/// Looks at a message's number, where `next` is expected.
pub fn judge(message: &Message, next: u64) -> Verdict {
    let (sequence, is_again) = (message.sequence(), message.is(43));
    let kind = message.kind();
    let new = message.number(36).unwrap_or_default();
    if kind == "4" && !message.is(123) {
        // A reset is obeyed whatever its own number; it never goes back.
        return match new {
            new if new >= next => Verdict::Jump(new),
            _ => Verdict::Refuse(36, "a SequenceReset cannot go back"),
        };
    }
    if sequence == 0 {
        return Verdict::End("MsgSeqNum (34) is missing or no number".to_owned());
    }
    if sequence < next {
        return match is_again {
            true => Verdict::Pass,
            false => Verdict::End(format!("MsgSeqNum too low, expecting {next} but received {sequence}")),
        };
    }
    if sequence > next {
        return Verdict::Ask;
    }
    match kind {
        "4" if new > sequence => Verdict::Jump(new),
        "4" => Verdict::Refuse(36, "a gap fill goes forward"),
        _ => Verdict::Take,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(fields: &[(u32, &str)]) -> Message {
        Message { fields: fields.iter().map(|(tag, value)| (*tag, (*value).to_owned())).collect() }
    }

    #[test]
    fn numbers_go_up_by_one_and_nothing_is_taken_twice() {
        let of = |fields: &[(u32, &str)]| judge(&message(fields), 5);
        assert_eq!(of(&[(35, "D"), (34, "5")]), Verdict::Take);
        assert_eq!(of(&[(35, "D"), (34, "7")]), Verdict::Ask);
        assert_eq!(of(&[(35, "D"), (34, "4"), (43, "Y")]), Verdict::Pass);
        assert!(matches!(of(&[(35, "D"), (34, "4")]), Verdict::End(_)));
        assert!(matches!(of(&[(35, "D"), (34, "x")]), Verdict::End(_)));
        assert_eq!(of(&[(35, "4"), (34, "5"), (123, "Y"), (36, "9")]), Verdict::Jump(9));
        assert_eq!(of(&[(35, "4"), (34, "6"), (123, "Y"), (36, "9")]), Verdict::Ask);
        assert!(matches!(of(&[(35, "4"), (34, "5"), (123, "Y"), (36, "5")]), Verdict::Refuse(36, _)));
        assert_eq!(of(&[(35, "4"), (34, "1"), (36, "9")]), Verdict::Jump(9));
        assert!(matches!(of(&[(35, "4"), (34, "1"), (36, "4")]), Verdict::Refuse(36, _)));
    }
}
