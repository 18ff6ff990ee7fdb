//! Words for people.

/// Says a line on standard error. Nobody may be there to hear it (`colo … 2>&1 | head -1`), and that is no reason to stop
/// half way: `eprintln!` would panic.
macro_rules! talk {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}
