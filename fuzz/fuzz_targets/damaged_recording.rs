//! A good recording, damaged by the fuzzer, and read in every way.

#![no_main]

#[path = "../../recorder/tests/support/garbage.rs"]
mod garbage;

use std::cell::OnceCell;
use std::path::Path;

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
            let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recorder/tests/vectors");
            let template = Template::new(&vectors, directory.path());
            (directory, template)
        });
        template.exercise(data);
    });
});
