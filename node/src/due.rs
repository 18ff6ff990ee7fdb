//! Which inputs a round looks at.

use std::sync::Arc;

use journal::Doorbell;

use crate::node::Node;

/// From so many inputs on a node has a doorbell. Below, looking at every journal's line is as fast, and a message then
/// moves one line to its reader instead of two.
pub const BELL_FROM: usize = 16;

/// The inputs that may have news: all of them, or with a doorbell those that were rung for.
#[derive(Debug)]
pub(crate) struct Due {
    /// One bit an input.
    bits: Vec<u64>,
    inputs: usize,
    bell: Option<Bell>,
}

#[derive(Debug)]
struct Bell {
    doorbell: Doorbell,
    /// Input by bit of the bell.
    input: Vec<Option<usize>>,
}

impl Due {
    /// All inputs of a node; with its doorbell, if it has one.
    pub(crate) fn of(node: &Node) -> Due {
        let inputs = node.inputs.len();
        let bell = node.rings.then(|| Bell::install(node)).flatten();
        let mut due = Due { bits: vec![0; inputs.div_ceil(64)], inputs, bell };
        due.everything();
        due
    }

    pub(crate) fn has_bell(&self) -> bool {
        self.bell.is_some()
    }

    /// Every input is due.
    pub(crate) fn everything(&mut self) {
        (0..self.inputs).for_each(|index| self.look_at(index));
    }

    /// This input is due.
    pub(crate) fn look_at(&mut self, index: usize) {
        self.bits[index / 64] |= 1 << (index % 64);
    }

    /// This input has nothing more for now; the bell will say when it has.
    #[inline]
    pub(crate) fn is_empty_now(&mut self, index: usize) {
        if self.bell.is_some() {
            self.bits[index / 64] &= !(1 << (index % 64));
        }
    }

    /// Adds those that were rung for.
    #[inline]
    pub(crate) fn answer(&mut self) {
        if let Some(Bell { doorbell, input }) = &mut self.bell {
            let bits = &mut self.bits;
            doorbell.answer(|bit| {
                if let Some(index) = input.get(bit as usize).copied().flatten() {
                    bits[index / 64] |= 1 << (index % 64);
                }
            });
        }
    }

    /// The first input at or behind `from` that is due.
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
        let mut input = vec![None; Doorbell::BITS as usize];
        for (index, read) in node.inputs.iter().enumerate() {
            let place = &mut input[Doorbell::bit(read.journal_id()) as usize];
            if place.replace(index).is_some() {
                // Two of them share a bit. No instance has so many journals.
                return None;
            }
        }
        let journals = node.inputs.iter().map(crate::input::Input::journal_id);
        let doorbell = Doorbell::install(Arc::clone(&node.registry), node.assignment.seat, journals)?;
        // Before the bell is trusted for the first time; every input is due until then.
        journal::announce();
        Some(Bell { doorbell, input })
    }
}

#[cfg(test)]
mod tests {
    use super::Due;

    #[test]
    fn inputs_are_due_in_their_order() {
        let mut due = Due { bits: vec![0; 3], inputs: 130, bell: None };
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
