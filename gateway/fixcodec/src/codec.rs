//! FIX's tag=value encoding: messages taken out of a stream, and written. Pure.

use std::collections::HashSet;

/// Ends each field.
pub const SOH: u8 = 1;
/// Bytes of a message at most.
pub const LONGEST: usize = 64 << 10;
/// Fields of a message at most.
const MOST_FIELDS: usize = 4_096;
/// "10=nnn" and its end.
const TRAILER: usize = 7;

/// Fields that hold any bytes, behind the ones that say how many.
const DATA: [(u32, u32); 16] = [
    (90, 91),
    (93, 89),
    (95, 96),
    (212, 213),
    (348, 349),
    (350, 351),
    (352, 353),
    (354, 355),
    (356, 357),
    (358, 359),
    (360, 361),
    (362, 363),
    (364, 365),
    (445, 446),
    (618, 619),
    (621, 622),
];

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// All fields in their order, begin string and body length among them, without the checksum.
    pub fields: Vec<(u32, String)>,
}

impl Message {
    /// The first field of this tag.
    pub fn get(&self, tag: u32) -> Option<&str> {
        self.fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| value.as_str())
    }

    /// All fields of this tag, as in a group of one field each.
    pub fn all(&self, tag: u32) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |(known, _)| *known == tag).map(|(_, value)| value.as_str())
    }

    /// Its type.
    pub fn kind(&self) -> &str {
        self.get(35).unwrap_or_default()
    }

    /// A field as a number.
    pub fn number(&self, tag: u32) -> Option<u64> {
        self.get(tag)?.parse().ok()
    }

    /// Its sequence number; zero: it has none.
    pub fn sequence(&self) -> u64 {
        self.number(34).unwrap_or_default()
    }

    /// Whether a field is "Y".
    pub fn is(&self, tag: u32) -> bool {
        self.get(tag) == Some("Y")
    }

    /// The first tag for which `is_single` holds and of which there is more than one field.
    pub fn repeated(&self, is_single: impl Fn(u32) -> bool) -> Option<u32> {
        let mut seen = HashSet::with_capacity(self.fields.len());
        let mut tags = self.fields.iter().map(|(tag, _)| *tag).filter(|tag| is_single(*tag));
        tags.find(|tag| !seen.insert(*tag))
    }
}

/// What stands in a stream next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing whole.
    More,
    /// A message.
    Message(Message),
    /// Something that is no message is passed over, as the standard says.
    Garbled(&'static str),
}

/// Takes messages out of a stream.
///
/// A body length that is too large does not keep back what follows: the body is looked at while it arrives, and a begin string or a
/// checksum among its fields ends it. The decoder then goes on at the next begin string.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    done: usize,
    /// The part of the message at `done` that was looked at.
    seen: Seen,
}

/// How far the body of an unfinished message was looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Bytes from the begin of the message to the begin of a field; zero: nothing was looked at.
    bytes: usize,
    /// The tag and value of the field before, where that says how long the next one is.
    length: Option<(u32, usize)>,
}

fn checksum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

impl Decoder {
    /// More of the stream.
    pub fn add(&mut self, bytes: &[u8]) {
        if self.done > 0 {
            self.buffer.drain(..self.done);
            self.done = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// A part of a message is there, and its rest is not.
    pub fn has_part(&self) -> bool {
        self.done < self.buffer.len()
    }

    /// What stands next in what is there.
    #[allow(clippy::should_implement_trait, reason = "there is always a step: it is no iterator")]
    pub fn next(&mut self) -> Step {
        let bytes = &self.buffer[self.done..];
        if bytes.is_empty() {
            return Step::More;
        }
        // A message begins with its begin string, and nothing else begins so.
        if !bytes.starts_with(b"8=") && bytes != b"8" {
            return self.skip("it does not begin with a begin string");
        }
        match head(bytes) {
            Head::More if bytes.len() > LONGEST => self.skip("it has no end"),
            Head::More => Step::More,
            Head::Wrong(why) => self.skip(why),
            Head::Length(begin, length) => {
                let end = begin + length;
                if length > LONGEST {
                    return self.skip("its body is too long");
                }
                let Some(trailer) = bytes.get(end..end + TRAILER) else {
                    return match self.is_over(begin, end) {
                        true => self.skip("its body length is too large"),
                        false => Step::More,
                    };
                };
                let sum = std::str::from_utf8(trailer)
                    .ok()
                    .and_then(|text| text.strip_prefix("10="))
                    .and_then(|text| text.get(..3))
                    .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
                    .and_then(|digits| digits.parse::<u16>().ok())
                    .filter(|_| trailer.last() == Some(&SOH));
                let Some(sum) = sum else { return self.skip("its body length is wrong") };
                if sum != u16::from(checksum(&bytes[..end])) {
                    return self.skip("its checksum is wrong");
                }
                let fields = fields(&bytes[..end]);
                match fields {
                    Ok(fields) if fields.get(2).is_some_and(|(tag, _)| *tag == 35) => {
                        self.done += end + TRAILER;
                        self.seen = Seen::default();
                        Step::Message(Message { fields })
                    }
                    Ok(_) => self.skip("its third field is not its type"),
                    Err(why) => self.skip(why),
                }
            }
        }
    }

    /// Goes to the next place where a message may begin.
    fn skip(&mut self, why: &'static str) -> Step {
        let bytes = &self.buffer[self.done..];
        self.done += 1 + next_begin(&bytes[1..]);
        self.seen = Seen::default();
        Step::Garbled(why)
    }

    /// Whether the unfinished message at `done` ends before its body length says so: a field of its body, which reaches from `begin`
    /// to `end`, is a begin string or a checksum. Each byte is looked at once.
    fn is_over(&mut self, begin: usize, end: usize) -> bool {
        let bytes = &self.buffer[self.done..];
        let bytes = &bytes[..end.min(bytes.len())];
        if self.seen.bytes == 0 {
            self.seen.bytes = begin;
        }
        loop {
            let field = &bytes[self.seen.bytes.min(bytes.len())..];
            let Some(equals) = field.iter().take(12).position(|byte| *byte == b'=') else {
                // Either the tag is not whole, or this is no field: then the message is garbled when it is whole.
                return false;
            };
            let tag = std::str::from_utf8(&field[..equals]).ok().and_then(|digits| digits.parse().ok());
            if matches!(tag, Some(8 | 10)) {
                return true;
            }
            let value = &field[equals + 1..];
            let data =
                self.seen.length.filter(|(before, _)| tag.is_some_and(|tag| DATA.contains(&(*before, tag))));
            let length = match data {
                Some((_, length)) if length < value.len() => length,
                Some(_) => return false,
                None => match value.iter().position(|byte| *byte == SOH) {
                    Some(length) => length,
                    None => return false,
                },
            };
            let length_of_next =
                std::str::from_utf8(&value[..length]).ok().and_then(|digits| digits.parse().ok());
            self.seen.length = tag.zip(length_of_next);
            self.seen.bytes += equals + 1 + length + 1;
        }
    }
}

/// Where the next message may begin: at a begin string, or at the last bytes if one may begin there.
fn next_begin(bytes: &[u8]) -> usize {
    const BEGIN: &[u8] = b"8=FIX";
    let last = bytes.len().saturating_sub(BEGIN.len() - 1);
    let part = || (last..bytes.len()).find(|from| BEGIN.starts_with(&bytes[*from..]));
    find(bytes, BEGIN).or_else(part).unwrap_or(bytes.len())
}

enum Head {
    More,
    Wrong(&'static str),
    /// Where the body begins, and how long it is.
    Length(usize, usize),
}

fn head(bytes: &[u8]) -> Head {
    let start = &bytes[..bytes.len().min(40)];
    let Some(first) = start.iter().position(|byte| *byte == SOH) else {
        return if start.len() == 40 { Head::Wrong("its begin string has no end") } else { Head::More };
    };
    let rest = &start[first + 1..];
    let Some(second) = rest.iter().position(|byte| *byte == SOH) else {
        return if start.len() == 40 { Head::Wrong("its body length has no end") } else { Head::More };
    };
    let length = std::str::from_utf8(&rest[..second]).ok().and_then(|text| text.strip_prefix("9="));
    match length.filter(|digits| digits.len() <= 7).and_then(|digits| digits.parse().ok()) {
        Some(length) => Head::Length(first + 1 + second + 1, length),
        None => Head::Wrong("its second field is no body length"),
    }
}

fn fields(mut bytes: &[u8]) -> Result<Vec<(u32, String)>, &'static str> {
    let mut fields: Vec<(u32, String)> = Vec::new();
    while !bytes.is_empty() {
        if fields.len() == MOST_FIELDS {
            return Err("it has too many fields");
        }
        let equals = bytes.iter().take(12).position(|byte| *byte == b'=').ok_or("a field has no tag")?;
        let tag: u32 = std::str::from_utf8(&bytes[..equals])
            .ok()
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .filter(|tag| *tag > 0)
            .ok_or("a tag is no number")?;
        bytes = &bytes[equals + 1..];
        let told = fields
            .last()
            .filter(|(before, _)| DATA.contains(&(*before, tag)))
            .and_then(|(_, length)| length.parse::<usize>().ok());
        let end = match told {
            Some(length) if bytes.get(length) == Some(&SOH) => length,
            Some(_) => return Err("a field of data is not as long as is said"),
            None => bytes.iter().position(|byte| *byte == SOH).ok_or("a field has no end")?,
        };
        fields.push((tag, String::from_utf8_lossy(&bytes[..end]).into_owned()));
        bytes = &bytes[end + 1..];
    }
    Ok(fields)
}

/// Fields that are being written.
#[derive(Clone, Debug, Default)]
pub struct Fields(pub String);

impl Fields {
    /// One more.
    pub fn with(mut self, tag: u32, value: impl std::fmt::Display) -> Fields {
        use std::fmt::Write;
        let from = self.0.len();
        let _ = write!(self.0, "{tag}={value}");
        // A value cannot hold the end of a field.
        if self.0[from..].contains('\x01') {
            let plain = self.0[from..].replace('\x01', " ");
            self.0.truncate(from);
            self.0.push_str(&plain);
        }
        self.0.push('\x01');
        self
    }

    /// One more, where there is a value.
    pub fn may(self, tag: u32, value: Option<impl std::fmt::Display>) -> Fields {
        match value {
            Some(value) => self.with(tag, value),
            None => self,
        }
    }
}

/// A whole message: begin string and what lies between body length and checksum.
pub fn message(begin: &str, body: &str) -> Vec<u8> {
    let mut bytes = format!("8={begin}\x019={}\x01{body}", body.len()).into_bytes();
    let sum = checksum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat() -> Vec<u8> {
        message("FIX.4.4", "35=0\x0149=A\x0156=B\x0134=7\x0152=20261123-14:09:00.000\x01")
    }

    fn read(bytes: &[u8]) -> Vec<Step> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        // Byte by byte: messages end anywhere.
        for byte in bytes {
            decoder.add(&[*byte]);
            loop {
                match decoder.next() {
                    Step::More => break,
                    step => all.push(step),
                }
            }
        }
        all
    }

    #[test]
    fn messages_come_whole_and_what_is_garbled_is_passed_over() {
        let good = heartbeat();
        let Some(Step::Message(first)) = read(&good).pop() else { panic!() };
        assert_eq!((first.kind(), first.sequence(), first.get(49)), ("0", 7, Some("A")));
        let mut wrong = good.clone();
        let place = wrong.len() - 2;
        wrong[place] = if wrong[place] == b'0' { b'1' } else { b'0' };
        for bad in [&b"hello"[..], b"8=FIX.4.4\x019=x\x01", b"8=FIX.4.4\x019=3\x0135=0\x01zzzzzzzzz", &wrong]
        {
            let all = read(&[bad, &good].concat());
            assert!(matches!(all[0], Step::Garbled(_)), "{all:?}");
            assert_eq!(all.last(), Some(&Step::Message(first.clone())), "{bad:?}");
        }
    }

    /// All messages of these bytes, which arrive in pieces of this length.
    fn messages(bytes: &[u8], piece: usize) -> Vec<u64> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            decoder.add(piece);
            loop {
                match decoder.next() {
                    Step::More => break,
                    Step::Message(message) => all.push(message.sequence()),
                    Step::Garbled(_) => {}
                }
            }
        }
        all
    }

    /// For any length that a message states, and wherever it breaks off: the next one is read as soon as it is there.
    #[test]
    fn a_wrong_body_length_or_a_missing_end_keeps_no_message_back() {
        let body = "35=0\x0149=A\x0156=B\x0134=3\x0158=a text\x01";
        let good = heartbeat();
        for length in (0..400).chain([1_000, 4_096, 60_000, 65_536, 65_537, 9_999_999]) {
            let mut bad = format!("8=FIX.4.4\x019={length}\x01{body}").into_bytes();
            let sum = checksum(&bad);
            bad.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
            for cut in [bad.len(), bad.len() - 1, bad.len() - 7, bad.len() - 10, 30] {
                let is_good = length == body.len() && cut == bad.len();
                let all = [&bad[..cut], &good, &good].concat();
                for piece in [1, 3, 64, all.len()] {
                    let expected = if is_good { vec![3, 7, 7] } else { vec![7, 7] };
                    assert_eq!(messages(&all, piece), expected, "length {length}, cut {cut}, piece {piece}");
                }
            }
        }
    }

    #[test]
    fn a_message_within_data_does_not_end_the_message_around_it() {
        let inner = String::from_utf8(heartbeat()).unwrap();
        let body = format!("35=A\x0134=9\x0195={}\x0196={inner}\x0158=x\x01", inner.len());
        let all = [message("FIX.4.4", &body), heartbeat()].concat();
        for piece in [1, 5, all.len()] {
            assert_eq!(messages(&all, piece), [9, 7], "{piece}");
        }
    }

    #[test]
    fn a_begin_string_that_arrives_in_two_pieces_is_found_behind_garbage() {
        let good = heartbeat();
        for cut in 0..good.len() {
            let mut decoder = Decoder::default();
            decoder.add(&[b"8=FIX.4.4\x019=x\x01", &good[..cut]].concat());
            while decoder.next() != Step::More {}
            decoder.add(&good[cut..]);
            let mut found = decoder.next();
            while matches!(found, Step::Garbled(_)) {
                found = decoder.next();
            }
            assert!(matches!(found, Step::Message(_)), "{cut}");
        }
    }

    #[test]
    fn a_tag_that_is_there_twice_is_found() {
        let bytes = message("FIX.4.4", "35=D\x0154=1\x0155=A\x0154=2\x0155=B\x01");
        let Some(Step::Message(message)) = read(&bytes).pop() else { panic!() };
        assert_eq!(message.repeated(|_| true), Some(54));
        assert_eq!(message.repeated(|tag| tag != 54), Some(55));
        assert_eq!(message.repeated(|tag| tag == 35), None);
    }

    #[test]
    fn data_may_hold_the_end_of_a_field() {
        let bytes = message("FIX.4.4", "35=A\x0195=5\x0196=a\x01b=c\x0158=x\x01");
        let Some(Step::Message(message)) = read(&bytes).pop() else { panic!() };
        assert_eq!((message.get(96), message.get(58)), (Some("a\x01b=c"), Some("x")));
    }

    #[test]
    fn a_value_cannot_end_its_field() {
        assert_eq!(Fields::default().with(58, "a\x0110=000").0, "58=a 10=000\x01");
    }

    #[test]
    fn garbage_is_never_taken_for_a_message_and_never_keeps_one_back() {
        let good = heartbeat();
        let mut seed = 11_u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize
        };
        let alphabet = b"8=FIX.4\x0139=10=0ab\x0135=D";
        let mut messages = 0;
        for round in 0..100_000 {
            let mut bytes = match round % 3 {
                // Anything.
                0 => (0..next() % 80).map(|_| next() as u8).collect::<Vec<u8>>(),
                // Almost a message.
                1 => (0..next() % 80).map(|_| alphabet[next() % alphabet.len()]).collect(),
                // A message that is damaged.
                _ => {
                    let mut bytes = good.clone();
                    let place = next() % bytes.len();
                    bytes[place] ^= 1 << (next() % 8);
                    bytes
                }
            };
            let mut decoder = Decoder::default();
            bytes.extend_from_slice(&good);
            decoder.add(&bytes);
            loop {
                match decoder.next() {
                    Step::More => break,
                    Step::Message(message) => messages += usize::from(message.sequence() == 7),
                    Step::Garbled(_) => {}
                }
            }
        }
        assert!(messages >= 90_000, "{messages}");
    }
}
