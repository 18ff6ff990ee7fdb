//! Models of declared interest: SYNC: interest.

use std::sync::Arc;

use super::stage::explore;
use super::support::{GATED, LONG, journal, registry, write, writer};
use super::sync::{hear_announcements, kill_after, spawn};
use crate::wait::{Parker, announce, wake};

/// Another thread extends the interest of a sleeping seat, announces it, and wakes the sleeper so that it looks again.
/// Either the writer sees the new interest, or the sleeper sees the frame.
#[test]
fn interest_may_change_while_its_node_sleeps() {
    explore("interest while parked", 2, || {
        let (journal, registry) = (journal(1, 4), registry());
        let mut reader = journal.loose(GATED).unwrap();
        let writing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(1, move || {
                hear_announcements();
                let mut writer = writer(&journal);
                writer.wake_through(registry);
                write(&mut writer, 1, 0).unwrap();
                // Leaving wakes every seat, which this model does not test.
                kill_after(Some(0));
            })
        };
        let changing = {
            let (journal, registry) = (Arc::clone(&journal), Arc::clone(&registry));
            spawn(2, move || {
                journal.set_interest(GATED, Some(&[1])).unwrap();
                announce();
                registry.set_phase(1);
                wake(&registry, GATED);
            })
        };
        let parker = Parker::new(Arc::clone(&registry), GATED).unwrap();
        let mut changed = false;
        let mut frames = 0;
        while frames == 0 || !changed {
            changed |= registry.phase() == 1;
            while reader.read().unwrap().is_some() {
                frames += 1;
            }
            if frames == 0 || !changed {
                let known = changed;
                parker.park(LONG, || reader.has_news() || !known && registry.phase() == 1);
            }
        }
        assert_eq!(frames, 1);
        writing.join().unwrap();
        changing.join().unwrap();
    });
}
