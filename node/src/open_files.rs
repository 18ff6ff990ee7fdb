//! Raises the limit of open files: each journal that a process reads or writes is one, and a lock on it another.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit as far as the system allows. Logins give 1,024 by default, which is less than td and master need
/// for a thousand strategies; the hard limit is far higher.
pub fn raise_open_files() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| match soft < hard {
        true => setrlimit(Resource::RLIMIT_NOFILE, hard, hard),
        false => Ok(()),
    });
    if let Err(error) = raised {
        log::debug!("the limit of open files stays as it is: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_the_system_allows_is_taken() {
        raise_open_files();
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("limits");
        assert_eq!(soft, hard);
    }
}
