//! Frames of WebSockets (RFC 6455): made for many readers at once, and read piece by piece. Pure.

/// Kinds of frames that go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

/// A frame of the server's, which is not masked.
pub(crate) fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + 10);
    bytes.push(0x80 | kind as u8);
    match payload.len() {
        length @ 0..=125 => bytes.push(length as u8),
        length @ 126..=65_535 => {
            bytes.push(126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// The last frame, with its code and reason.
pub(crate) fn close(code: u16, reason: &str) -> Vec<u8> {
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(reason.as_bytes());
    payload.truncate(125);
    frame(Kind::Close, &payload)
}

/// What a client has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    /// Its code, where it gave one.
    Close(Option<u16>),
}

/// A client breaks the rules: the code to close with, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken(pub(crate) u16, pub(crate) &'static str);

const PROTOCOL: u16 = 1002;
const NO_TEXT: u16 = 1007;
const TOO_LARGE: u16 = 1009;

/// Puts frames together.
#[derive(Debug)]
pub(crate) struct Decoder {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are done.
    done: usize,
    /// The message that is in pieces, and whether it is text.
    parts: Option<(bool, Vec<u8>)>,
    most: usize,
}

impl Decoder {
    /// Messages may have `most` bytes.
    pub(crate) fn new(most: usize) -> Decoder {
        Decoder { buffer: Vec::new(), done: 0, parts: None, most }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.done > 0 {
            self.buffer.drain(..self.done);
            self.done = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that are kept until a message is whole.
    pub(crate) fn held(&self) -> usize {
        self.buffer.len() - self.done + self.parts.as_ref().map_or(0, |(_, whole)| whole.len())
    }

    /// The next message, if it is whole.
    pub(crate) fn next(&mut self) -> Result<Option<Incoming>, Broken> {
        loop {
            let Some((is_last, code, payload)) = self.frame()? else { return Ok(None) };
            match code {
                8 => return close_of(&payload).map(Some),
                9 => return Ok(Some(Incoming::Ping(payload))),
                10 => return Ok(Some(Incoming::Pong)),
                _ => {}
            }
            let (is_text, mut whole) = match (code, self.parts.take()) {
                (0, Some(parts)) => parts,
                (0, None) => return Err(Broken(PROTOCOL, "a continuation of nothing")),
                (_, Some(_)) => return Err(Broken(PROTOCOL, "a message within a message")),
                (code, None) => (code == 1, Vec::new()),
            };
            if whole.len() + payload.len() > self.most {
                return Err(Broken(TOO_LARGE, "the message is too large"));
            }
            whole.extend_from_slice(&payload);
            if !is_last {
                self.parts = Some((is_text, whole));
                continue;
            }
            return match is_text {
                true => String::from_utf8(whole)
                    .map(|text| Some(Incoming::Text(text)))
                    .map_err(|_| Broken(NO_TEXT, "the text is no UTF-8")),
                false => Ok(Some(Incoming::Binary(whole))),
            };
        }
    }

    /// The next frame: whether it is a message's last, its code, its payload.
    fn frame(&mut self) -> Result<Option<(bool, u8, Vec<u8>)>, Broken> {
        let bytes = &self.buffer[self.done..];
        let [first, second, ..] = *bytes else { return Ok(None) };
        let (is_last, code) = (first & 0x80 != 0, first & 0x0f);
        if first & 0x70 != 0 {
            return Err(Broken(PROTOCOL, "a reserved bit is set, and nothing was agreed about it"));
        }
        if !matches!(code, 0..=2 | 8..=10) {
            return Err(Broken(PROTOCOL, "an unknown kind of frame"));
        }
        if second & 0x80 == 0 {
            return Err(Broken(PROTOCOL, "a client's frame must be masked"));
        }
        let (length, header) = match second & 0x7f {
            126 => match bytes.get(2..4) {
                Some(length) => (usize::from(u16::from_be_bytes([length[0], length[1]])), 4),
                None => return Ok(None),
            },
            127 => match bytes.get(2..10).and_then(|length| <[u8; 8]>::try_from(length).ok()) {
                Some(length) => (usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX), 10),
                None => return Ok(None),
            },
            length => (usize::from(length), 2),
        };
        if code >= 8 && (!is_last || length > 125) {
            return Err(Broken(PROTOCOL, "a control frame is short and whole"));
        }
        if length > self.most {
            return Err(Broken(TOO_LARGE, "the message is too large"));
        }
        let Some(mask) = bytes.get(header..header + 4).and_then(|mask| <[u8; 4]>::try_from(mask).ok()) else {
            return Ok(None);
        };
        let Some(masked) = bytes.get(header + 4..header + 4 + length) else { return Ok(None) };
        let payload = masked.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        self.done += header + 4 + length;
        Ok(Some((is_last, code, payload)))
    }
}

fn close_of(payload: &[u8]) -> Result<Incoming, Broken> {
    match payload {
        [] => Ok(Incoming::Close(None)),
        [_] => Err(Broken(PROTOCOL, "half a code")),
        [high, low, reason @ ..] => {
            let code = u16::from_be_bytes([*high, *low]);
            let is_allowed = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
            if !is_allowed {
                return Err(Broken(PROTOCOL, "no such code"));
            }
            match std::str::from_utf8(reason) {
                Ok(_) => Ok(Incoming::Close(Some(code))),
                Err(_) => Err(Broken(NO_TEXT, "the reason is no UTF-8")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a client would send it.
    fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
        let plain = frame(Kind::Text, payload);
        let header = plain.len() - payload.len();
        let mask = [7, 200, 0, 31];
        let mut bytes = plain[..header].to_vec();
        bytes[0] = first;
        bytes[1] |= 0x80;
        bytes.extend_from_slice(&mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        bytes
    }

    fn read(decoder: &mut Decoder, bytes: &[u8]) -> Result<Vec<Incoming>, Broken> {
        let mut all = Vec::new();
        // Byte by byte: frames end anywhere.
        for byte in bytes {
            decoder.add(&[*byte]);
            while let Some(one) = decoder.next()? {
                all.push(one);
            }
        }
        Ok(all)
    }

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        for length in [0, 1, 125, 126, 65_535, 65_536] {
            let text = "x".repeat(length);
            let mut decoder = Decoder::new(1 << 20);
            decoder.add(&masked(0x81, text.as_bytes()));
            assert_eq!(decoder.next(), Ok(Some(Incoming::Text(text))));
            assert_eq!(decoder.next(), Ok(None));
        }
        let mut bytes = masked(0x01, b"ab");
        bytes.extend(masked(0x89, b"!"));
        bytes.extend(masked(0x00, "é".as_bytes().get(..1).unwrap()));
        bytes.extend(masked(0x80, "é".as_bytes().get(1..).unwrap()));
        let all = read(&mut Decoder::new(100), &bytes).unwrap();
        assert_eq!(all, [Incoming::Ping(b"!".to_vec()), Incoming::Text("abé".into())]);
    }

    #[test]
    fn who_breaks_the_rules_is_told_which() {
        let code = |bytes: &[u8]| read(&mut Decoder::new(100), bytes).map_err(|Broken(code, _)| code);
        assert_eq!(code(&frame(Kind::Text, b"a")), Err(1002), "not masked");
        assert_eq!(code(&masked(0xc1, b"a")), Err(1002), "a reserved bit");
        assert_eq!(code(&masked(0x83, b"a")), Err(1002), "a kind that is none");
        assert_eq!(code(&masked(0x80, b"a")), Err(1002), "a continuation of nothing");
        assert_eq!(code(&masked(0x09, b"a")), Err(1002), "a ping in pieces");
        assert_eq!(code(&masked(0x89, &[0; 126])), Err(1002), "a long ping");
        assert_eq!(code(&masked(0x81, &[0xff])), Err(1007), "no text");
        assert_eq!(code(&masked(0x82, &[0; 101])), Err(1009), "too large");
        assert_eq!(code(&masked(0x88, &[3])), Err(1002), "half a code");
        assert_eq!(code(&masked(0x88, &1005_u16.to_be_bytes())), Err(1002), "a code that is never sent");
        assert_eq!(code(&masked(0x88, &1000_u16.to_be_bytes())), Ok(vec![Incoming::Close(Some(1000))]));
        let mut twice = masked(0x01, b"a");
        twice.extend(masked(0x81, b"b"));
        assert_eq!(code(&twice), Err(1002), "a message within a message");
    }

    #[test]
    fn garbage_is_an_error_or_waits_for_more_and_never_panics() {
        let mut seed = 1_u64;
        for _ in 0..20_000 {
            let mut decoder = Decoder::new(64);
            let bytes: Vec<u8> = (0..40)
                .map(|_| {
                    seed =
                        seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    (seed >> 56) as u8
                })
                .collect();
            let _ = read(&mut decoder, &bytes);
        }
    }
}
