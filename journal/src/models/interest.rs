//! Models of declared interest: SYNC: interest.

use std::sync::Arc;

use super::stage::explore;
use super::support::{GATED, LONG, journal, registry, write, writer};
use super::sync::{hear_announcements, kill_after, spawn};
use crate::files::registry::Registry;
use crate::wait::{Parker, announce, wake};

/// Another thread extends the interest of a sleeping seat, announces it, and wakes the sleeper so that it looks again.
/// Either the writer sees the new interest, or the sleeper sees the frame.
#[test]
fn interest_may_change_while_its_node_sleeps() {
    explore("interest while parked", 2, || change_while_parked(&registry(), hear_announcements));
}

/// The same where the kernel has no barrier: no announcement reaches the writer, but the registry asks for fences.
#[test]
fn a_writer_that_fences_needs_no_announcement() {
    explore("interest while parked, fences", 2, || {
        let registry = registry();
        registry.require_fences();
        change_while_parked(&registry, || ());
    });
}

fn change_while_parked(registry: &Arc<Registry>, begin_to_write: fn()) {
    let journal = journal(1, 4);
    let mut reader = journal.loose(GATED).unwrap();
    let writing = {
        let (journal, registry) = (Arc::clone(&journal), Arc::clone(registry));
        spawn(1, move || {
            begin_to_write();
            let mut writer = writer(&journal);
            writer.wake_through(registry);
            write(&mut writer, 1, 0).unwrap();
            // Leaving wakes every seat, which this model does not test.
            kill_after(Some(0));
        })
    };
    let changing = {
        let (journal, registry) = (Arc::clone(&journal), Arc::clone(registry));
        spawn(2, move || {
            journal.set_interest(GATED, Some(&[1])).unwrap();
            announce(&registry);
            registry.set_phase(1);
            wake(&registry, GATED);
        })
    };
    let parker = Parker::new(Arc::clone(registry), GATED).unwrap();
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
}
