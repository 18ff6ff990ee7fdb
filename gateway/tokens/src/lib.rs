//! The tokens that clients of the gateway show.
//!
//! A token is `colo_ID_SECRET`: a public number, and 256 random bits. The file holds the number, what the token may, and a
//! SHA-256 of the secret, which needs no salt and no slowness: there is nothing to guess. Who can read the file cannot use
//! any token in it.
#![forbid(unsafe_code)]

mod file;
mod secret;

pub use file::{FileError, TokenFile, now_s};
pub use secret::{NewToken, SecretError, Shown, hash, hex, unhex};

use serde::{Deserialize, Serialize};

/// What a token may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// See.
    Viewer,
    /// See, and send orders.
    Trader,
    /// See, cancel, and use the kill switch.
    Risk,
    /// All of it.
    Admin,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 4] = [Role::Viewer, Role::Trader, Role::Risk, Role::Admin];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Trader => "trader",
            Role::Risk => "risk",
            Role::Admin => "admin",
        }
    }

    /// May it send and change orders?
    pub fn trades(self) -> bool {
        matches!(self, Role::Trader | Role::Admin)
    }

    /// May it cancel orders?
    pub fn cancels(self) -> bool {
        self != Role::Viewer
    }

    /// May it use the kill switch?
    pub fn kills(self) -> bool {
        matches!(self, Role::Risk | Role::Admin)
    }
}

/// A token, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// Its public number, in sixteen hexadecimal digits: it stands with every order that came with the token.
    pub id: String,
    /// Who has it.
    pub name: String,
    /// What it may.
    pub role: Role,
    /// For which accounts; none: for all.
    #[serde(default)]
    pub accounts: Option<Vec<u32>>,
    /// When it was made, in seconds since the epoch.
    pub created: u64,
    /// When it ends, in seconds since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub sha256: String,
    /// The Ed25519 key that checks its signed requests, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_key: Option<String>,
    /// No longer good for anything. It stays in the file, so that old orders can be traced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
}

impl Token {
    /// Its public number as the wire has it.
    pub fn number(&self) -> u64 {
        u64::from_str_radix(&self.id, 16).unwrap_or(0)
    }

    /// Is it good at this time?
    pub fn is_good(&self, now_s: u64) -> bool {
        !self.revoked && self.expires.is_none_or(|expires| now_s < expires)
    }

    /// May it see and trade for this account?
    pub fn covers(&self, account: u32) -> bool {
        self.accounts.as_ref().is_none_or(|accounts| accounts.contains(&account))
    }
}
