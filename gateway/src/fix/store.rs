//! What a session must not forget: a file of lines, each written before what it is about is sent. A process that is killed
//! leaves at most half a line at the end, which was then never sent.
//!
//! A power cut may lose the last lines. So numbers are set aside on disk before they are used, and after a power cut the next message
//! has the first number that was not set aside: the client sees a gap, asks for it, and it is filled.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::push::Positions;

/// Messages that can be sent again; what is older is filled by a gap.
const KEPT: usize = 100_000;
/// So many numbers are set aside at once.
const AHEAD: u64 = 10_000;

/// A message that can be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) sequence: u64,
    /// Its type and what it says, without header.
    pub(crate) kind: String,
    pub(crate) body: String,
    /// When it was sent first.
    pub(crate) time: String,
}

/// A cancel or a replace that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    /// Its own ClOrdID.
    pub(crate) id: String,
    /// The ClOrdID that it named.
    pub(crate) before: String,
    /// The first ClOrdID of the order.
    pub(crate) root: String,
    pub(crate) is_replace: bool,
}

/// A line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    /// The next message of ours has this number; what it was, where it may have to be sent again.
    Out {
        sequence: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<(String, String, String)>,
        /// The report that it was made from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<u64>,
        /// That report's time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report_ns: Option<u64>,
        /// The change that it answers, and whether it was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answers: Option<(String, bool)>,
    },
    /// The client's next message has this number.
    In(u64),
    /// Numbers of ours below `until` may be used in this boot of the host. On disk before the first of them is used.
    Ahead {
        boot: String,
        until: u64,
    },
    /// Our next message has this number.
    Next(u64),
    Change(Change),
    /// It came to nothing, and no report will say so.
    Dropped(String),
    /// Reports behind this position are for this session. Written by earlier versions.
    From(u64),
    /// The same, at a platform whose journal of reports is this one.
    At {
        created: u64,
        incarnation: u64,
        report: u64,
        report_ns: u64,
    },
    Reset,
}

/// The state of a session, and its file.
#[derive(Debug)]
pub(crate) struct Store {
    file: File,
    /// Number of the next message that is expected.
    pub(crate) next_in: u64,
    /// Number of the next message that is sent.
    pub(crate) next_out: u64,
    sent: VecDeque<Sent>,
    /// The last report that was passed on: its time and its position.
    pub(crate) reported: Option<(u64, u64)>,
    /// Whose position that is; `None` in a file of an earlier version.
    pub(crate) positions: Option<Positions>,
    /// The first names of orders that are called otherwise now or may be. Names outlive a reset of the numbers.
    roots: HashMap<String, String>,
    /// What an order is called now, by its first name.
    current: HashMap<String, String>,
    /// Changes without an answer, in their order.
    pending: Vec<Change>,
    /// The boot of the host in which numbers were set aside, and the first that was not.
    ahead: Option<(String, u64)>,
    boot: String,
}

/// A message of ours that is noted before it is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outgoing {
    /// Type, body and time; without them it is never sent again.
    pub(crate) message: Option<(String, String, String)>,
    /// Time and position of the report that it is made from.
    pub(crate) report: Option<(u64, u64)>,
    pub(crate) answers: Option<(String, bool)>,
}

impl Store {
    /// Reads the file, or begins one.
    pub(crate) fn open(path: &Path) -> io::Result<Store> {
        let mut options = OpenOptions::new();
        let mut file = node::own_file(path, options.read(true).append(true).create(true).mode(0o600))?;
        let mut store = Store {
            file: file.try_clone()?,
            next_in: 1,
            next_out: 1,
            sent: VecDeque::new(),
            reported: None,
            positions: None,
            roots: HashMap::new(),
            current: HashMap::new(),
            pending: Vec::new(),
            ahead: None,
            boot: node::boot_id()?,
        };
        let mut lines = BufReader::new(&mut file);
        let (mut line, mut whole) = (Vec::new(), 0_u64);
        loop {
            line.clear();
            let count = lines.read_until(b'\n', &mut line)?;
            let Some(text) = line.strip_suffix(b"\n") else { break };
            match serde_json::from_slice(text) {
                Ok(line) => store.apply(line),
                // A power cut may leave anything behind what was on disk.
                Err(_) if store.is_of_another_boot().is_some() => break,
                Err(error) => {
                    whole += count as u64;
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        format!(
                            "`{}` is damaged before byte {whole}: {error}; move it away, and reset the sequence numbers of both sides",
                            path.display()
                        ),
                    ));
                }
            }
            whole += count as u64;
        }
        drop(lines);
        // Half a line is of a message that was never sent.
        file.set_len(whole)?;
        if let Some(until) = store.is_of_another_boot() {
            let next = store.next_out.max(until);
            log::warn!(
                "{}: the host has started anew since: the next message has number {next}",
                path.display()
            );
            store.line(Line::Next(next))?;
        }
        Ok(store)
    }

    /// Numbers were set aside in another boot of the host: the first that was not.
    fn is_of_another_boot(&self) -> Option<u64> {
        self.ahead.as_ref().filter(|(boot, _)| *boot != self.boot).map(|(_, until)| *until)
    }

    fn apply(&mut self, line: Line) {
        match line {
            Line::Out { sequence, message, report, report_ns, answers } => {
                self.next_out = sequence + 1;
                if let Some((kind, body, time)) = message {
                    self.sent.push_back(Sent { sequence, kind, body, time });
                    if self.sent.len() > KEPT {
                        self.sent.pop_front();
                    }
                }
                if let Some(report) = report {
                    self.reported = Some((report_ns.unwrap_or_default(), report));
                }
                let Some((id, is_made)) = answers else { return };
                let Some(place) = self.pending.iter().position(|change| change.id == id) else { return };
                let change = self.pending.remove(place);
                if change.is_replace && is_made {
                    self.current.insert(change.root, id);
                }
            }
            Line::In(next) => self.next_in = next,
            Line::Ahead { boot, until } => self.ahead = Some((boot, until)),
            Line::Next(next) => self.next_out = next,
            Line::Change(change) => {
                self.roots.insert(change.id.clone(), change.root.clone());
                self.pending.push(change);
            }
            Line::Dropped(id) => self.pending.retain(|change| change.id != id),
            // Backwards where another platform has taken the place of the one before.
            Line::From(position) => self.reported = Some((0, position)),
            Line::At { created, incarnation, report, report_ns } => {
                self.positions = Some(Positions { created, incarnation });
                self.reported = Some((report_ns, report));
            }
            Line::Reset => {
                (self.next_in, self.next_out) = (1, 1);
                self.ahead = None;
                self.sent.clear();
            }
        }
    }

    fn line(&mut self, line: Line) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        self.file.write_all(&bytes)?;
        self.apply(line);
        Ok(())
    }

    /// Notes a message before it is sent: its number.
    pub(crate) fn out(&mut self, outgoing: Outgoing) -> io::Result<u64> {
        let sequence = self.next_out;
        let is_set_aside = |(boot, until): &(String, u64)| *boot == self.boot && sequence < *until;
        if !self.ahead.as_ref().is_some_and(is_set_aside) {
            self.line(Line::Ahead { boot: self.boot.clone(), until: sequence + AHEAD })?;
            self.file.sync_data()?;
        }
        let Outgoing { message, report, answers } = outgoing;
        let (report_ns, report) = report.unzip();
        self.line(Line::Out { sequence, message, report, report_ns, answers })?;
        Ok(sequence)
    }

    /// Reports up to this one, given by time and position, need not be passed on.
    pub(crate) fn at(&mut self, positions: Positions, (report_ns, report): (u64, u64)) -> io::Result<()> {
        if (self.positions, self.reported) == (Some(positions), Some((report_ns, report))) {
            return Ok(());
        }
        let Positions { created, incarnation } = positions;
        self.line(Line::At { created, incarnation, report, report_ns })
    }

    /// Where the session goes on in the reports of this platform. `last` is the last report there, as time and position;
    /// `before` finds the last report that is not behind a time and position.
    ///
    /// | the session's file | it goes on behind |
    /// |---|---|
    /// | new | the last report |
    /// | of this journal | the report that was passed on last |
    /// | of a journal that this one may continue | the last recovered report that is as old: its disk may not have had all that were passed on |
    /// | of another platform | nothing: all reports are news |
    /// | of an earlier version | the report that was passed on last, if it is there |
    pub(crate) fn goes_on_at(
        &self,
        platform: Positions,
        last: (u64, u64),
        before: impl FnOnce((u64, u64)) -> u64,
    ) -> u64 {
        match (self.positions, self.reported) {
            (_, None) => last.1,
            (Some(noted), Some((_, reported))) if noted == platform => reported,
            (Some(_), Some((reported_ns, reported))) if platform.incarnation > 1 => {
                // All that was recovered is older than this journal, and all new reports are not, however the host's clock was set.
                before((reported_ns.min(platform.created.saturating_sub(1)), reported))
            }
            (Some(_), Some(_)) => 0,
            (None, Some((_, reported))) => reported.min(last.1),
        }
    }

    /// All before this number is done with.
    pub(crate) fn expect(&mut self, next: u64) -> io::Result<()> {
        self.line(Line::In(next))
    }

    /// A change is asked for. False: it was answered before.
    pub(crate) fn change(&mut self, change: Change) -> io::Result<bool> {
        if self.roots.contains_key(&change.id) {
            return Ok(self.pending.iter().any(|pending| pending.id == change.id));
        }
        self.line(Line::Change(change))?;
        Ok(true)
    }

    /// The ExecutionReports that can be sent again, in their order.
    pub(crate) fn reports(&self) -> impl Iterator<Item = &str> {
        self.sent.iter().filter(|sent| sent.kind == "8").map(|sent| sent.body.as_str())
    }

    /// The first name of an order.
    pub(crate) fn root<'a>(&'a self, id: &'a str) -> &'a str {
        self.roots.get(id).map_or(id, String::as_str)
    }

    /// What an order is called now.
    pub(crate) fn current<'a>(&'a self, root: &'a str) -> &'a str {
        self.current.get(root).map_or(root, String::as_str)
    }

    /// The change of an order that is answered next.
    pub(crate) fn pending(&self, root: &str, is_replace: bool) -> Option<&Change> {
        self.pending.iter().find(|change| change.root == root && change.is_replace == is_replace)
    }

    pub(crate) fn drop_change(&mut self, id: &str) -> io::Result<()> {
        self.line(Line::Dropped(id.to_owned()))
    }

    /// Both sides begin again. On disk: a client that has begun again is refused by older numbers.
    pub(crate) fn reset(&mut self) -> io::Result<()> {
        self.line(Line::Reset)?;
        self.file.sync_data()
    }

    /// What was sent with these numbers, both included, as far as it is kept.
    pub(crate) fn sent(&self, from: u64, to: u64) -> Vec<Sent> {
        let first = self.sent.partition_point(|sent| sent.sequence < from);
        self.sent.range(first..).take_while(|sent| sent.sequence <= to).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Option<(String, String, String)> {
        Some(("8".into(), text.into(), "t".into()))
    }

    #[test]
    fn numbers_and_messages_are_there_after_a_kill_at_any_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut store = Store::open(&path).unwrap();
        for number in 1..=9 {
            store.expect(number + 1).unwrap();
            let report = (number % 2 == 0).then_some((number * 100, number * 10));
            let text = (number % 3 != 0).then(|| message(&format!("11={number}\x01"))).flatten();
            let outgoing = Outgoing { message: text, report, answers: None };
            assert_eq!(store.out(outgoing).unwrap(), number);
        }
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let store = Store::open(&path).unwrap();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
            // The second sets numbers aside.
            let lines = lines - u64::from(lines >= 2);
            assert_eq!((store.next_in, store.next_out), (1 + lines.div_ceil(2), 1 + lines / 2), "{cut}");
        }
        let mut store = Store::open(&path).unwrap();
        assert_eq!(store.reported, Some((800, 80)));
        let numbers: Vec<u64> = store.sent(2, 7).iter().map(|sent| sent.sequence).collect();
        assert_eq!(numbers, [2, 4, 5, 7], "what is missing is filled by gaps");
        store.reset().unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(
            (store.next_in, store.next_out, store.sent(0, 99).len(), store.reported),
            (1, 1, 0, Some((800, 80)))
        );
    }

    #[test]
    fn a_power_cut_leaves_no_number_that_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut store = Store::open(&path).unwrap();
        let mut on_disk = Vec::new();
        for number in 1..=2 * AHEAD + 5 {
            let ahead = store.ahead.clone();
            assert_eq!(store.out(Outgoing::default()).unwrap(), number);
            if store.ahead != ahead {
                on_disk.push((number, read()));
            }
        }
        let boot = node::boot_id().unwrap();
        assert_eq!(on_disk.len(), 3);
        for (place, (_, text)) in on_disk.iter().enumerate() {
            // Numbers up to the next ones that were set aside may have been used.
            let used = on_disk.get(place + 1).map_or(2 * AHEAD + 6, |(next, _)| *next);
            std::fs::write(&path, text.replace(&boot, "another-boot") + "\0\0\n{\"next\":3}\n").unwrap();
            let mut store = Store::open(&path).unwrap();
            let next = store.next_out;
            assert!(next >= used && next <= used + AHEAD, "{next}, {used}");
            assert_eq!(store.out(Outgoing::default()).unwrap(), next);
            drop(store);
            assert_eq!(Store::open(&path).unwrap().next_out, next + 1, "a kill skips nothing");
        }
        let mut store = Store::open(&path).unwrap();
        store.reset().unwrap();
        assert_eq!(store.out(Outgoing::default()).unwrap(), 1);
        std::fs::write(&path, read().replace(&boot, "another-boot")).unwrap();
        assert_eq!(Store::open(&path).unwrap().next_out, 1 + AHEAD);
    }

    #[test]
    fn a_session_goes_on_where_it_was_at_whichever_platform() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let of = |created, incarnation| Positions { created, incarnation };
        let last = (900, 90);
        let at = |platform: Positions| {
            // Recovered ones; then new ones, at positions that others had before.
            let reports = [(600, 60), (740, 74), (platform.created + 5, 76), (platform.created + 9, 79)];
            let before = |noted| {
                reports.iter().rev().find(|report| **report <= noted).map_or(0, |(_, position)| *position)
            };
            Store::open(&path).unwrap().goes_on_at(platform, last, before)
        };
        assert_eq!(at(of(1, 1)), 90, "a new session begins with what comes");
        std::fs::write(&path, "{\"from\":0}\n{\"out\":{\"sequence\":1,\"report\":80}}\n").unwrap();
        assert_eq!(at(of(1, 1)), 80, "a file of an earlier version");
        std::fs::write(&path, "{\"from\":95}\n").unwrap();
        assert_eq!(at(of(1, 1)), 90, "a file of an earlier version, of another platform");
        std::fs::remove_file(&path).unwrap();
        let mut store = Store::open(&path).unwrap();
        store.at(of(1, 1), (0, 0)).unwrap();
        store.out(Outgoing { message: None, report: Some((800, 80)), answers: None }).unwrap();
        assert_eq!(at(of(1, 1)), 80);
        assert_eq!(at(of(900, 2)), 74, "its disk had not all");
        assert_eq!(at(of(750, 2)), 74, "its disk had not all, and the clock was set back");
        assert_eq!(at(of(900, 1)), 0, "all reports of another platform are news");
        let size = std::fs::metadata(&path).unwrap().len();
        store.at(of(1, 1), (800, 80)).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), size, "what is noted is not noted again");
        store.at(of(900, 2), (740, 74)).unwrap();
        assert_eq!(at(of(900, 2)), 74);
    }

    #[test]
    fn a_damaged_file_is_told_of_and_not_guessed_about() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "{\"in\":2}\nrubbish\n{\"in\":3}\n").unwrap();
        assert!(Store::open(&path).unwrap_err().to_string().contains("before byte 17"));
    }

    #[test]
    fn an_order_is_known_by_all_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let change = |id: &str, before: &str, is_replace| Change {
            id: id.into(),
            before: before.into(),
            root: "a".into(),
            is_replace,
        };
        let answer =
            |id: &str, is_made| Outgoing { answers: Some((id.into(), is_made)), ..Outgoing::default() };
        {
            let mut store = Store::open(&path).unwrap();
            assert!(store.change(change("b", "a", true)).unwrap());
            assert!(store.change(change("b", "a", true)).unwrap(), "not answered: it is asked again");
            assert!(store.change(change("c", "b", true)).unwrap());
            store.out(answer("b", true)).unwrap();
            store.out(answer("c", false)).unwrap();
            assert!(!store.change(change("b", "a", true)).unwrap(), "it was answered");
            assert!(store.change(change("d", "b", false)).unwrap());
        }
        let store = Store::open(&path).unwrap();
        assert_eq!((store.root("c"), store.current("a"), store.root("x")), ("a", "b", "x"));
        assert_eq!(store.pending("a", false).map(|change| change.id.as_str()), Some("d"));
        assert_eq!(store.pending("a", true), None);
    }
}
