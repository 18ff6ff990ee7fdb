//! `colo journal dump`, `tail` and `verify` on journals of known content, on damaged ones, and on what is none.

mod home;

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use wire::{Message, ReplaceOrder};

use home::written::Written;
use home::{Home, kill, number, stderr, stdout};

fn name(id: u16) -> &'static str {
    wire::schema::message_type(id).expect("an id").record.name
}

fn dumped(home: &Home, written: &Written, more: &[&str]) -> Vec<Value> {
    let path = written.text("ctl");
    let output = home.colo(&[&["journal", "dump", &path, "--format", "json"], more].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

fn assert_same(lines: &[Value], frames: &[(u64, u16)]) {
    assert_eq!(lines.len(), frames.len());
    for (line, (position, id)) in lines.iter().zip(frames) {
        assert_eq!(
            (number(&line["position"]), &line["message"]),
            (*position, &Value::from(name(*id))),
            "{line}"
        );
        assert!(line["fields"].is_object(), "{line}");
    }
}

#[test]
fn all_that_was_written_is_dumped_and_decoded() {
    let home = Home::new();
    let mut frames = 0;
    for (seed, count) in [(1, 1), (2, 15), (3, 250), (4, 330)] {
        let written = Written::new(seed, count);
        frames += count;
        assert_same(&dumped(&home, &written, &[]), &written.frames);
        let csv = home.colo(&["journal", "dump", &written.text("ring"), "--format", "csv"]);
        let mut rows = csv::Reader::from_reader(csv.stdout.as_slice());
        let columns = rows.headers().expect("a head").clone();
        let column = |name: &str| columns.iter().position(|column| column == name).expect(name);
        let (position, message, error) = (column("position"), column("message"), column("error"));
        let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.expect("a row")).collect();
        assert_eq!(rows.len(), count);
        for (row, (at, id)) in rows.iter().zip(&written.frames) {
            assert_eq!(
                (&row[position], &row[message], &row[error]),
                (at.to_string().as_str(), name(*id), "")
            );
        }
    }
    println!("{frames} frames");
}

#[test]
fn a_ring_that_went_round_gives_its_newest_frames_in_a_row() {
    let home = Home::new();
    let written = Written::new(9, 3_000);
    let lines = dumped(&home, &written, &[]);
    assert!(lines.len() > 100 && lines.len() < 3_000);
    assert_same(&lines, &written.frames[3_000 - lines.len()..]);
    let path = written.text("ctl");
    let verified = home.json(&["journal", "verify", &path, "--format", "json"]);
    assert_eq!((&verified["clean"], &verified["frames"]), (&true.into(), &lines.len().into()));
}

#[test]
fn each_record_of_a_frame_has_a_row_of_its_own() {
    const SIZE: usize = ReplaceOrder::SIZE;
    let home = Home::new();
    let written = Written::new(3, 2);
    let mut writer = written.writer();
    let mut wanted = Vec::new();
    let longer = SIZE + 8;
    let id = ReplaceOrder::ID;
    // Messages, bytes of no known kind, records of another size than the message's.
    for (id, size, count) in [(id, SIZE, 4_usize), (999, 24, 3), (id, longer, 2)] {
        let mut records = writer.claim_records(id, 5, size, count).expect("room");
        let positions: Vec<u64> =
            (1..=count).map(|fill| records.push(&vec![fill as u8; size]).expect("pushed")).collect();
        let frame = records.commit().expect("a frame");
        assert_eq!(positions[0], frame.position + 32);
        wanted.extend(positions.into_iter().map(|position| (position, frame.time, id, size)));
    }
    drop(writer);
    let lines = dumped(&home, &written, &[]);
    assert!(lines[..2].iter().all(|line| line["record_bytes"].is_null()), "{:?}", &lines[..2]);
    assert_eq!(lines.len(), 2 + wanted.len());
    for (line, (position, time, id, size)) in lines[2..].iter().zip(&wanted) {
        let number = |name: &str| number(&line[name]);
        assert_eq!((number("position"), number("time_ns")), (*position, *time), "{line}");
        assert_eq!((number("message_id"), number("topic")), (u64::from(*id), 5), "{line}");
        assert_eq!((number("bytes"), number("record_bytes")), (*size as u64, *size as u64), "{line}");
    }
    assert!(lines[2..6].iter().all(|line| line["message"] == "ReplaceOrder" && line["fields"].is_object()));
    assert_eq!(lines[7]["payload"], "02".repeat(24));
    let says = format!("a ReplaceOrder has {SIZE} bytes, but the records of this frame have {longer}");
    assert!(lines[9..].iter().all(|line| line["error"] == says.as_str()), "{:?}", &lines[9..]);
    // A record is a place to begin at, and to end before.
    let place = |index: usize| wanted[index].0.to_string();
    let part = dumped(&home, &written, &["--from", &place(1), "--to", &place(3)]);
    assert_eq!(part, lines[3..5]);
    let path = written.text("ctl");
    let tail = home.json(&["journal", "tail", &path, "-n", "6", "--format", "json"]);
    assert_eq!(tail["frames"].as_array().expect("frames"), &lines[5..]);
    let csv = home.colo(&["journal", "dump", &path, "--format", "csv"]);
    let mut rows = csv::Reader::from_reader(csv.stdout.as_slice());
    let column = rows.headers().expect("a head").iter().position(|name| name == "record_bytes").expect("it");
    let sizes: Vec<String> = rows.records().map(|row| row.expect("a row")[column].to_owned()).collect();
    assert_eq!(&sizes[1..4], ["", &SIZE.to_string(), &SIZE.to_string()]);
    let text = stdout(&home.colo(&["journal", "dump", &path]));
    assert_eq!(text.lines().skip(2).filter(|line| line.contains("  ReplaceOrder ")).count(), 4, "{text}");
}

#[test]
fn a_part_is_chosen_by_position_count_topic_and_kind() {
    let home = Home::new();
    let written = Written::new(5, 300);
    let (from, to) = (written.frames[100].0.to_string(), written.frames[120].0.to_string());
    assert_same(&dumped(&home, &written, &["--from", &from, "--to", &to]), &written.frames[100..120]);
    assert_same(&dumped(&home, &written, &["--from", &from, "-n", "7"]), &written.frames[100..107]);
    assert!(dumped(&home, &written, &["-n", "0"]).is_empty());
    let all = dumped(&home, &written, &[]);
    let fills = dumped(&home, &written, &["--kind", "fill"]);
    assert!(!fills.is_empty() && fills.len() < 300 && fills.iter().all(|line| line["message"] == "Fill"));
    let topic = dumped(&home, &written, &["--topic", "3"]);
    let wanted: Vec<Value> = all.into_iter().filter(|line| line["topic"] == 3).collect();
    assert_eq!(topic, wanted);
    let path = written.text("ctl");
    let tail = home.json(&["journal", "tail", &path, "-n", "4", "--format", "json"]);
    assert_same(tail["frames"].as_array().expect("frames"), &written.frames[296..]);
}

#[test]
fn a_follower_that_is_overtaken_says_what_it_lost_and_goes_on() {
    let home = Home::new();
    let mut written = Written::new(21, 5);
    let mut writer = written.writer();
    let path = written.text("ctl");
    let mut tail = home.command(&["journal", "tail", &path, "--follow", "--format", "json"]).spawn().unwrap();
    let mut lines = BufReader::new(tail.stdout.take().expect("a pipe"))
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.expect("a line")).expect("a JSON object a line"));
    for (position, _) in &written.frames {
        assert_eq!(number(&lines.next().expect("a frame")["position"]), *position);
    }
    // It may be anywhere between two looks; while it stands still, the writer comes round ten times.
    kill(tail.id(), "STOP");
    home.wait_for("the follower's stop", || {
        fs::read_to_string(format!("/proc/{}/stat", tail.id())).is_ok_and(|stat| stat.contains(") T "))
    });
    written.write(&mut writer, 22, 5_000);
    kill(tail.id(), "CONT");
    let gap = lines.next().expect("a gap");
    let resumed = number(&gap["resumed_at"]);
    assert_eq!(number(&gap["position"]), written.frames[5].0, "{gap}");
    assert_eq!(number(&gap["lost_bytes"]), resumed - written.frames[5].0, "{gap}");
    written.write(&mut writer, 23, 3);
    drop(writer);
    let rest: Vec<Value> = lines.collect();
    let from = written.frames.iter().position(|(position, _)| *position == resumed).expect("a frame's start");
    assert_same(&rest, &written.frames[from..]);
    let end = tail.wait_with_output().expect("its end");
    assert_eq!((end.status.code(), stderr(&end).contains("is gone")), (Some(0), true));
}

#[test]
fn damage_is_found_and_said_where() {
    let home = Home::new();
    let written = Written::new(11, 300);
    let path = written.text("ctl");
    let (position, _) = written.frames[150];
    // A length that no frame of this journal can have.
    written.overwrite("ring", position % (1 << 16) + 8, &u32::MAX.to_le_bytes());
    let verify = home.colo(&["journal", "verify", &path, "--format", "json"]);
    assert_eq!(verify.status.code(), Some(4), "{}", stderr(&verify));
    let found: Value = serde_json::from_str(&stdout(&verify)).expect("JSON");
    let findings = found["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|finding| finding["position"] == position), "{found}");
    let dump = home.colo(&["journal", "dump", &path, "--format", "json"]);
    assert!(!dump.status.success() || stdout(&dump).lines().count() < 300);
    assert!(!stderr(&dump).contains("panicked"), "{}", stderr(&dump));

    // Words of the control page, one after the other: whatever is said, nothing hangs or panics.
    for word in 16..64_u64 {
        let written = Written::new(13, 20);
        written.overwrite("ctl", word * 8, &0xdead_beef_dead_beef_u64.to_le_bytes());
        let path = written.text("ctl");
        for verb in
            [["journal", "stat", "--no-rate"].as_slice(), &["journal", "dump"], &["journal", "verify"]]
        {
            let output = home.colo(&[verb, &[&path]].concat());
            assert!(!stderr(&output).contains("panicked"), "{verb:?}, word {word}: {}", stderr(&output));
        }
    }
}

/// Both verbs exit with 1 and say `words`.
fn assert_misfit(home: &Home, written: &Written, words: &str) {
    let path = written.text("ctl");
    for verb in ["dump", "tail"] {
        for format in ["text", "json"] {
            let output = home.colo(&["journal", verb, &path, "--format", format]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(1), "{verb}: {said}");
            assert!(said.contains(words) && said.contains("colo journal verify"), "{verb}, {words}: {said}");
        }
    }
}

#[test]
fn frames_that_do_not_lead_to_the_head_are_said_and_fail() {
    const HEAD: u64 = 256;
    let home = Home::new();
    // A ring that never wrapped, and one that did.
    for count in [40, 3_000] {
        let written = Written::new(31, count);
        let head = written.head();
        let (last, _) = written.frames[count - 1];
        let set = |head: u64| written.overwrite("ctl", HEAD, &head.to_le_bytes());
        set(head + 64);
        assert_misfit(&home, &written, &format!("the head is {}, frames end at {head}", head + 64));
        if head - last > 64 {
            set(head - 64);
            let words = format!("the head is {}, within the frame from {last} to {head}", head - 64);
            assert_misfit(&home, &written, &words);
        }
        set(head);
        assert!(!dumped(&home, &written, &[]).is_empty());
        // The part that is wanted ends before: nobody looked at the rest.
        set(head + 64);
        let first = dumped(&home, &written, &["-n", "3"]);
        assert_eq!(first.len(), 3);
        set(head);
        written.overwrite("ctl", 12, &1_u32.to_le_bytes());
        assert_misfit(&home, &written, "0x1 behind the version");
    }
    // The ring of another journal: shorter, longer, at another place of the stream.
    for (count, other) in [(300, 20), (3_000, 20), (3_000, 5_000)] {
        let (written, other) = (Written::new(41, count), Written::new(43, other));
        fs::copy(other.path("ring"), written.path("ring")).expect("copied");
        let path = written.text("ctl");
        for verb in ["dump", "tail"] {
            let output = home.colo(&["journal", verb, &path]);
            assert_eq!(output.status.code(), Some(1), "{verb}, {count}: {}", stderr(&output));
            assert!(stderr(&output).contains("colo journal verify"), "{}", stderr(&output));
        }
    }
}

#[test]
fn a_living_writer_is_no_misfit() {
    let home = Home::new();
    let mut written = Written::new(51, 1);
    let (path, mut writer) = (written.text("ctl"), written.writer());
    let (done, stop) = mpsc::channel::<()>();
    let looks = thread::scope(|scope| {
        scope.spawn(move || {
            let mut seed = 52;
            while stop.try_recv() == Err(TryRecvError::Empty) {
                written.write(&mut writer, seed, 200);
                // Bursts, so that it is overtaken in all places, and now and then not at all.
                thread::sleep(Duration::from_micros(seed % 7 * 100));
                seed += 1;
            }
        });
        let mut looks = Vec::new();
        for look in 0..40 {
            let topic = (look % 8).to_string();
            looks.push(home.colo(&["journal", "dump", &path]));
            looks.push(home.colo(&["journal", "tail", &path, "--topic", &topic]));
        }
        drop(done);
        looks
    });
    for output in &looks {
        assert!(output.status.success(), "{}", stderr(output));
    }
    assert!(looks.iter().any(|output| output.stdout.len() > 1_000), "none saw a frame");
}

/// Files that are no journal, each with what is said about it.
fn spoilt() -> Vec<(Written, &'static str)> {
    let file = |extension: &str, change: &dyn Fn(&Path)| {
        let written = Written::new(1, 5);
        change(&written.path(extension));
        written
    };
    let cut = |length: u64| {
        move |path: &Path| {
            let file = OpenOptions::new().write(true).open(path).expect("the file");
            file.set_len(length).expect("cut");
        }
    };
    vec![
        (
            file("ctl", &|path| fs::write(path, vec![0x5a; 20_000]).expect("written")),
            "is no colo journal control file",
        ),
        (file("ctl", &cut(0)), "it is empty"),
        (file("ctl", &cut(100)), "is damaged"),
        (file("ctl", &cut(4_096)), "is damaged"),
        (file("ring", &cut(0)), "it is empty"),
        (file("ring", &cut(8_192)), "the ring has 8192"),
        (file("ring", &|path| fs::remove_file(path).expect("removed")), "does not exist"),
        (file("ctl", &|path| fs::remove_file(path).expect("removed")), "does not exist"),
    ]
}

#[test]
fn files_that_are_no_journals_get_a_clear_answer() {
    let home = Home::new();
    for (written, words) in spoilt() {
        let path = written.text("ctl");
        for verb in ["stat", "tail", "dump", "verify"] {
            let output = home.colo(&["journal", verb, &path]);
            let said = stdout(&output) + &stderr(&output);
            assert!(!output.status.success(), "`{verb}` takes it although {words}: {said}");
            assert!(said.contains(words), "`{verb}` does not say `{words}`: {said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
    let hidden = Written::new(1, 5);
    fs::set_permissions(hidden.path("ctl"), fs::Permissions::from_mode(0o000)).expect("hidden");
    if fs::File::open(hidden.path("ctl")).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    for verb in ["stat", "tail", "dump", "verify"] {
        let output = home.colo(&["journal", verb, &hidden.text("ctl")]);
        assert_eq!(output.status.code(), Some(77), "{verb}: {}", stderr(&output));
    }
}

#[test]
fn wrong_arguments_get_a_clear_answer_and_their_exit_code() {
    let home = Home::new();
    let written = Written::new(1, 5);
    let path = written.text("ctl");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["tail", "md.quotes"], 69, "no instance"),
        (&["stat", "md.quotes", "-i", "nobody"], 69, "nobody"),
        (&["verify"], 69, "no instance"),
        (&["trace", "6-1-1"], 69, "no instance"),
        (&["trace", "bananas"], 2, "no order id"),
        (&["trace"], 2, "--last"),
        (&["clean", "nobody"], 69, "nobody"),
        (&["clean", "../../etc"], 2, "../../etc"),
        (&["dump", &path, "--from", "soon"], 2, "no place in a journal"),
        (&["dump", &path, "--kind", "bananas"], 2, "TradePrint"),
        (&["dump", "/no/such/file.ctl"], 2, "/no/such/file.ctl"),
        (&["stat", &path, "--interval", "long"], 2, "--interval"),
    ];
    for (arguments, code, words) in cases {
        let output = home.colo(&[&["journal"], *arguments].concat());
        assert_eq!(output.status.code(), Some(*code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?} does not say `{words}`: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{arguments:?}: {}", stderr(&output));
    }
    // An instance directory without a registry, half made or half removed, that bears the mark of a lock.
    fs::create_dir_all(home.root.path().join("half/journals")).expect("made");
    fs::write(home.root.path().join("half/lock"), "colo-lock pid=1 start=1 pidns=1\n").expect("written");
    let output = home.colo(&["journal", "stat", "md.quotes"]);
    assert_eq!(output.status.code(), Some(69), "{}", stderr(&output));
    assert!(stderr(&output).contains("colo journal clean half"), "{}", stderr(&output));
    assert!(home.colo(&["journal", "clean", "half"]).status.success());
    assert_eq!(home.left(), Vec::<PathBuf>::new());
}
