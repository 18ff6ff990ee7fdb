//! Which combinations a random search tries: the same on every host and in every version.

use std::collections::BTreeSet;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// `count` different numbers below `all`, in ascending order, by Floyd's algorithm: the grid is never laid out.
pub(crate) fn draw(all: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = BTreeSet::new();
    for last in all.saturating_sub(count)..all {
        let number = below(&mut generator, last + 1);
        if !drawn.insert(number) {
            drawn.insert(last);
        }
    }
    drawn.into_iter().collect()
}

/// A number below `end`, each as likely.
fn below(generator: &mut ChaCha8Rng, end: u64) -> u64 {
    // What lies behind the last whole multiple would favour small numbers.
    let whole = u64::MAX - u64::MAX % end;
    loop {
        let number = generator.next_u64();
        if number < whole {
            return number % end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_repeats_and_has_no_number_twice() {
        let one = draw(1_000_000_000_000, 50, 7);
        assert_eq!(one, draw(1_000_000_000_000, 50, 7));
        assert_ne!(one, draw(1_000_000_000_000, 50, 8));
        assert_eq!(one.len(), 50);
        assert!(one.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(draw(5, 5, 1), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn each_number_is_drawn_about_as_often() {
        let mut counts = [0_u32; 10];
        for seed in 0..5_000 {
            draw(10, 3, seed).into_iter().for_each(|number| counts[number as usize] += 1);
        }
        // 1,500 expected, with a standard deviation of 32.
        assert!(counts.iter().all(|count| (1_300..1_700).contains(count)), "{counts:?}");
    }
}
