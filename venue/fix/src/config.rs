//! `[matching] params`.

use std::path::PathBuf;

use serde::Deserialize;

/// Environment variable with the password, where no file is named.
const PASSWORD: &str = "COLO_FIX_PASSWORD";

/// What the platform file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Host and port of the market.
    pub(crate) connect: String,
    /// SenderCompID (49).
    pub(crate) sender: String,
    /// TargetCompID (56).
    pub(crate) target: String,
    /// The file with the sequence numbers of this session.
    pub(crate) state: PathBuf,
    /// The file with the password (554).
    pub(crate) password_file: Option<PathBuf>,
    /// Account (1) of all orders.
    pub(crate) account: Option<String>,
    /// HeartBtInt (108), in seconds.
    #[serde(default = "ten")]
    pub(crate) heartbeat: u64,
    /// The market answers OrderStatusRequest (H).
    #[serde(default = "yes")]
    pub(crate) order_status: bool,
    /// The market answers OrderMassStatusRequest (AF).
    #[serde(default)]
    pub(crate) mass_status: bool,
    /// The market answers RequestForPositions (AN).
    #[serde(default)]
    pub(crate) positions: bool,
    /// When both sides begin their numbers again.
    #[serde(default)]
    pub(crate) reset: Reset,
    /// PositionEffect (77) of an order that closes what was opened today.
    pub(crate) close_today: Option<char>,
    /// PositionEffect (77) of an order that closes what was opened before.
    pub(crate) close_yesterday: Option<char>,
    /// The password itself is in no platform file.
    #[serde(skip)]
    pub(crate) password: Option<String>,
}

fn ten() -> u64 {
    10
}

fn yes() -> bool {
    true
}

/// When both sides of the session begin their sequence numbers again (ResetSeqNumFlag, 141).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reset {
    /// When the market has begun its own again, as at the start of its day.
    #[default]
    WhenMarketDoes,
    /// At every Logon.
    AtLogon,
    /// Never: the session stays away, and a person has to decide.
    Never,
}

impl Config {
    /// Reads it, and the password.
    pub fn read(params: &serde_json::Value) -> Result<Config, String> {
        let mut config: Config = serde_json::from_value(params.clone())
            .map_err(|error| format!("matching.params: {error}; see docs/adapters.md"))?;
        if !(1..=3_600).contains(&config.heartbeat) {
            return Err("matching.params.heartbeat must be from 1 to 3600 seconds".to_owned());
        }
        if config.positions && config.account.is_none() {
            return Err(
                "matching.params.positions asks for those of an account: give matching.params.account"
                    .to_owned(),
            );
        }
        config.password = match &config.password_file {
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .map_err(|error| format!("matching.params.password_file, {}: {error}", file.display()))?;
                Some(text.trim().to_owned())
            }
            None => std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()),
        };
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_or_misspelt_is_said() {
        let whole = serde_json::json!({"connect": "a:1", "sender": "A", "target": "B", "state": "s"});
        assert_eq!(Config::read(&whole).unwrap().heartbeat, 10);
        for (key, value) in [("sendr", "A"), ("heartbeat", "x"), ("password_file", "/nowhere")] {
            let mut wrong = whole.clone();
            wrong[key] = value.into();
            assert!(Config::read(&wrong).unwrap_err().contains("matching.params"), "{key}");
        }
        assert!(Config::read(&serde_json::Value::Null).is_err());
    }
}
