//! MoldUDP64: packets of numbered messages.
//!
//! After "MoldUDP64 Protocol Specification" (Nasdaq, 1.00); all numbers big-endian.
//!
//! ```text
//!  0          10         18       20        22
//!  │ session  │ sequence │ count  │ length  │ message …   count times
//! ```
//!
//! `sequence` is that of the first message. A count of 0 is a heartbeat: `sequence` is the next message's. A count of 65,535 is the
//! session's end. A request to the server is such a head: from which message on, and how many.

/// Bytes of the head.
pub(crate) const HEAD: usize = 20;
/// The count of a session's last packets.
pub(crate) const END: u16 = u16::MAX;
/// Largest packet that is made: it fits an Ethernet frame.
pub(crate) const LARGEST: usize = 1_400;

/// A session's name, filled up with blanks.
pub type Session = [u8; 10];

/// A session's name; `None` when it is empty, longer than ten bytes, or no plain text.
pub fn session(name: &str) -> Option<Session> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    let mut session = [b' '; 10];
    session.get_mut(..name.len()).filter(|_| is_plain && !name.is_empty())?.copy_from_slice(name.as_bytes());
    Some(session)
}

/// The head of a packet, or a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Of which session.
    pub(crate) session: Session,
    /// Number of the first message, from 1.
    pub(crate) sequence: u64,
    /// How many messages.
    pub(crate) count: u16,
}

impl Head {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..10].copy_from_slice(&self.session);
        bytes[10..18].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[18..].copy_from_slice(&self.count.to_be_bytes());
        bytes
    }

    /// `None`: too short, or a sequence that no message has.
    pub(crate) fn read(bytes: &[u8]) -> Option<Head> {
        let head: &[u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
        let (session, rest) = head.split_first_chunk::<10>()?;
        let (sequence, rest) = rest.split_first_chunk::<8>()?;
        let count = u16::from_be_bytes(rest.try_into().ok()?);
        let sequence = u64::from_be_bytes(*sequence);
        (sequence > 0 && sequence.checked_add(u64::from(count)).is_some()).then_some(Head {
            session: *session,
            sequence,
            count,
        })
    }

    /// True for a session's end.
    pub(crate) fn is_end(&self) -> bool {
        self.count == END
    }
}

/// The messages behind a head; `None` when the packet does not hold exactly as many as its head says.
pub(crate) fn messages(head: &Head, packet: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut rest = packet.get(HEAD..)?;
    let mut found = Vec::with_capacity(usize::from(head.count));
    for _ in 0..head.count {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        let (message, next) = behind.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        found.push(message.to_vec());
        rest = next;
    }
    rest.is_empty().then_some(found)
}

/// A packet of the messages from `sequence` on, at most `most` of them, as many as fit.
pub(crate) fn packet(session: Session, sequence: u64, all: &[Vec<u8>], most: usize) -> (Vec<u8>, u64) {
    let first = usize::try_from(sequence.saturating_sub(1)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; HEAD];
    let mut count = 0_u16;
    for message in all.get(first..).unwrap_or_default().iter().take(most.min(usize::from(END) - 1)) {
        let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
        if count > 0 && bytes.len() + 2 + message.len() > LARGEST {
            break;
        }
        bytes.extend(length.to_be_bytes());
        bytes.extend_from_slice(message);
        count += 1;
    }
    bytes[..HEAD].copy_from_slice(&Head { session, sequence, count }.bytes());
    (bytes, u64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_comes_back_whole_and_no_other_is_taken() {
        let session = session("20230102").unwrap();
        let all = vec![vec![1], vec![2; 700], vec![], vec![3; 700], vec![4]];
        let (bytes, count) = packet(session, 2, &all, 9);
        assert_eq!(count, 2, "the fourth does not fit behind");
        let head = Head::read(&bytes).unwrap();
        assert_eq!((head.session, head.sequence, head.count, head.is_end()), (session, 2, 2, false));
        assert_eq!(messages(&head, &bytes).unwrap(), all[1..3]);
        for end in 0..bytes.len() {
            let cut = Head::read(&bytes[..end]).and_then(|head| messages(&head, &bytes[..end]));
            assert_eq!(cut, None, "cut at {end}");
        }
        assert_eq!(messages(&head, &[&bytes[..], b"x"].concat()), None);
        assert_eq!(Head::read(&[0; HEAD]), None, "no message has the number 0");
    }

    #[test]
    fn names_of_sessions_are_short_and_plain() {
        assert_eq!(session("abc").as_ref(), Some(b"abc       "));
        assert_eq!((session(""), session("elevenbytes"), session("a b")), (None, None, None));
    }
}
