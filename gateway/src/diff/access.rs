//! Access tokens: what a client gets for a token of ours, as a JSON Web Token, because DIFF's clients look into it.
//!
//! Signed by a key that lies in the instance's folder: they outlive a gateway that is killed, and end with the platform. The
//! secret of a token is not in them, nor can they be made from what the file of tokens has.

use std::io::{self, Read, Write};
use std::path::Path;

use gateway_tokens::now_s;
use node::InstanceDir;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde::Deserialize;

use crate::http::auth::{Guard, Identity};
use crate::http::problem::{Kind, Problem};

const FILE: &str = "diff.key";
const KEY_BYTES: usize = 32;
/// So long an access token is good, unless the token that it was given for ends before.
const LIFE_S: u64 = 30 * 86_400;
/// What DIFF's clients ask before they show market data or trade.
const FEATURES: [&str; 3] = ["futr", "sec", "lmt_idx"];
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

#[derive(Deserialize)]
struct Claims {
    sub: String,
    exp: u64,
}

/// Makes them, and says whose they are.
#[derive(Debug)]
pub(crate) struct Access {
    key: hmac::Key,
}

impl Access {
    /// With the key of this instance, which the first gateway makes.
    pub(crate) fn of(instance: &InstanceDir) -> io::Result<Access> {
        let key = key(&instance.path().join(FILE))?;
        Ok(Access { key: hmac::Key::new(hmac::HMAC_SHA256, &key) })
    }

    /// An access token for this client, and until when it is good.
    pub(crate) fn give(&self, identity: &Identity, accounts: &[u32]) -> (String, u64) {
        let now = now_s();
        let ends = (now + LIFE_S).min(identity.token.expires.unwrap_or(u64::MAX));
        let accounts: Vec<String> = accounts.iter().map(u32::to_string).collect();
        let claims = serde_json::json!({
            "sub": identity.token.id,
            "preferred_username": identity.token.name,
            "iat": now,
            "exp": ends,
            "grants": {"features": FEATURES, "accounts": accounts},
        });
        let signed = format!("{}.{}", encode(HEADER.as_bytes()), encode(claims.to_string().as_bytes()));
        let signature = hmac::sign(&self.key, signed.as_bytes());
        (format!("{signed}.{}", encode(signature.as_ref())), ends)
    }

    /// Whose access token this is.
    pub(crate) fn identify(&self, text: &str, guard: &Guard) -> Result<Identity, Problem> {
        let bad = || Problem::new(Kind::Unauthorised, "the access token is not good: log in again");
        let (signed, signature) = text.rsplit_once('.').ok_or_else(bad)?;
        let signature = decode(signature).ok_or_else(bad)?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).map_err(|_| bad())?;
        let (_, claims) = signed.split_once('.').ok_or_else(bad)?;
        let claims: Claims =
            decode(claims).and_then(|claims| serde_json::from_slice(&claims).ok()).ok_or_else(bad)?;
        if claims.exp <= now_s() {
            return Err(bad());
        }
        guard.known(&claims.sub)
    }
}

fn key(path: &Path) -> io::Result<Vec<u8>> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.read_to_end(&mut bytes)?;
        if bytes.len() == KEY_BYTES { Ok(bytes) } else { Err(io::ErrorKind::InvalidData.into()) }
    };
    if let Ok(bytes) = read() {
        return Ok(bytes);
    }
    let mut bytes = vec![0; KEY_BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("the system gave no random numbers"))?;
    node::replace_file(path, 0o600, |file| file.write_all(&bytes))?;
    Ok(bytes)
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64 for URLs, without padding.
fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let group =
            three.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(DIGITS[(group >> (18 - 6 * place) & 63) as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut group, mut bits) = (0_u32, 0);
    for byte in text.bytes() {
        let digit = DIGITS.iter().position(|digit| *digit == byte)?;
        group = (group << 6 | digit as u32) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((group >> bits) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use gateway_tokens::{NewToken, Role, Token, TokenFile};

    use super::*;
    use crate::http::nonces::Nonces;

    #[test]
    fn an_access_token_is_its_client_s_until_the_token_is_revoked_and_nobody_else_can_make_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let made = NewToken::make().unwrap();
        let token = Token {
            id: made.id.clone(),
            name: "t".into(),
            role: Role::Trader,
            accounts: Some(vec![9]),
            created: 0,
            expires: None,
            sha256: made.sha256,
            signing_key: None,
            revoked: false,
        };
        TokenFile::change(&path, |file| file.tokens.push(token)).unwrap();
        let nonces = || Nonces::open(&folder.path().join("nonces"), 0).unwrap();
        let guard = Guard::new(path.clone(), 0, 0, nonces());
        let file = folder.path().join("diff.key");
        let access = |file: &Path| Access { key: hmac::Key::new(hmac::HMAC_SHA256, &key(file).unwrap()) };
        let identity = guard.identify(&made.text).unwrap();
        let (text, _) = access(&file).give(&identity, &[9]);
        // As after a restart: the key is still there.
        assert_eq!(access(&file).identify(&text, &guard).unwrap().token.id, made.id);
        assert!(access(&folder.path().join("other.key")).identify(&text, &guard).is_err());
        let forged = text.replacen(|digit: char| digit.is_ascii_digit(), "x", 1);
        assert!(access(&file).identify(&forged, &guard).is_err());
        assert!(!text.contains(&made.text[22..]), "no secret in it");
        // It counts for the rate of its client's token.
        let slow = Guard::new(path.clone(), 2, 0, nonces());
        let problems = (0..10).filter_map(|_| access(&file).identify(&text, &slow).err());
        assert!(problems.map(|problem| problem.status()).any(|status| status == 429));
        TokenFile::change(&path, |file| file.tokens[0].revoked = true).unwrap();
        assert!(access(&file).identify(&text, &Guard::new(path, 0, 0, nonces())).is_err());
    }

    #[test]
    fn base64_goes_there_and_back() {
        for length in 0..40_u8 {
            let bytes: Vec<u8> = (0..length).map(|byte| byte.wrapping_mul(37)).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
        assert_eq!(
            (encode(b"fo"), decode("Zm9v"), decode("Z=")),
            ("Zm8".into(), Some(b"foo".to_vec()), None)
        );
    }
}
