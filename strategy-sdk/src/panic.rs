//! Panics of a strategy's code, caught where the SDK calls it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A panic, displayed by its message.
#[derive(Debug)]
pub(crate) struct Panicked(pub(crate) Box<dyn Any + Send>);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.downcast_ref::<&str>().copied();
        let text = text.or_else(|| self.0.downcast_ref::<String>().map(String::as_str));
        f.write_str(text.unwrap_or("(without a message)"))
    }
}

/// Calls a strategy's code. A strategy that panicked is not called again, so that its state may be half changed harms
/// nothing; what it wrote to its journal is whole.
#[inline]
pub(crate) fn catch<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(call)).map_err(Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_displayed_by_its_message() {
        let message = |code: fn()| catch(code).unwrap_err().to_string();
        assert_eq!(message(|| std::panic::resume_unwind(Box::new("text"))), "text");
        assert_eq!(message(|| std::panic::resume_unwind(Box::new(format!("{}", 1)))), "1");
        assert_eq!(message(|| std::panic::resume_unwind(Box::new(7))), "(without a message)");
    }
}
