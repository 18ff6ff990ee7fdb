//! The name of a file is data too: it is on disk only when its folder was synced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use node::Counter;

use crate::clock::preload;
use crate::platform::{Platform, RECORDER};

/// Notes each name that a program makes, and each sync, in a file: one line, in one write.
const NOTED: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int (*real_open)(const char *, int, ...);

static void note(const char *what, const char *path) {
    const char *file = getenv("COLO_TEST_NAMES");
    if (!file || path[0] != '/') return;
    char line[PATH_MAX + 16];
    int length = snprintf(line, sizeof line, "%s %s\n", what, path);
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open64");
    int fd = real_open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd >= 0) { if (write(fd, line, length)) {} close(fd); }
}

int mkdir(const char *path, mode_t mode) {
    int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
    int code = real(path, mode);
    if (code == 0) note("name", path);
    return code;
}

int mkdirat(int folder, const char *name, mode_t mode) {
    int (*real)(int, const char *, mode_t) = dlsym(RTLD_NEXT, "mkdirat");
    char link[64], path[2 * PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    int code = real(folder, name, mode);
    if (code == 0 && length > 0) {
        snprintf(path + length, PATH_MAX, "/%s", name);
        note("name", path);
    }
    return code;
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    int code = real(from, to);
    if (code == 0) note("name", to);
    return code;
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    int code = real(fd);
    if (code == 0 && length > 0) { path[length] = 0; note("sync", path); }
    return code;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (!real_open) real_open = dlsym(RTLD_NEXT, "open64");
    int is_new = (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = real_open(path, flags, mode);
    if (fd >= 0 && is_new) note("name", path);
    return fd;
}
"#;

/// The names below `folder` that were made, and those of them that no sync of their folder followed.
fn unsynced(noted: &Path, folder: &Path) -> (BTreeSet<PathBuf>, BTreeSet<PathBuf>) {
    let text = std::fs::read_to_string(noted).expect("what was noted");
    let (mut made, mut open) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("name", path)) if Path::new(path).starts_with(folder) => {
                made.insert(PathBuf::from(path));
                open.insert(PathBuf::from(path));
            }
            Some(("sync", synced)) => open.retain(|path| path.parent() != Some(Path::new(synced))),
            _ => {}
        }
    }
    // Locks say nothing, and what is unfinished is removed at the next start.
    let counts = |path: &PathBuf| {
        let is = |name: &str| path.extension().is_some_and(|extension| extension == name);
        !is("lock") && !is("tmp") && !is("new") && !path.ends_with("lock")
    };
    (made.into_iter().filter(counts).collect(), open.into_iter().filter(counts).collect())
}

#[test]
fn the_names_of_a_recording_are_on_disk_too() {
    let mut platform = Platform::with("", &[("path = \"recordings\"", "path = \"new/deep/recordings\"")]);
    let Some(noted) = preload(&mut platform, "names", NOTED, "COLO_TEST_NAMES", "") else { return };
    platform.await_up(platform.start_up());
    platform.wait_for("segments", || platform.counter(RECORDER, Counter::BytesRecorded) > 5 << 20);
    platform.down();
    let (made, open) = unsynced(&noted, &platform.beside("new"));
    let segments = made.iter().filter(|path| path.extension().is_some_and(|end| end == "seg")).count();
    assert!(segments > 2 && made.len() > segments + 4, "{made:?}");
    assert!(
        made.contains(&platform.beside("new")) && made.contains(&platform.beside("new/deep")),
        "{made:?}"
    );
    assert!(open.is_empty(), "no sync of their folder follows these names: {open:?}");
}

#[test]
fn a_token_that_is_revoked_stays_revoked_when_the_power_goes() {
    let mut platform = Platform::new("");
    let Some(noted) = preload(&mut platform, "names", NOTED, "COLO_TEST_NAMES", "") else { return };
    let file = platform.beside("tokens.json").display().to_string();
    let token = |arguments: &[&str]| {
        let (code, said) = platform.run(&[&["token"], arguments, &["--file", &file]].concat());
        assert_eq!(code, Some(0), "{said}");
    };
    token(&["create", "desk", "--role", "viewer"]);
    token(&["revoke", "desk"]);
    let (made, open) = unsynced(&noted, &platform.beside(""));
    assert!(made.contains(Path::new(&file)), "{made:?}");
    assert!(!open.contains(Path::new(&file)), "no sync of its folder follows: {open:?}");
}
