//! Chronicle Queue, through a Java peer of ours in `chronicle/`: the process of a role executes that program.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use journal::tools::Floor;

use crate::board::Board;
use crate::error::{CompareError, system};
use crate::place;
use crate::rival::{Can, Facts};
use crate::task::{Outcome, Task, Work};

const NAME: &str = "chronicle-queue";
/// Time limit for Maven, which fetches some 10 MB if it has none of it.
const BUILD: Duration = Duration::from_secs(300);
/// Archive of its classes for mapping.
const ARCHIVE: &str = "peer.jsa";
/// Options that its documentation requires on JDK 17.
const MODULES: [&str; 9] = [
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
    "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
    "--add-opens=jdk.compiler/com.sun.tools.javac=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
];
/// A small heap that is not collected during the measurement, few threads besides ours, no checks, no output.
const MACHINE: [&str; 10] = [
    "-Xms64m",
    "-Xmx64m",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Dbytes.bounds.unchecked=true",
    "-Ddisable.single.threaded.check=true",
    "-Dchronicle.analytics.disable=true",
    "-Dchronicle.announcer.disable=true",
    "-Dfile.encoding=UTF-8",
];

pub(super) fn facts() -> Facts {
    Facts {
        name: NAME,
        version: "Chronicle Queue 2026.4, open source, on a JDK 17 or later".to_owned(),
        settings: &[
            "a Java peer (bench-compare/chronicle) in processes of its own; queues in /dev/shm, FAST_DAILY; writingDocument, readingDocument, bytes copied in and out",
            "one mapping for all that is measured, every page of it touched before by both sides: the pretoucher itself is in the paid edition",
            "compiled before it counts: 50,000 more round trips, 200,000 messages one-way, 12,000 to the sleepers (these by the first compiler only); serial collector, 64 MiB of heap, bounds unchecked",
            "polling: Pauser.busy; one-way ends when its 512 MiB are full: a file does not wrap, and keeps all that was written",
            "asleep: nothing wakes its readers, they nap with Pauser.millis(1); a pauser that backs off would spin for most of the time between two messages",
            "80 sleepers: one queue; every reader looks at all messages and takes its own",
        ],
        in_process: false,
        floor: false,
        naps: true,
        can: Can::ALL,
    }
}

/// Replaces this program by the Java peer, for one role of one block.
pub(super) fn run(role: usize, task: &Task) -> Result<Outcome, CompareError> {
    let (work, first, second) = match task.work {
        Work::PingPong { trips, warm_up } => ("ping", trips, warm_up),
        Work::PingPongAsleep { trips, warm_up } => ("asleep", trips, warm_up),
        Work::OneWay { millis, .. } => ("one-way", millis, 0),
        Work::Sleepers { per_second, millis, .. } => ("sleepers", per_second, millis),
        Work::WriterDies => ("writer-dies", 0, 0),
        Work::ReaderDies => ("reader-dies", 0, 0),
    };
    // The JVM's own threads may run on any of the CPUs; the measuring one pins itself.
    place::pin_to_any(&task.cpus)?;
    let mut command = java(&task.room)?;
    command.arg(format!("-XX:SharedArchiveFile={}", built().join(ARCHIVE).display()));
    if matches!(task.work, Work::Sleepers { .. }) {
        // Otherwise eighty optimising compilers on few cores would be measured, not the queue.
        command.arg("-XX:TieredStopAtLevel=1");
    }
    command.arg("compare.Peer").arg(&task.room);
    let numbers = [
        role,
        task.work.roles(),
        Floor::WORDS,
        place::cpu_of(role, &task.cpus),
        task.payload,
        task.generation as usize,
    ];
    command.args(numbers.map(|number| number.to_string()));
    command.args([work, &first.to_string(), &second.to_string()]);
    Err(system("start java")(command.exec()))
}

/// The JVM's command, up to its class path; its temporary files are removed with the room.
fn java(room: &Path) -> Result<Command, CompareError> {
    let jars =
        std::fs::read_dir(built().join("lib")).map_err(system("list the libraries of the Java peer"))?;
    let mut jars: Vec<PathBuf> = jars.flatten().map(|jar| jar.path()).collect();
    // The archive of classes is valid only for the same class path.
    jars.sort();
    jars.insert(0, built().join("peer.jar"));
    let jars: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
    let room = room.display();
    let mut command = Command::new("java");
    command.args(MODULES).args(MACHINE);
    command.arg(format!("-Djava.io.tmpdir={room}")).arg(format!("-Djna.tmpdir={room}"));
    command.args(["-cp", &jars.join(":")]);
    Ok(command)
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("chronicle")
}

/// Where Maven puts the peer and its dependencies.
fn built() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/chronicle")
}

/// Builds the peer if it is missing or older than its source.
///
/// # Errors
/// Why it cannot be run here, as text.
pub(super) fn prepare() -> Result<(), String> {
    works("java").map_err(|why| format!("{why}: it needs a JDK, 17 or later"))?;
    let stamp = built().join("complete");
    if changed(&stamp).is_some_and(|made| newest(&sources()).is_some_and(|source| made > source)) {
        return Ok(());
    }
    works("mvn").map_err(|why| format!("{why}: its peer is built with Maven, from Maven Central"))?;
    eprintln!("building the peer of {NAME} with Maven (once; fetches some 10 MB when it has none of it)");
    let pom = sources().join("pom.xml");
    let mut command = Command::new("mvn");
    command.args(["-q", "-B", "-Dstyle.color=never", "-f"]).arg(pom).arg("package");
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => break,
            Some(status) => return Err(format!("`mvn -f chronicle/pom.xml package` ended with {status}")),
            None if begin.elapsed() > BUILD => {
                // A process that has just ended cannot be killed.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("Maven did not finish within {} s", BUILD.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    archive_classes().map_err(|error| error.to_string())?;
    std::fs::write(&stamp, "").map_err(|error| format!("{} cannot be written: {error}", stamp.display()))
}

/// Runs the peer once to archive its classes, which halves the start time.
fn archive_classes() -> Result<(), CompareError> {
    let room = tempfile::tempdir_in("/dev/shm").map_err(system("make a folder in /dev/shm"))?;
    let _board = Board::create(room.path(), 1)?;
    let mut command = java(room.path())?;
    command.arg(format!("-XX:ArchiveClassesAtExit={}", built().join(ARCHIVE).display()));
    command.arg("compare.Peer").arg(room.path());
    let cpu = nix::sched::sched_getcpu().map_err(system("ask for the CPU"))?;
    command.args(["0", "1", &Floor::WORDS.to_string(), &cpu.to_string(), "32", "0", "classes", "0", "0"]);
    let output = command.stdin(Stdio::null()).output().map_err(system("start java"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next_back().unwrap_or("(silence)");
    Err(CompareError::Peer(format!("the Java peer ended with {}: {said}", output.status)))
}

fn works(program: &str) -> Result<(), String> {
    let output = Command::new(program).arg("-version").stdin(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`{program} -version` ended with {}", output.status)),
        Err(error) => Err(format!("`{program}` cannot be started ({error})")),
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// Time of the last change of a file below `path`.
fn newest(path: &Path) -> Option<SystemTime> {
    let below = std::fs::read_dir(path).ok()?.flatten().filter_map(|entry| {
        let path = entry.path();
        if path.is_dir() { newest(&path) } else { changed(&path) }
    });
    below.max()
}
