//! Who may: tokens, signatures, rates.

use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::SystemTime;

use gateway_tokens::{Shown, Token, TokenFile, now_s, unhex};
use governor::clock::DefaultClock;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{Quota, RateLimiter};
use hyper::header::{AUTHORIZATION, HeaderMap};
use ring::signature::{ED25519, UnparsedPublicKey};

use super::nonces::Nonces;
use super::problem::{Kind, Problem};

/// A signed request may be as old, or as far ahead.
pub(super) const SKEW_MS: u64 = 30_000;

type Limiter<K> = RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock>;

/// Where a request comes from.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    /// As text; "unix" for a local socket.
    pub(crate) address: String,
    /// From this host.
    pub(crate) is_local: bool,
    /// It has shown a certificate that our authority has signed.
    pub(crate) has_certificate: bool,
}

impl Peer {
    /// The client of a request with these headers: one that a proxy has passed on comes from this host, and its client need not.
    pub(crate) fn of_request(&self, headers: &HeaderMap) -> Cow<'_, Peer> {
        let is_forwarded = || {
            ["forwarded", "via", "x-forwarded-for", "x-real-ip"]
                .iter()
                .any(|name| headers.contains_key(*name))
        };
        match self.is_local && is_forwarded() {
            true => Cow::Owned(Peer { is_local: false, ..self.clone() }),
            false => Cow::Borrowed(self),
        }
    }
}

/// A client whose token is good.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) token: Arc<Token>,
    pub(crate) number: u64,
}

/// All that decides who may.
pub(crate) struct Guard {
    path: PathBuf,
    tokens: RwLock<HashMap<String, Arc<Token>>>,
    /// The file as it was read last: time and inode.
    stamp: Mutex<Option<(SystemTime, u64)>>,
    by_token: Option<Limiter<u64>>,
    by_account: Option<Limiter<u32>>,
    nonces: Nonces,
}

fn limiter<K: std::hash::Hash + Eq + Clone>(rate: u32) -> Option<Limiter<K>> {
    NonZeroU32::new(rate).map(|rate| RateLimiter::keyed(Quota::per_second(rate)))
}

impl Guard {
    pub(crate) fn new(path: PathBuf, rate: u32, order_rate: u32, nonces: Nonces) -> Guard {
        let guard = Guard {
            path,
            tokens: RwLock::default(),
            stamp: Mutex::default(),
            by_token: limiter(rate),
            by_account: limiter(order_rate),
            nonces,
        };
        guard.refresh(true);
        guard
    }

    /// Reads the file if it has changed.
    fn refresh(&self, always: bool) {
        let stamp = std::fs::metadata(&self.path)
            .ok()
            .and_then(|meta| Some((meta.modified().ok()?, std::os::unix::fs::MetadataExt::ino(&meta))));
        let mut known = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if always || *known != stamp {
            *known = stamp;
            self.read();
        }
    }

    /// Reads the file; one that cannot be read leaves nobody in.
    fn read(&self) {
        let read = TokenFile::load(&self.path).unwrap_or_else(|error| {
            log::error!("{error}: no token is good until it is mended");
            TokenFile::default()
        });
        let table: HashMap<String, Arc<Token>> =
            read.tokens.into_iter().map(|token| (token.id.clone(), Arc::new(token))).collect();
        if table.is_empty() {
            log::warn!(
                "no tokens in {}: nobody may do anything; `colo token create` makes one",
                self.path.display()
            );
        } else {
            log::info!("{} tokens in {}", table.len(), self.path.display());
        }
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = table;
    }

    /// Follows the file.
    pub(crate) fn look(&self) {
        self.refresh(false);
        self.nonces.forget(now_ms());
    }

    /// Whose token this is.
    pub(crate) fn identify(&self, text: &str) -> Result<Identity, Problem> {
        let bad = || {
            Problem::new(
                Kind::Unauthorised,
                "show a token that is good: Authorization: Bearer colo_…; `colo token create` makes one",
            )
        };
        let shown = Shown::read(text).ok_or_else(bad)?;
        let token = {
            let find = || {
                let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
                tokens.get(shown.id).cloned()
            };
            // It may just have been made.
            find().or_else(|| {
                self.refresh(false);
                find()
            })
        };
        let token = token.ok_or_else(bad)?;
        if !shown.is(&token) || !token.is_good(now_s()) {
            return Err(bad());
        }
        self.charged(token)
    }

    /// One more request of this token, in whichever form it was shown.
    fn charged(&self, token: Arc<Token>) -> Result<Identity, Problem> {
        let number = token.number();
        match &self.by_token {
            Some(limiter) if limiter.check_key(&number).is_err() => {
                Err(Problem::new(Kind::RateLimited, "this token has sent too many requests this second")
                    .after(1))
            }
            _ => Ok(Identity { token, number }),
        }
    }

    /// The client with this public number, which has shown elsewhere that it is the one.
    pub(crate) fn known(&self, id: &str) -> Result<Identity, Problem> {
        let find = || {
            let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
            tokens.get(id).filter(|token| token.is_good(now_s())).cloned()
        };
        // It may just have been made.
        let token = find().or_else(|| {
            self.refresh(false);
            find()
        });
        let token =
            token.ok_or_else(|| Problem::new(Kind::Unauthorised, "the token is not good any more"))?;
        self.charged(token)
    }

    /// The token in a request's header.
    pub(crate) fn of_headers(&self, headers: &HeaderMap) -> Result<Identity, Problem> {
        let text = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        self.identify(text.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default().trim())
    }

    /// Is a token still good?
    pub(crate) fn is_good(&self, id: &str) -> bool {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        tokens.get(id).is_some_and(|token| token.is_good(now_s()))
    }

    /// May this request enter or change orders? From this host, a token is enough; from elsewhere, it must be signed, or come
    /// with a certificate.
    pub(crate) fn enters(
        &self,
        identity: &Identity,
        peer: &Peer,
        headers: &HeaderMap,
        (method, path): (&str, &str),
        body: &[u8],
    ) -> Result<(), Problem> {
        let is_signed = headers.contains_key("x-colo-signature");
        if (peer.is_local || peer.has_certificate) && !is_signed {
            return Ok(());
        }
        self.signature(identity, headers, (method, path), body)
            .map_err(|detail| Problem::new(Kind::SignatureRequired, detail))
    }

    fn signature(
        &self,
        identity: &Identity,
        headers: &HeaderMap,
        (method, path): (&str, &str),
        body: &[u8],
    ) -> Result<(), String> {
        let header = |name: &str| {
            let value = headers.get(name).and_then(|value| value.to_str().ok());
            value.ok_or_else(|| format!("the header {name} is missing"))
        };
        let (time, nonce) = (header("x-colo-time")?, header("x-colo-nonce")?);
        let signature = unhex(header("x-colo-signature")?).ok_or("x-colo-signature is not hexadecimal")?;
        let key = identity.token.signing_key.as_deref().and_then(unhex);
        let key = key.ok_or("this token has no key for signatures: `colo token create --signing-key`")?;
        let sent: u64 =
            time.parse().map_err(|_| "x-colo-time is no number of milliseconds since the epoch")?;
        if sent.abs_diff(now_ms()) > SKEW_MS {
            return Err("x-colo-time is more than 30 s off".to_owned());
        }
        if nonce.is_empty() || nonce.len() > 64 {
            return Err("x-colo-nonce must have 1 to 64 characters".to_owned());
        }
        let signed = signed_text(&identity.token.id, method, path, time, nonce, body);
        UnparsedPublicKey::new(&ED25519, &key)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| "the signature does not fit".to_owned())?;
        // After the signature: who cannot sign cannot fill it.
        self.nonces.take(identity.number, nonce, sent, now_ms())
    }

    /// Are accounts held to a rate?
    pub(crate) fn has_account_rate(&self) -> bool {
        self.by_account.is_some()
    }

    /// One more request about orders for this account?
    pub(crate) fn rate_of(&self, account: u32) -> Result<(), Problem> {
        match &self.by_account {
            Some(limiter) if limiter.check_key(&account).is_err() => Err(Problem::new(
                Kind::RateLimited,
                format!("too many requests about orders for account {account} this second"),
            )
            .after(1)),
            _ => Ok(()),
        }
    }
}

/// What a client signs. The token's public number is part of it: another token with the same key has other signatures.
fn signed_text(token: &str, method: &str, path: &str, time: &str, nonce: &str, body: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, body);
    format!("{token}\n{method}\n{path}\n{time}\n{nonce}\n{}", gateway_tokens::hex(digest.as_ref()))
}

pub(crate) fn now_ms() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use gateway_tokens::{NewToken, Role, hex};
    use ring::rand::SystemRandom;
    use ring::signature::{Ed25519KeyPair, KeyPair};

    use super::*;

    fn guard(signing_key: Option<String>, rate: u32) -> (tempfile::TempDir, Guard, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        let made = NewToken::make().unwrap();
        let token = Token {
            id: made.id,
            name: "t".into(),
            role: Role::Trader,
            accounts: None,
            created: 0,
            expires: None,
            sha256: made.sha256,
            signing_key,
            revoked: false,
        };
        TokenFile::change(&path, |file| file.tokens.push(token)).unwrap();
        let nonces = Nonces::open(&folder.path().join("nonces"), now_ms()).unwrap();
        (folder, Guard::new(path, rate, 0, nonces), made.text)
    }

    fn off_host() -> Peer {
        Peer { address: "192.0.2.1:5".into(), is_local: false, has_certificate: false }
    }

    #[test]
    fn from_off_the_host_an_order_must_be_signed_and_a_signature_is_good_once() {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let keys = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let key = Some(hex(keys.public_key().as_ref()));
        let (folder, guard, text) = guard(key.clone(), 0);
        let identity = guard.identify(&text).unwrap();
        let about = ("POST", "/v1/orders");
        let mut headers = HeaderMap::new();
        assert!(guard.enters(&identity, &off_host(), &headers, about, b"{}").is_err());
        let certified = Peer { has_certificate: true, ..off_host() };
        assert!(guard.enters(&identity, &certified, &headers, about, b"{}").is_ok());
        let time = now_ms().to_string();
        let id = identity.token.id.clone();
        let signature = keys.sign(signed_text(&id, "POST", "/v1/orders", &time, "n1", b"{}").as_bytes());
        headers.insert("x-colo-time", time.parse().unwrap());
        headers.insert("x-colo-nonce", "n1".parse().unwrap());
        headers.insert("x-colo-signature", hex(signature.as_ref()).parse().unwrap());
        assert!(guard.enters(&identity, &off_host(), &headers, about, b"{ }").is_err(), "another body");
        assert!(guard.enters(&identity, &off_host(), &headers, ("POST", "/v1/kill"), b"{}").is_err());
        assert!(guard.enters(&identity, &off_host(), &headers, about, b"{}").is_ok());
        assert!(guard.enters(&identity, &off_host(), &headers, about, b"{}").is_err(), "a replay");
        // Under another token with the same key.
        let (_other, second, second_text) = self::guard(key, 0);
        let second_identity = second.identify(&second_text).unwrap();
        assert!(
            second.enters(&second_identity, &off_host(), &headers, about, b"{}").is_err(),
            "another token"
        );
        // Before a gateway that was started again.
        let path = folder.path().join("tokens.json");
        let nonces = Nonces::open(&folder.path().join("nonces"), now_ms()).unwrap();
        let again = Guard::new(path, 0, 0, nonces);
        assert!(
            again.enters(&identity, &off_host(), &headers, about, b"{}").is_err(),
            "a replay after a restart"
        );
        headers.insert("x-colo-time", (now_ms() - 60_000).to_string().parse().unwrap());
        assert!(guard.enters(&identity, &off_host(), &headers, about, b"{}").is_err(), "too old");
    }

    #[test]
    fn a_token_has_its_rate() {
        let (_folder, guard, text) = guard(None, 3);
        let good = (0..10).filter(|_| guard.identify(&text).is_ok()).count();
        assert!((3..10).contains(&good), "{good}");
        assert!(guard.identify("colo_x").is_err());
    }

    #[test]
    fn a_request_that_a_proxy_has_passed_on_is_not_of_this_host() {
        let here = Peer { is_local: true, ..off_host() };
        let mut headers = HeaderMap::new();
        headers.insert("host", "gateway".parse().unwrap());
        assert!(here.of_request(&headers).is_local);
        for name in ["forwarded", "via", "x-forwarded-for", "x-real-ip"] {
            let mut headers = headers.clone();
            headers.insert(name, "192.0.2.1".parse().unwrap());
            assert!(!here.of_request(&headers).is_local, "{name}");
            assert!(!off_host().of_request(&headers).is_local);
        }
    }
}
