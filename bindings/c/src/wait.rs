//! Sleeping until a journal has news.

use std::sync::Arc;
use std::time::Duration;

use ::journal::wait::{Parker, Wakeup, announce};

use crate::colo_code::COLO_E_NO_SUCH_SEAT;
use crate::fault::{at, bytes, guarded};
use crate::journal::colo_registry;
use crate::reader::colo_reader;

/// There was news, and no sleep.
pub const COLO_PARK_NEWS: i32 = 0;
/// Somebody ended the sleep: look at the journals.
pub const COLO_PARK_WOKEN: i32 = 1;
/// The time was up.
pub const COLO_PARK_TIMEOUT: i32 = 2;

/// Makes what `colo_journal_interest` said known to all writers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_announce(registry: *mut colo_registry) -> i32 {
    guarded(|| {
        let registry = &at!(registry).registry;
        registry.check_process()?;
        announce(registry);
        Ok(0)
    })
}

/// Sleeps on the seat's word until a writer wakes it or `timeout_ns` is over, unless one of the readers has news already:
/// `COLO_PARK_NEWS`, `COLO_PARK_WOKEN` or `COLO_PARK_TIMEOUT`. Their cursors are released first. A platform's own nodes sleep no longer
/// than 400 ms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn colo_park(
    registry: *mut colo_registry,
    seat: u32,
    readers: *const *mut colo_reader,
    count: usize,
    timeout_ns: u64,
) -> i32 {
    guarded(|| {
        let registry = &at!(registry).registry;
        registry.check_process()?;
        let size = size_of::<*mut colo_reader>();
        let handles = bytes!(readers, count.saturating_mul(size)).len() / size;
        let reader = |index: usize| {
            // SAFETY: that many pointers can be read there, as `bytes` was told.
            unsafe { readers.add(index).read() }
        };
        for index in 0..handles {
            at!(reader(index)).reader.publish();
        }
        let parker = Parker::new(Arc::clone(registry), seat).ok_or(COLO_E_NO_SUCH_SEAT)?;
        let has_news = || {
            (0..handles).any(|index| {
                // SAFETY: not null, or it would not have been published above.
                unsafe { reader(index).as_ref() }.is_some_and(|reader| reader.reader.has_news())
            })
        };
        Ok(match parker.park(Duration::from_nanos(timeout_ns), has_news) {
            None => COLO_PARK_NEWS,
            Some(Wakeup::Woken) => COLO_PARK_WOKEN,
            Some(Wakeup::TimedOut) => COLO_PARK_TIMEOUT,
        })
    })
}
