//! A good journal, its control page and a registry, damaged by the fuzzer before and while they are used.

#![no_main]

#[path = "../../journal/tests/support/garbage.rs"]
mod garbage;

use std::cell::OnceCell;

use garbage::Template;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

thread_local! {
    static TEMPLATE: OnceCell<(TempDir, Template)> = const { OnceCell::new() };
}

fuzz_target!(|data: &[u8]| {
    TEMPLATE.with(|cell| {
        let (_, template) = cell.get_or_init(|| {
            let directory = tempfile::Builder::new().prefix("colo-fuzz-").tempdir_in("/dev/shm");
            let directory = directory.or_else(|_| tempfile::tempdir()).expect("a temporary directory");
            let template = Template::new(directory.path());
            (directory, template)
        });
        template.exercise(data);
    });
});
