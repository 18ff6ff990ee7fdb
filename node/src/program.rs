//! How a program of the platform file is started.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Environment variable with the interpreter of programs in Python; `python3` without it.
pub const PYTHON_VARIABLE: &str = "COLO_PYTHON";

/// The command that starts a program: itself, or for a file that ends in `.py` its interpreter.
pub fn command(program: &Path) -> Command {
    if !topology::is_python(program) {
        return Command::new(program);
    }
    let mut command = Command::new(interpreter());
    // Unbuffered: what it prints goes to its log, also when it is killed.
    command.arg("-u").arg(program);
    command
}

fn interpreter() -> OsString {
    env::var_os(PYTHON_VARIABLE).filter(|given| !given.is_empty()).unwrap_or_else(|| "python3".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_python_is_started_by_an_interpreter_and_any_other_by_itself() {
        let words = |path: &str| {
            let command = command(Path::new(path));
            let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
            (command.get_program() == Path::new(path).as_os_str(), words.collect::<Vec<_>>())
        };
        assert_eq!(words("/desk/taker"), (true, vec![]));
        assert_eq!(words("/desk/taker.py"), (false, vec!["-u".to_owned(), "/desk/taker.py".to_owned()]));
    }
}
