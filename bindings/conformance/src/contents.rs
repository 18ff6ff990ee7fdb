//! What is in a payload, and its checksum.

/// What the payload of a command is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Bytes that depend on this number.
    Number(u64),
    /// Words that look like the commit words of the next lap.
    Forged,
}

impl Seed {
    /// The seed of a command line.
    pub fn parse(word: &str) -> Option<Seed> {
        if word == "forged" { Some(Seed::Forged) } else { word.parse().ok().map(Seed::Number) }
    }

    /// The seed of frame or record `index` of a command.
    #[must_use]
    pub fn plus(self, index: u64) -> Seed {
        match self {
            Seed::Number(number) => Seed::Number(number.wrapping_add(index)),
            Seed::Forged => Seed::Forged,
        }
    }

    /// The payload of a frame at `position` of a ring.
    pub fn payload(self, position: u64, capacity: u64, length: usize) -> Vec<u8> {
        match self {
            Seed::Number(seed) => (0..length as u64)
                .map(|i| (seed.wrapping_mul(167).wrapping_add(i * 31).wrapping_add((i >> 8) * 13)) as u8)
                .collect(),
            Seed::Forged => {
                let words = (0..length as u64 / 8).map(|word| position + 32 + 8 * word + capacity);
                let mut bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
                bytes.resize(length, 0);
                bytes
            }
        }
    }
}

impl std::fmt::Display for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Seed::Number(number) => write!(f, "{number}"),
            Seed::Forged => f.write_str("forged"),
        }
    }
}

/// FNV-1a of 64 bits.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_those_of_the_protocol() {
        assert_eq!(Seed::Number(1).payload(0, 0, 3), [167, 198, 229]);
        assert_eq!(Seed::Number(0).payload(0, 0, 257)[256], (256_u64 * 31 + 13) as u8);
        let forged = Seed::Forged.payload(64, 1 << 16, 17);
        assert_eq!(forged[..8], (64_u64 + 32 + (1 << 16)).to_le_bytes());
        assert_eq!(forged[16..], [0]);
        assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
