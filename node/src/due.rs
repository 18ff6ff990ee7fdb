//! The inputs that a round looks at.

use std::sync::Arc;

use journal::wait::Doorbell;

use crate::node::Node;

/// The inputs that may have news: all of them, or with a doorbell those that were rung for. A node that somebody else turns marks
/// those with frames itself before each round, because nothing is written meanwhile.
#[derive(Debug)]
pub(crate) struct Due {
    /// One bit an input.
    bits: Vec<u64>,
    inputs: usize,
    is_stepped: bool,
    bell: Option<Bell>,
}

#[derive(Debug)]
struct Bell {
    doorbell: Doorbell,
    /// First input by bit of the bell. Journals share bits when there are more of them than bits.
    input: Vec<Option<usize>>,
    /// By input: the next input of the same bit.
    next: Vec<Option<usize>>,
}

impl Due {
    /// All inputs of a node; with its doorbell, if it has one.
    pub(crate) fn of(node: &Node) -> Due {
        let inputs = node.inputs.len();
        let is_stepped = node.is_stepped();
        let bell = (node.rings && !is_stepped).then(|| Bell::install(node)).flatten();
        let mut due = Due { bits: vec![0; inputs.div_ceil(64)], inputs, is_stepped, bell };
        due.everything();
        due
    }

    pub(crate) fn has_bell(&self) -> bool {
        self.bell.is_some()
    }

    /// Nothing is written while the node has its turn.
    #[inline]
    pub(crate) fn is_stepped(&self) -> bool {
        self.is_stepped
    }

    /// Whether this input is marked.
    #[inline]
    pub(crate) fn is_marked(&self, index: usize) -> bool {
        self.bits[index / 64] & (1 << (index % 64)) != 0
    }

    /// Marks every input.
    pub(crate) fn everything(&mut self) {
        (0..self.inputs).for_each(|index| self.look_at(index));
    }

    /// Marks this input.
    pub(crate) fn look_at(&mut self, index: usize) {
        self.bits[index / 64] |= 1 << (index % 64);
    }

    /// Unmarks this input, which has nothing more for now; the bell, or who turns the node, marks it again.
    #[inline]
    pub(crate) fn is_empty_now(&mut self, index: usize) {
        if self.is_stepped || self.bell.is_some() {
            self.bits[index / 64] &= !(1 << (index % 64));
        }
    }

    /// Marks the inputs that rang.
    #[inline]
    pub(crate) fn answer(&mut self) {
        if let Some(Bell { doorbell, input, next }) = &mut self.bell {
            let bits = &mut self.bits;
            doorbell.poll(|bit| {
                let mut rung = input.get(bit as usize).copied().flatten();
                while let Some(index) = rung {
                    bits[index / 64] |= 1 << (index % 64);
                    rung = next[index];
                }
            });
        }
    }

    /// The first marked input at or behind `from`.
    #[inline]
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        let first = from / 64;
        let mut skipped = !0 << (from % 64);
        for (index, bits) in self.bits.iter().enumerate().skip(first) {
            let bits = bits & std::mem::replace(&mut skipped, !0);
            if bits != 0 {
                return Some(index * 64 + bits.trailing_zeros() as usize);
            }
        }
        None
    }
}

impl Bell {
    fn install(node: &Node) -> Option<Bell> {
        let (input, next) = by_bit(node.inputs.iter().map(crate::input::Input::journal_id));
        let journals = node.inputs.iter().map(crate::input::Input::journal_id);
        let doorbell = Doorbell::install(Arc::clone(&node.registry), node.assignment.seat, journals)?;
        // Before the bell is relied on for the first time; every input is marked until then.
        journal::wait::announce(&node.registry);
        Some(Bell { doorbell, input, next })
    }
}

/// The first input of each bit, and for each input the next one of its bit.
fn by_bit(journals: impl Iterator<Item = u32>) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let mut first = vec![None; Doorbell::BITS as usize];
    let mut next = Vec::new();
    for (index, journal) in journals.enumerate() {
        next.push(first[Doorbell::bit(journal) as usize].replace(index));
    }
    (first, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journals_that_share_a_bit_of_the_bell_are_looked_at_together() {
        let (first, next) = by_bit([7, 8, 7 + Doorbell::BITS, 7 + 2 * Doorbell::BITS].into_iter());
        let rung = |bit: usize| std::iter::successors(first[bit], |index| next[*index]).collect::<Vec<_>>();
        assert_eq!((rung(7), rung(8), rung(9)), (vec![3, 2, 0], vec![1], vec![]));
    }

    #[test]
    fn inputs_are_due_in_their_order() {
        let mut due = Due { bits: vec![0; 3], inputs: 130, is_stepped: false, bell: None };
        assert_eq!(due.next(0), None);
        for index in [0, 63, 64, 129] {
            due.look_at(index);
        }
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(index) = due.next(from) {
            found.push(index);
            from = index + 1;
        }
        assert_eq!(found, [0, 63, 64, 129]);
        due.everything();
        assert_eq!((0..=130).filter(|&from| due.next(from) == Some(from)).count(), 130);
    }
}
