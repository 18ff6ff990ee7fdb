//! Answers to seats that share a journal, counted for each seat in its record of the registry.
//!
//! The journal's tally counts all of them; the topic of a frame is the seat that it is for. The difference shows what a
//! killed writer counted in the journal and not for the seat.

use std::collections::VecDeque;
use std::sync::Arc;

use journal::layout::control::CLASSES;
use journal::{Journal, OpenError, Registry, WriterState};

use crate::tally::{Tally, class_of};

/// Counts the frames of each topic, which is the number of a seat.
#[derive(Clone, Debug)]
pub(crate) struct Answers(Arc<Registry>);

impl Answers {
    /// `tally` is the journal's own.
    pub(crate) fn new(
        registry: &Arc<Registry>,
        journal: &Journal,
        tally: &Tally,
        seats: &[u32],
    ) -> Result<Answers, OpenError> {
        let answers = Answers(Arc::clone(registry));
        for (seat, class) in uncounted(registry, journal, tally, seats)? {
            answers.count(seat, class);
        }
        Ok(answers)
    }

    #[inline]
    pub(crate) fn count(&self, topic: u32, class: usize) {
        if let Some(seat) = self.0.occupy(topic) {
            seat.count_answer(class);
        }
    }
}

impl Tally {
    /// What each of these seats was answered through a journal that they share. As exact as [`Tally::of`].
    ///
    /// # Errors
    /// [`OpenError`] when the journal's last frames cannot be read.
    pub fn of_seats(registry: &Registry, journal: &Journal, seats: &[u32]) -> Result<Vec<Tally>, OpenError> {
        let of_seat = |seat: &u32| Tally(registry.seat(*seat).map_or([0; CLASSES], |seat| seat.answers()));
        let mut answers: Vec<Tally> = seats.iter().map(of_seat).collect();
        if !matches!(journal.stat().writer, WriterState::Attached(_)) {
            for (seat, class) in uncounted(registry, journal, &Tally::of(journal)?, seats)? {
                let place = seats.iter().position(|known| *known == seat);
                if let Some(tally) = place.and_then(|place| answers.get_mut(place)) {
                    tally.0[class] += 1;
                }
            }
        }
        Ok(answers)
    }
}

/// The frames, by seat and class, that the journal's tally holds and that of no seat does.
fn uncounted(
    registry: &Registry,
    journal: &Journal,
    tally: &Tally,
    seats: &[u32],
) -> Result<Vec<(u32, usize)>, OpenError> {
    let mut missing = tally.0;
    for seat in seats.iter().filter_map(|seat| registry.seat(*seat)) {
        for (missing, counted) in missing.iter_mut().zip(seat.answers()) {
            *missing = missing.saturating_sub(counted);
        }
    }
    if missing == [0; CLASSES] {
        return Ok(Vec::new());
    }
    let mut last: [VecDeque<u32>; CLASSES] = std::array::from_fn(|_| VecDeque::new());
    let mut reader = journal.observe(journal.oldest_frame()?)?;
    while let Ok(Some(frame)) = reader.read() {
        let class = class_of(frame.message_id, frame.payload);
        last[class].push_back(frame.topic);
        if last[class].len() as u64 > missing[class] {
            last[class].pop_front();
        }
    }
    let of_class =
        |(class, topics): (usize, VecDeque<u32>)| topics.into_iter().map(move |seat| (seat, class));
    Ok(last.into_iter().enumerate().flat_map(of_class).collect())
}
