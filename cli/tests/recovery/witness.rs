//! Somebody who reads every journal from its first frame to its last, and whom every writer waits for.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use journal::{GatedReader, Journal, OpenError};
use wire::AnyMessage;

use crate::platform::Platform;

/// A seat that no node has.
const SEAT: u32 = 63;

/// One frame.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) position: u64,
    pub(crate) time: u64,
    pub(crate) topic: u32,
    pub(crate) message: AnyMessage,
}

/// All frames of all journals, by the journal's name. Samples are left out: a death may cost one.
pub(crate) type Records = BTreeMap<String, Vec<Record>>;

/// How often each journal was full.
pub(crate) type Fulls = BTreeMap<String, u64>;

pub(crate) struct Witness {
    stop: Sender<()>,
    thread: JoinHandle<(Records, Fulls)>,
}

impl Witness {
    /// Joins all journals. `None` when the host held this process up for so long that a ring has gone round.
    pub(crate) fn join(platform: &Platform) -> Option<Witness> {
        let open = |(name, files)| {
            let journal = Journal::open(files).expect("a journal");
            match journal.admit_gated(SEAT) {
                Err(OpenError::TooLate { .. }) => return None,
                admitted => admitted.expect("a free seat"),
            }
            let reader = journal.gated(SEAT).expect("a free seat");
            Some((name, journal, reader))
        };
        let wanted = platform.journals().into_iter().filter(|(name, _)| name != "td.samples");
        let journals = wanted.map(open).collect::<Option<Vec<_>>>()?;
        let (stop, stopped) = channel();
        Some(Witness { stop, thread: std::thread::spawn(move || read(journals, &stopped)) })
    }

    /// What was written, once everybody who writes has ended.
    pub(crate) fn finish(self) -> (Records, Fulls) {
        self.stop.send(()).expect("it reads");
        self.thread.join().expect("it read")
    }
}

fn read(mut journals: Vec<(String, Journal, GatedReader)>, stopped: &Receiver<()>) -> (Records, Fulls) {
    let mut records = Records::new();
    loop {
        // Looked at first: what was written before the end is read after it.
        let ending = !matches!(stopped.try_recv(), Err(TryRecvError::Empty));
        let mut idle = true;
        for (name, _, reader) in &mut journals {
            let known = records.entry(name.clone()).or_default();
            while let Some(frame) = reader.read().expect("a sound ring") {
                let message = AnyMessage::decode(frame.message_id, frame.payload).expect("a message");
                let (position, time, topic) = (frame.position, frame.time, frame.topic);
                known.push(Record { position, time, topic, message });
                idle = false;
            }
        }
        if ending {
            break;
        }
        if idle {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
    for (name, journal, reader) in &journals {
        assert_eq!(reader.position(), journal.head(), "{name} is read to its end");
        assert_eq!(records[name].len() as u64, journal.stat().frames, "{name} counts its frames");
    }
    let fulls = journals.iter().map(|(name, journal, _)| (name.clone(), journal.stat().full)).collect();
    (records, fulls)
}
