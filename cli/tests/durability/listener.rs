//! Somebody who hears reports as strategies do: only those that are on disk.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use journal::reader::View;
use journal::{Journal, JournalFiles, LooseReader, ReadError};
use wire::AnyMessage;

use crate::witness::{Record, Records};

pub(crate) struct Listener {
    stop: Sender<()>,
    thread: JoinHandle<Records>,
}

/// Hears all reports from now on.
pub(crate) fn listen(journals: &[(String, JournalFiles)]) -> Listener {
    let open = |(name, files): &(String, JournalFiles)| {
        let journal = Journal::open(files.clone()).expect("a journal");
        let mut reader = journal.observe(journal.head()).expect("its end");
        reader.set_view(View::Durable);
        (name.clone(), journal, reader)
    };
    let readers: Vec<_> =
        journals.iter().filter(|(name, _)| name.starts_with("reports.")).map(open).collect();
    let (stop, stopped) = channel();
    Listener { stop, thread: std::thread::spawn(move || hear(readers, &stopped)) }
}

impl Listener {
    /// What it heard.
    pub(crate) fn finish(self) -> Records {
        self.stop.send(()).expect("it listens");
        self.thread.join().expect("it listened")
    }
}

fn hear(mut readers: Vec<(String, Journal, LooseReader)>, stopped: &Receiver<()>) -> Records {
    let mut heard = Records::new();
    loop {
        let ending = !matches!(stopped.try_recv(), Err(TryRecvError::Empty));
        let mut idle = true;
        for (name, _, reader) in &mut readers {
            let known = heard.entry(name.clone()).or_default();
            loop {
                let frame = match reader.read() {
                    Ok(Some(frame)) => frame,
                    Ok(None) => break,
                    // It has heard less then, and nothing wrong.
                    Err(ReadError::Lapped(_)) => continue,
                    Err(error) => panic!("{name}: {error}"),
                };
                let message = AnyMessage::decode(frame.message_id, frame.payload).expect("a message");
                known.push(Record {
                    position: frame.position,
                    time: frame.time,
                    topic: frame.topic,
                    message,
                });
                idle = false;
            }
        }
        if ending {
            return heard;
        }
        if idle {
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// How many reports were heard; each of them is on disk, as it was heard.
pub(crate) fn assert_on_disk(heard: &Records, recorded: &Records) -> usize {
    let mut count = 0;
    for (name, frames) in heard {
        let disk = recorded.get(name).map_or(&[][..], Vec::as_slice);
        for frame in frames {
            let found = disk.binary_search_by_key(&frame.position, |record| record.position);
            let found = found.ok().map(|index| &disk[index]);
            let same = found.is_some_and(|found| found.time == frame.time && found.message == frame.message);
            assert!(
                same,
                "{name}: {frame:?} was heard, on disk is {found:?}; the recording ends at {:?}",
                disk.last().map(|record| record.position)
            );
            count += 1;
        }
    }
    count
}
