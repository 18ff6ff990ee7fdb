//! Files that hold what a test made before: a change of it must be wanted.
//!
//! A test makes a text and calls [`hold`]. `cargo xtask gen` runs every test with `golden_file` in its name with the variable
//! [`WRITES`] set: then the file is written. Nothing else looks at that variable.
#![forbid(unsafe_code)]

use std::path::Path;

/// The variable of the environment that lets files be written.
pub const WRITES: &str = "COLO_GEN";

/// True where files are written, not compared.
pub fn writes() -> bool {
    std::env::var_os(WRITES).is_some()
}

/// Holds that the file has this text.
///
/// # Panics
///
/// Where it has not, with the first line that differs; or where it cannot be written.
#[track_caller]
pub fn hold(path: impl AsRef<Path>, made: &str) {
    if let Err(difference) = compare(path.as_ref(), made) {
        panic!("{difference}");
    }
}

/// The same of the part of a page between two lines.
///
/// # Panics
///
/// As [`hold`]; or where the page has no such lines.
#[track_caller]
pub fn hold_part(path: impl AsRef<Path>, begin: &str, end: &str, made: &str) {
    let path = path.as_ref();
    let page = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let parts = page.split_once(begin).and_then(|(head, rest)| Some((head, rest.split_once(end)?.1)));
    let (head, tail) = parts.unwrap_or_else(|| panic!("{} has no `{begin}` and `{end}`", path.display()));
    hold(path, &format!("{head}{begin}{made}{end}{tail}"));
}

/// The first difference between the file and this text.
///
/// # Errors
///
/// That difference, or why the file cannot be written.
pub fn compare(path: &Path, made: &str) -> Result<(), String> {
    if writes() {
        let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        return folder
            .and_then(|()| std::fs::write(path, made))
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    if kept == made {
        return Ok(());
    }
    let same = kept.lines().zip(made.lines()).take_while(|(kept, made)| kept == made).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
    Err(format!(
        "{}:{} is `{}`, and `{}` was made; after a wanted change: cargo xtask gen",
        path.display(),
        same + 1,
        line(&kept),
        line(made)
    ))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_difference_is_named_with_its_line() {
        let path = std::env::temp_dir().join(format!("golden-{}", std::process::id()));
        std::fs::write(&path, "a\nb\n").expect("written");
        assert_eq!(super::compare(&path, "a\nb\n"), Ok(()));
        let differs = super::compare(&path, "a\nc\n").expect_err("a difference");
        assert!(differs.contains(":2 is `b`, and `c` was made"), "{differs}");
        let longer = super::compare(&path, "a\nb\nc\n").expect_err("a difference");
        assert!(longer.contains(":3 is `(the end)`"), "{longer}");
        std::fs::remove_file(&path).expect("removed");
    }
}
