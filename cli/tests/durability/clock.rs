//! A host whose clock is wrong after a power cut.

use std::path::{Path, PathBuf};
use std::process::Command;

use node::Counter;
use recorder::read::Recording;

use crate::platform::{Platform, RECORDER};

/// Moves the clock that a program sees by so many seconds as a file says. Nothing of the host is changed.
const MOVED: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, time);
    const char *path = getenv("COLO_TEST_CLOCK");
    FILE *file = id == CLOCK_REALTIME && path ? fopen(path, "re") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
        fclose(file);
    }
    return code;
}
"#;

/// Programs of the platform are started with this library in between, which finds a file in `variable`: that is returned, and
/// holds `text`. `None` without a C compiler.
pub(crate) fn preload(
    platform: &mut Platform,
    name: &str,
    program: &str,
    variable: &'static str,
    text: &str,
) -> Option<PathBuf> {
    let [source, library, file] = ["c", "so", "txt"].map(|end| platform.beside(&format!("{name}.{end}")));
    std::fs::write(&source, program).expect("room");
    std::fs::write(&file, text).expect("room");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    if !compiler.status().is_ok_and(|status| status.success()) {
        println!("skipped: no C compiler");
        return None;
    }
    platform.set("LD_PRELOAD", library);
    platform.set(variable, file.clone());
    Some(file)
}

fn end_of(run: &Path) -> u64 {
    Recording::open(run).expect("a recording").end().time
}

/// An RTC that is wrong when the power is back.
#[test]
fn a_platform_goes_on_although_the_clock_of_its_host_was_set_back() {
    let mut platform = Platform::new("");
    let Some(clock) = preload(&mut platform, "moved", MOVED, "COLO_TEST_CLOCK", "0") else { return };
    platform.await_up(platform.start_up());
    let fills = || platform.counter("matching", Counter::Fills);
    let before = fills();
    platform.wait_for("trades", || fills() > before + 200);
    platform.kill_everything();
    platform.forget();
    let end = end_of(&platform.runs()[0]);
    std::fs::write(&clock, "-36000").expect("room");
    platform.await_up(platform.start_again());
    let counted = || {
        let counters = [("md", Counter::Quotes), ("td", Counter::Orders), ("matching", Counter::Fills)];
        counters.map(|(node, counter)| platform.counter(node, counter))
    };
    let before = counted();
    platform.wait_for("quotes, orders and fills", || {
        counted().iter().zip(before).all(|(now, before)| *now > before + 200)
    });
    let recorded = platform.counter(RECORDER, Counter::BytesRecorded);
    platform.wait_for("a recording", || platform.counter(RECORDER, Counter::BytesRecorded) > recorded);
    let status = platform.status();
    assert_eq!(status["disks"].as_array().map(Vec::len), Some(0), "{}", status["disks"]);
    assert!(platform.logs().contains("which was set back since"), "{}", platform.logs());
    let (code, report) = platform.ask_for_exit("down");
    assert_eq!(code, Some(0), "{report}");
    let runs = platform.runs();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let (code, said) = platform.run(&["journal", "verify", "--recording", &runs[1].display().to_string()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(end_of(&runs[1]) > end, "times go on behind those of the first run");
}
