//! What people want of a strategy while the platform runs: that it is stopped, which program it is, what its parameters are.
//!
//! Master writes it to a file among the journals before it acts, so that a master that takes over, and whoever looks, know it;
//! it is removed with the instance. A change of parameters goes to the running strategy through two more files, with a word in its
//! seat for each side:
//!
//! ```text
//!   master                                            strategy
//!   strategy.NAME.ask: number, parameters
//!   word of asks = number, wakes the seat ─────────►  reads the ask, takes or refuses the parameters
//!                                                     strategy.NAME.answer: number, error
//!   reads the answer, keeps what was taken  ◄───────  word of answers = number + 1
//! ```
//!
//! The word of answers is 0 where the process does not listen: master clears it at each registration, and a library that takes
//! parameters while it runs sets it to the number of the latest ask plus 1 when it starts. `docs/registration.md` has it for
//! other languages.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::instance::InstanceDir;

/// Names and values.
pub type Parameters = Map<String, Value>;

/// What becomes of the working orders of a strategy that a person stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orders {
    /// They are cancelled.
    #[default]
    Cancel,
    /// They work on.
    Keep,
}

/// A strategy that a person has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// What becomes of its orders.
    pub orders: Orders,
    /// When, in nanoseconds since the epoch.
    pub at: u64,
}

/// What people want of one strategy, over what the platform file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// It is to be stopped, and to stay so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Hold>,
    /// Its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<PathBuf>,
    /// Parameters, over those of the platform file.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Parameters,
    /// The last ask whose answer is in `params`.
    #[serde(default)]
    pub settled: u64,
    /// The last life that a person asked for: its number in the seat; 0: none.
    #[serde(default)]
    pub started: u64,
}

/// New parameters for a running strategy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Grows with every ask of this strategy.
    pub number: u64,
    /// All of its parameters.
    pub params: Parameters,
    /// Those of them that are new.
    pub changed: Parameters,
}

/// What a strategy said to an ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// That of the ask.
    pub number: u64,
    /// Why it does not take them; none: it has taken them.
    pub error: Option<String>,
}

impl Intent {
    /// The intent for a strategy; that of the platform file where nobody has said anything.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(instance: &InstanceDir, node: &str) -> io::Result<Intent> {
        Ok(read(&instance.intent(node, "json"))?.unwrap_or_default())
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&self, instance: &InstanceDir, node: &str) -> io::Result<()> {
        write(&instance.intent(node, "json"), self)
    }

    /// Whether anything is wanted.
    pub fn is_plain(&self) -> bool {
        self.stopped.is_none() && self.program.is_none() && self.params.is_empty()
    }

    /// These parameters, with what was set over them.
    pub fn over(&self, parameters: &Value) -> Parameters {
        let mut all = parameters.as_object().cloned().unwrap_or_default();
        all.extend(self.params.clone());
        all
    }
}

impl Ask {
    /// The latest ask of a strategy.
    ///
    /// # Errors
    /// As [`Intent::read`].
    pub fn read(instance: &InstanceDir, node: &str) -> io::Result<Option<Ask>> {
        read(&instance.intent(node, "ask"))
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&self, instance: &InstanceDir, node: &str) -> io::Result<()> {
        write(&instance.intent(node, "ask"), self)
    }
}

impl Answer {
    /// The latest answer of a strategy.
    ///
    /// # Errors
    /// As [`Intent::read`].
    pub fn read(instance: &InstanceDir, node: &str) -> io::Result<Option<Answer>> {
        read(&instance.intent(node, "answer"))
    }

    /// Writes it, whole or not at all.
    pub(crate) fn write(&self, instance: &InstanceDir, node: &str) -> io::Result<()> {
        write(&instance.intent(node, "answer"), self)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    match fs::read(path) {
        Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A reader finds the old text or the new one; the folder is in memory, so nothing is to be synced.
fn write<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    let mut new = path.to_owned().into_os_string();
    new.push(".new");
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_wanted_is_found_again_and_goes_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("strategy.a.json");
        assert_eq!(read::<Intent>(&path).unwrap(), None);
        let params = json!({ "size": 5 }).as_object().unwrap().clone();
        let stopped = Some(Hold { orders: Orders::Keep, at: 7 });
        let intent = Intent { stopped, params, settled: 3, program: Some("/p".into()), started: 2 };
        write(&path, &intent).unwrap();
        assert_eq!(read::<Intent>(&path).unwrap(), Some(intent.clone()));
        let all = intent.over(&json!({ "size": 1, "side": "buy" }));
        assert_eq!(Value::Object(all), json!({ "size": 5, "side": "buy" }));
        assert!(!intent.is_plain() && Intent::default().is_plain());
        fs::write(&path, "{").unwrap();
        assert!(read::<Intent>(&path).is_err(), "half a file is an error and no intent");
    }
}
