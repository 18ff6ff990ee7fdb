//! C and C++ programs are compiled against the headers, linked with the library, and run.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that cannot go on fails")]

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use journal::{Clock, Journal, JournalFiles, JournalShape, Registry};

#[path = "support/library.rs"]
mod library;

use library::library;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a compiler; false, and the reason, if there is none.
fn compile(compiler: &str, arguments: &[&str], rest: &[PathBuf]) -> bool {
    let mut command = Command::new(compiler);
    command
        .args(arguments)
        .args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(here().join("include"));
    command.arg("-I").arg(here().join("../cpp/include")).args(rest).args(["-lpthread", "-ldl", "-lm"]);
    match command.output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            println!("skipped: no {compiler}: {error}");
            false
        }
    }
}

#[test]
fn a_c_program_writes_reads_and_sleeps_through_the_interface() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let sources = [here().join("tests/program.c"), library(), PathBuf::from("-o"), program.clone()];
    if !compile("cc", &["-std=c11", "-O1"], &sources) {
        return;
    }
    let files = JournalFiles::new(folder.path(), folder.path(), "t");
    let shape =
        JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 16, page: 4096 };
    drop(Journal::create(files, shape.clone(), 1).unwrap());
    let torn = JournalFiles::new(folder.path(), folder.path(), "torn");
    let shape = JournalShape { id: 2, name: "torn".into(), ..shape };
    let mut writer = Journal::create(torn.clone(), shape, 1).unwrap().writer(0, Clock::calibrate()).unwrap();
    for _ in 0..3 {
        writer.write(1, 0, b"text").unwrap();
    }
    drop(writer);
    let intent = (journal::layout::control::INTENT * 8) as u64;
    std::fs::OpenOptions::new()
        .write(true)
        .open(&torn.control)
        .unwrap()
        .write_all_at(&[0; 8], intent)
        .unwrap();
    drop(Registry::create(&folder.path().join("registry"), 64, Clock::calibrate()).unwrap());
    let output = Command::new(&program).arg(folder.path()).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said == "held\n", "{said}{errors}");
}

#[test]
fn the_destructors_of_a_child_of_a_fork_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let sources = [here().join("tests/fork.cpp"), library(), PathBuf::from("-o"), program.clone()];
    if !compile("c++", &["-std=c++17", "-O1"], &sources) {
        return;
    }
    let files = JournalFiles::new(folder.path(), folder.path(), "t");
    let shape =
        JournalShape { id: 1, name: "t".into(), capacity: 1 << 16, seats: 64, topics: 16, page: 4096 };
    drop(Journal::create(files, shape, 1).unwrap());
    let output = Command::new(&program).arg(folder.path()).output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said == "held\n", "{said}{errors}");
}

#[test]
fn the_headers_are_c11_and_cpp17_with_and_without_exceptions() {
    let check = PathBuf::from("-fsyntax-only");
    let cpp = here().join("../cpp/examples/taker.cpp");
    compile("cc", &["-std=c11"], &[here().join("examples/taker.c"), check.clone()]);
    compile("c++", &["-std=c++17"], &[cpp.clone(), check.clone()]);
    compile("c++", &["-std=c++20", "-fno-exceptions", "-fno-rtti"], &[cpp, check]);
}

/// A strategy that nobody started says what is missing, and ends with the code for it.
#[test]
fn a_strategy_without_a_platform_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let programs = [
        ("cc", "-std=c11", here().join("examples/taker.c")),
        ("c++", "-std=c++17", here().join("../cpp/examples/taker.cpp")),
    ];
    for (compiler, standard, source) in programs {
        let program = folder.path().join(compiler);
        if !compile(compiler, &[standard, "-O1"], &[source, library(), PathBuf::from("-o"), program.clone()])
        {
            continue;
        }
        let run = |arguments: &[&str]| {
            let mut command = Command::new(&program);
            command.args(arguments).env_remove("COLO_INSTANCE").env_remove("COLO_NODE");
            command.env("COLO_ROOT", folder.path()).output().unwrap()
        };
        assert_eq!(run(&[]).status.code(), Some(2), "no instance is named");
        assert_eq!(run(&["--help"]).status.code(), Some(0));
        let output = run(&["--instance", "nobody-runs-this", "--node", "strategy-1"]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(69), "{errors}");
        assert!(errors.contains("nobody-runs-this"), "{errors}");
    }
}

/// What `pkg-config` says of an installed library compiles a program.
#[test]
fn the_pkg_config_file_names_what_a_program_needs() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(here().join("colo.pc.in")).unwrap();
    let text = text
        .replace("@PREFIX@", &folder.path().display().to_string())
        .replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    std::fs::write(folder.path().join("colo.pc"), text).unwrap();
    let ask = |what: &str| {
        Command::new("pkg-config").args([what, "colo"]).env("PKG_CONFIG_PATH", folder.path()).output()
    };
    match ask("--cflags") {
        Err(error) => println!("skipped: no pkg-config: {error}"),
        Ok(flags) => {
            assert!(flags.status.success(), "{}", String::from_utf8_lossy(&flags.stderr));
            let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
            assert!(flags.contains(&format!("-I{}/include/colo", folder.path().display())), "{flags}");
            let libraries = String::from_utf8_lossy(&ask("--libs").unwrap().stdout).into_owned();
            assert!(libraries.contains("-lcolo_c"), "{libraries}");
            assert!(
                String::from_utf8_lossy(&ask("--modversion").unwrap().stdout)
                    .starts_with(env!("CARGO_PKG_VERSION"))
            );
        }
    }
}
