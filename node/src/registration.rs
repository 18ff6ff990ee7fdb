//! Asks master for a seat. `docs/registration.md` describes the conversation for other languages.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::error::JoinError;
use crate::instance::InstanceDir;
use crate::protocol::{self, Assignment, PROTOCOL_VERSION, Reply, Request};

/// Registers this process as node `name`, and waits at most `patience` for the answer.
pub(crate) fn register(
    instance: &InstanceDir,
    name: &str,
    patience: Option<Duration>,
) -> Result<Assignment, JoinError> {
    let socket = instance.socket();
    let stream = UnixStream::connect(&socket).map_err(|source| JoinError::NoMaster {
        instance: instance.name().to_owned(),
        socket,
        source,
    })?;
    ask(&stream, name, patience)
}

fn ask(stream: &UnixStream, name: &str, patience: Option<Duration>) -> Result<Assignment, JoinError> {
    let request =
        Request::Register { version: PROTOCOL_VERSION, node: name.to_owned(), pid: std::process::id() };
    protocol::send(stream, &request)?;
    match protocol::receive(stream, patience)? {
        Reply::Assigned(assignment) => Ok(*assignment),
        Reply::Refused { reason } => Err(JoinError::Refused { node: name.to_owned(), reason }),
        Reply::Done | Reply::Removed => Err(JoinError::Refused {
            node: name.to_owned(),
            reason: "it answered another question".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};

    use super::*;

    const EXCHANGES: &str = include_str!("../tests/vectors/registration.txt");

    /// Requests with their answers, as bytes without the line ends.
    fn exchanges() -> Vec<(&'static str, &'static str)> {
        let said = |mark| move |line: &&'static str| line.strip_prefix(mark);
        let lines: Vec<&str> = EXCHANGES.lines().filter(|line| !line.starts_with('#')).collect();
        let asked = lines.iter().filter_map(said("> "));
        let answered = lines.iter().filter_map(said("< "));
        let exchanges: Vec<_> = asked.zip(answered).collect();
        assert_eq!(exchanges.len() * 2, lines.iter().filter(|line| !line.is_empty()).count());
        exchanges
    }

    /// The client against a master that answers as the vectors say.
    #[test]
    fn the_client_says_and_understands_what_the_vectors_say() {
        let mut played = 0;
        for (asked, answered) in exchanges() {
            let Ok(Request::Register { version: PROTOCOL_VERSION, node, .. }) =
                serde_json::from_str(&asked.replace("PID", "1"))
            else {
                continue;
            };
            if !asked.contains("PID") {
                // Our client says who it is.
                continue;
            }
            let this = std::process::id().to_string();
            let (ours, theirs) = UnixStream::pair().unwrap();
            let master = std::thread::spawn(move || {
                let mut line = String::new();
                BufReader::new(&theirs).read_line(&mut line).unwrap();
                (&theirs).write_all(format!("{answered}\n").as_bytes()).unwrap();
                line
            });
            let assigned = ask(&ours, &node, Some(Duration::from_secs(30)));
            assert_eq!(master.join().unwrap(), format!("{}\n", asked.replace("PID", &this)));
            let understood = match assigned {
                Ok(assignment) => Reply::Assigned(Box::new(assignment)),
                Err(JoinError::Refused { reason, .. }) => Reply::Refused { reason },
                Err(error) => panic!("{error}"),
            };
            assert_eq!(serde_json::to_string(&understood).unwrap(), answered);
            played += 1;
        }
        assert!(played >= 4, "{played} registrations");
    }

    #[test]
    fn every_answer_is_one_that_the_client_reads_and_writes_the_same() {
        for (asked, answered) in exchanges() {
            let reply: Reply = serde_json::from_str(answered).unwrap();
            assert_eq!(serde_json::to_string(&reply).unwrap(), answered);
            if let Ok(request) = serde_json::from_str::<Request>(asked) {
                assert_eq!(serde_json::to_string(&request).unwrap(), asked);
            }
        }
    }
}
