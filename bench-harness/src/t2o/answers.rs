//! Finds which quotes of a measured stretch were answered, and which were not.
//!
//! The stretch contains the quotes that were *due* in it, not those that were published or answered in it: a component
//! that stalls at the end cannot reduce their number. For each of them one answer is expected from each strategy that
//! reads its instrument. An answer that has not arrived when the run ends is open: it counts with the time waited so
//! far, which is less than it would have been.
//!
//! ```text
//!            from                                       until         closed
//!   ──┬───┬───┼──┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┼───┬───┬──────┼──
//!     due     │  due                                     │              │
//!             │  ├──── answered ────► taken              │              │
//!             │      ├──── unanswered: published, no sample ───────────►│
//!             │          ├──── unpublished: md itself is behind ───────►│
//! ```

use super::quotes::{Listeners, Quoted};
use super::stamps::Stamps;

/// The measured stretch, on the platform's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    /// Quotes due from here on …
    pub(crate) from: u64,
    /// … to before here.
    pub(crate) until: u64,
    /// End of the wait for answers.
    pub(crate) closed: u64,
    /// Time between two quotes of the schedule, of any instrument.
    pub(crate) turn: f64,
}

/// The answers of a stretch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answers {
    /// The answers that arrived, and the open ones: see [`Stamps::is_open`].
    pub(crate) records: Vec<Stamps>,
    /// Expected answers: those that arrived and the open ones.
    pub(crate) expected: u64,
    /// Open: the quote was published, but no sample arrived.
    pub(crate) unanswered: u64,
    /// Open: md did not publish the quote.
    pub(crate) unpublished: u64,
    /// Answers that had not arrived at the stretch's end, including those that arrived later.
    pub(crate) outstanding: u64,
    /// Quotes that md published between the stretch's begin and end.
    pub(crate) published: u64,
}

impl Answers {
    /// Combines what md published and what td sampled, both over the whole run.
    pub(crate) fn of(
        stretch: Stretch,
        listeners: &Listeners,
        quotes: &[Quoted],
        samples: &[Stamps],
    ) -> Answers {
        let within = |time: &u64| (stretch.from..stretch.until).contains(time);
        let mut samples: Vec<Stamps> = samples.to_vec();
        samples.sort_by_key(|sample| (sample.due, sample.published));
        let mut quotes: Vec<(Quoted, u64)> =
            quotes.iter().map(|quote| (*quote, listeners.hear(quote.instrument))).collect();
        // A quote that was overwritten before it was read here, but was answered.
        let known: Vec<(u64, u64)> = sorted(quotes.iter().map(|(quote, _)| (quote.due, quote.published)));
        let missed =
            samples.iter().filter(|sample| sample.due > 0).map(|sample| (sample.due, sample.published));
        let missed = sorted(missed.filter(|key| known.binary_search(key).is_err()));
        let some = (listeners.average().round() as u64).max(1);
        quotes.extend(
            missed.into_iter().map(|(due, published)| (Quoted { due, published, instrument: 0 }, some)),
        );
        quotes.sort_unstable();

        let mut answers = Answers {
            published: quotes.iter().filter(|(quote, _)| within(&quote.published)).count() as u64,
            ..Answers::default()
        };
        for (quote, hear) in quotes.iter().filter(|(quote, _)| within(&quote.due)) {
            let key = (quote.due, quote.published);
            let first = samples.partition_point(|sample| (sample.due, sample.published) < key);
            let came = samples[first..].iter().take_while(|sample| (sample.due, sample.published) == key);
            let mut count = 0;
            for sample in came {
                count += 1;
                answers.outstanding += u64::from(sample.taken >= stretch.until);
                answers.records.push(*sample);
            }
            let open = hear.saturating_sub(count);
            answers.expected += open + count;
            answers.unanswered += open;
            answers.outstanding += open;
            let open = (0..open).map(|_| Stamps::open(quote.due, quote.published, stretch.closed));
            answers.records.extend(open);
        }
        // Samples without a schedule belong to no quote: their times contradict each other, which is counted.
        let stray = |sample: &&Stamps| sample.due == 0 && within(&sample.published);
        answers.records.extend(samples.iter().filter(stray));
        answers.add_unpublished(stretch, listeners, &quotes);
        answers
    }

    /// The schedule is even: if two neighbours are further apart than one turn, md has left out some quotes.
    fn add_unpublished(&mut self, stretch: Stretch, listeners: &Listeners, quotes: &[(Quoted, u64)]) {
        let mut dues: Vec<u64> = quotes.iter().map(|(quote, _)| quote.due).filter(|due| *due > 0).collect();
        dues.dedup();
        let mut holes = Vec::new();
        let mut hole = |after: u64, before: Option<u64>| {
            let at = |step: u64| after + (step as f64 * stretch.turn) as u64;
            let end = before.map_or(u64::MAX, |before| {
                (((before - after) as f64 / stretch.turn).round() as u64).saturating_sub(1)
            });
            let first = (stretch.from.saturating_sub(after) as f64 / stretch.turn).ceil().max(1.0) as u64;
            holes.extend((first..=end).map(at).take_while(|due| *due < stretch.until));
        };
        for pair in dues.windows(2) {
            if pair[1] >= stretch.from && pair[0] < stretch.until {
                hole(pair[0], Some(pair[1]));
            }
        }
        match dues.last() {
            Some(last) if *last < stretch.until => hole(*last, None),
            // Nothing was published at all: the schedule's phase is unknown, but its rate is known.
            None => hole(stretch.from, None),
            Some(_) => {}
        }
        let answers = (holes.len() as f64 * listeners.average()).round() as u64;
        self.unpublished = answers;
        self.expected += answers;
        self.outstanding += answers;
        let each = holes.iter().cycle().take(if holes.is_empty() { 0 } else { answers as usize });
        self.records.extend(each.map(|due| Stamps::open(*due, 0, stretch.closed)));
    }

    /// Expected answers that did not arrive.
    pub(crate) fn lost(&self) -> u64 {
        self.unanswered + self.unpublished
    }
}

fn sorted(keys: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut keys: Vec<(u64, u64)> = keys.collect();
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests;
