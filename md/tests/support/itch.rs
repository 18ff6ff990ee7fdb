//! Messages of ITCH 5.0, put together by hand.

/// Messages of a day.
#[derive(Clone)]
pub struct Day {
    pub messages: Vec<Vec<u8>>,
}

pub fn example_messages() -> usize {
    Day::example().messages.len()
}

fn stock(name: &str) -> [u8; 8] {
    let mut text = [b' '; 8];
    text[..name.len()].copy_from_slice(name.as_bytes());
    text
}

/// Type, locate and time in seconds from 09:30, then the rest.
pub fn message(kind: u8, locate: u16, second: u64, rest: &[&[u8]]) -> Vec<u8> {
    let time = (34_200 + second) * 1_000_000_000;
    let mut bytes = vec![kind];
    bytes.extend(locate.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(&time.to_be_bytes()[2..]);
    rest.iter().for_each(|part| bytes.extend_from_slice(part));
    bytes
}

pub fn add(locate: u16, second: u64, order: u64, side: u8, shares: u32, name: &str, price: u32) -> Vec<u8> {
    let (order, shares, price) = (order.to_be_bytes(), shares.to_be_bytes(), price.to_be_bytes());
    message(b'A', locate, second, &[&order, &[side], &shares, &stock(name), &price])
}

impl Day {
    /// Each kind of message that does something, and some that do not.
    pub fn example() -> Day {
        let (shares, price) = (|shares: u32| shares.to_be_bytes(), |price: u32| price.to_be_bytes());
        let number = |number: u64| number.to_be_bytes();
        let mpid = [&add(1, 5, 12, b'S', 80, "AAPL", 1_010_000)[..], b"ABCD"].concat();
        let mut mpid = mpid;
        mpid[0] = b'F';
        let messages = vec![
            // Start of system hours: orders may be from before.
            message(b'S', 0, 0, &[b"S"]),
            message(b'R', 1, 1, &[&stock("AAPL"), &[b'N'; 20]]),
            message(b'H', 1, 2, &[&stock("AAPL"), b"T     "]),
            add(1, 3, 11, b'B', 100, "AAPL", 1_000_000),
            add(2, 4, 21, b'B', 7, "MSFT", 2_000_000),
            mpid,
            message(b'X', 1, 6, &[&number(11), &shares(20)]),
            message(b'E', 1, 7, &[&number(11), &shares(10), &number(901)]),
            message(b'C', 1, 8, &[&number(11), &shares(5), &number(902), b"N", &price(1_005_000)]),
            message(b'U', 1, 9, &[&number(12), &number(13), &shares(60), &price(1_009_900)]),
            message(b'D', 1, 10, &[&number(13)]),
            message(
                b'P',
                1,
                11,
                &[&number(0), b"B", &shares(30), &stock("AAPL"), &price(1_005_000), &number(903)],
            ),
            message(b'Q', 1, 12, &[&number(500), &stock("AAPL"), &price(1_010_000), &number(904), b"C"]),
            message(b'Q', 1, 12, &[&number(0), &stock("AAPL"), &price(0), &number(905), b"C"]),
            // About an order from before the file.
            message(b'D', 1, 13, &[&number(5)]),
            message(b'Y', 1, 14, &[&stock("AAPL"), b"0"]),
            message(b'S', 0, 15, &[b"C"]),
        ];
        Day { messages }
    }

    /// With their lengths, or with zero for each.
    pub fn bytes(&self, lengths: bool) -> Vec<u8> {
        let prefix = |message: &[u8]| if lengths { message.len() as u16 } else { 0 }.to_be_bytes();
        self.messages.iter().flat_map(|message| [&prefix(message), &message[..]].concat()).collect()
    }

    /// The first message says that it is the first of the day.
    pub fn set_begin(&mut self) {
        *self.messages[0].last_mut().unwrap() = b'O';
    }

    pub fn set_time(&mut self, index: usize, second: u64) {
        let time = ((34_200 + second) * 1_000_000_000).to_be_bytes();
        self.messages[index][5..11].copy_from_slice(&time[2..]);
    }

    /// Of an execution.
    pub fn set_shares(&mut self, index: usize, shares: u32) {
        self.messages[index][19..23].copy_from_slice(&shares.to_be_bytes());
    }
}
