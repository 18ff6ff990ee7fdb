//! Secrets: made, hashed, taken apart.

use sha2::{Digest, Sha256};

use crate::Token;

/// What goes before every token, so that one in the wrong place is found.
const PREFIX: &str = "colo";

/// No secret could be made.
#[derive(Debug, thiserror::Error)]
#[error("the system gave no random numbers: {0}")]
pub struct SecretError(String);

/// A token, and the one time that its secret is there.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its public number.
    pub id: String,
    /// The whole of it, for the client.
    pub text: String,
    /// What the file keeps.
    pub sha256: String,
}

impl NewToken {
    /// A new one.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn make() -> Result<NewToken, SecretError> {
        let (mut id, mut secret) = ([0_u8; 8], [0_u8; 32]);
        for bytes in [&mut id[..], &mut secret[..]] {
            getrandom::fill(bytes).map_err(|error| SecretError(error.to_string()))?;
        }
        let (id, secret) = (hex(&id), hex(&secret));
        Ok(NewToken { text: format!("{PREFIX}_{id}_{secret}"), sha256: hash(&secret), id })
    }
}

/// A token as a client shows it.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Its public number.
    pub id: &'a str,
    secret: &'a str,
}

impl<'a> Shown<'a> {
    /// `None`: this is no token.
    pub fn read(text: &'a str) -> Option<Shown<'a>> {
        let rest = text.strip_prefix(PREFIX)?.strip_prefix('_')?;
        let (id, secret) = rest.split_once('_')?;
        (id.len() == 16 && secret.len() == 64).then_some(Shown { id, secret })
    }

    /// Is it this one? Takes as long wherever they differ.
    pub fn is(&self, token: &Token) -> bool {
        let (mine, its) = (hash(self.secret), &token.sha256);
        let differs = mine.bytes().zip(its.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
        differs == 0 && mine.len() == its.len() && self.id == token.id
    }
}

/// SHA-256 in hexadecimal digits.
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes of hexadecimal digits.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn a_token_is_known_by_its_secret_and_nothing_of_it_is_in_the_file() {
        let made = NewToken::make().unwrap();
        let token = Token {
            id: made.id.clone(),
            name: "desk".into(),
            role: Role::Trader,
            accounts: None,
            created: 0,
            expires: None,
            sha256: made.sha256.clone(),
            signing_key: None,
            revoked: false,
        };
        let shown = Shown::read(&made.text).unwrap();
        assert!(shown.is(&token));
        let secret = made.text.rsplit('_').next().unwrap();
        assert!(!serde_json::to_string(&token).unwrap().contains(secret));
        let other = NewToken::make().unwrap();
        let mixed = format!("colo_{}_{}", made.id, other.text.rsplit('_').next().unwrap());
        assert!(!Shown::read(&mixed).unwrap().is(&token), "another's secret");
        assert!(Shown::read("colo_1_2").is_none() && Shown::read("").is_none());
    }

    #[test]
    fn digits_come_back_as_bytes() {
        assert_eq!(unhex(&hex(&[0, 9, 255])), Some(vec![0, 9, 255]));
        assert_eq!((unhex("0"), unhex("zz")), (None, None));
    }
}
