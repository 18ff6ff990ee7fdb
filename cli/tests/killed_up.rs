//! What a killed `colo up` leaves, at every point at which it makes or removes something: each verb finds it and removes it, and
//! what a living process holds stays.

mod home;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use home::{Home, kill, stderr, stdout};
use journal::process::ProcessIdentity;

const STAY: &[&str] = &["up", "--stay", "--set", "md.count=0", "--set", "strategies.count=1"];
/// A lock of a process that has ended.
const MARKED: &str = "colo-lock pid=4194304 start=1 pidns=1\n";

/// Something that `up` makes, below the root.
#[derive(Clone, Debug)]
enum Made {
    Folder(PathBuf),
    File(PathBuf, Vec<u8>),
    Socket(PathBuf),
}

impl Made {
    fn path(&self) -> &Path {
        match self {
            Made::Folder(path) | Made::File(path, _) | Made::Socket(path) => path,
        }
    }

    fn make(&self, root: &Path) {
        let path = root.join(self.path());
        match self {
            Made::Folder(_) => {
                fs::create_dir(&path).expect("a folder");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).expect("its mode");
            }
            Made::File(_, bytes) => fs::write(&path, bytes).expect("a file"),
            Made::Socket(_) => drop(UnixListener::bind(&path).expect("a socket")),
        }
    }
}

/// Everything of an instance whose processes were killed, in the order in which it is made.
fn instance() -> Vec<Made> {
    let home = Home::new();
    let up = home.colo(STAY);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    let demo = home.root.path().join("demo");
    let registry = journal::Registry::open_read_only(&demo.join("registry")).expect("a registry");
    let seats = (0..registry.seats()).filter_map(|seat| Some(registry.seat(seat)?.process()));
    let processes: Vec<_> = seats.filter(ProcessIdentity::is_alive).collect();
    processes.iter().for_each(|process| kill(process.pid, "KILL"));
    home.wait_for("the end of all", || !processes.iter().any(ProcessIdentity::is_alive));
    let file = |name: String| {
        let bytes = fs::read(demo.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        Made::File(Path::new("demo").join(name), bytes)
    };
    let mut journals: Vec<String> = fs::read_dir(demo.join("journals"))
        .expect("journals")
        .map(|entry| format!("journals/{}", entry.expect("a file").file_name().display()))
        .collect();
    journals.sort();
    let mut made = vec![Made::Folder("demo/journals".into())];
    made.extend(journals.into_iter().map(file));
    made.push(file("registry".to_owned()));
    made.push(file("topology.json".to_owned()));
    made.push(Made::Socket("demo/master.sock".into()));
    made
}

/// Every state between nothing and a whole instance, and between that and nothing.
fn states() -> Vec<Vec<Made>> {
    let passing = PathBuf::from(".demo.4194304.0");
    let (folder, lock) = (Made::Folder(passing.clone()), passing.join("lock"));
    let mut states = vec![
        vec![folder.clone()],
        vec![folder.clone(), Made::File(lock.clone(), Vec::new())],
        vec![folder.clone(), Made::File(lock, MARKED.into())],
    ];
    let mut made = vec![Made::Folder("demo".into()), Made::File("demo/lock".into(), MARKED.into())];
    states.push(made.clone());
    // Of the files of journals, some: each is one more of the same.
    for (index, next) in instance().into_iter().enumerate() {
        made.push(next);
        if index < 6 || made.last().is_some_and(|last| !last.path().starts_with("demo/journals")) {
            states.push(made.clone());
        }
    }
    // A killed removal leaves the rest of what it removed, and then what a killed `up` leaves too. Both kinds at once:
    let whole = made.clone();
    states.push([vec![folder], whole].concat());
    states
}

fn text(output: &std::process::Output) -> String {
    format!("{}{}", stdout(output), stderr(output))
}

#[test]
fn whatever_a_killed_up_leaves_is_found_and_removed_by_each_verb() {
    let verbs: [&[&str]; 4] = [
        &["down", "demo", "--force"],
        &["journal", "clean", "demo"],
        &["journal", "clean"],
        &["up", "--set", "md.count=10", "--set", "strategies.count=1"],
    ];
    let states = states();
    assert!(states.len() > 12, "{}", states.len());
    let home = Home::new();
    for (index, state) in states.iter().enumerate() {
        let names: Vec<_> = state.iter().map(Made::path).collect();
        // `up` on each state; the other verbs take turns behind the first states, which are the narrow ones.
        let of_state = verbs.iter().enumerate().filter(|(verb, _)| index < 5 || verb % 3 == index % 3);
        for (_, verb) in of_state {
            state.iter().for_each(|made| made.make(home.root.path()));
            if verb[0] == "journal" {
                let dry = home.colo(&[verb, &["--dry-run"][..]].concat());
                assert!(
                    text(&dry).contains("demo: ") && text(&dry).contains("would be removed"),
                    "{names:?}: {}",
                    text(&dry)
                );
                assert!(!home.left().is_empty(), "{names:?}: a dry run removes nothing");
            }
            let output = home.colo(verb);
            assert!(output.status.success(), "{verb:?} of {names:?}: {}\n{}", text(&output), home.logs());
            assert!(home.left().is_empty(), "{verb:?} of {names:?} leaves {:?}", home.left());
            // The second time there is nothing.
            if verb[0] == "down" {
                assert_eq!(home.colo(verb).status.code(), Some(69), "{names:?}");
            }
        }
    }
}

#[test]
fn what_a_living_up_is_making_is_left_alone_by_each_verb() {
    let home = Home::new();
    let folder = home.root.path().join(".demo.4194304.0");
    Made::Folder(folder.clone()).make(Path::new(""));
    let lock = node::OwnLock::take(&folder.join("lock")).expect("a lock").expect("no process has it");
    assert_eq!(home.colo(&["down", "demo", "--force"]).status.code(), Some(69));
    assert_eq!(home.colo(&["journal", "clean", "demo"]).status.code(), Some(69));
    assert!(stdout(&home.colo(&["journal", "clean"])).contains("nothing is left"));
    // Another one of the same name is quicker.
    let up = home.colo(&["up", "--set", "md.count=10", "--set", "strategies.count=1"]);
    assert!(up.status.success(), "{}\n{}", stderr(&up), home.logs());
    assert_eq!(home.left(), std::slice::from_ref(&folder));
    // Its maker is killed now.
    drop(lock);
    let clean = home.colo(&["journal", "clean"]);
    assert!(text(&clean).contains("demo: ") && home.left().is_empty(), "{}", text(&clean));
}
