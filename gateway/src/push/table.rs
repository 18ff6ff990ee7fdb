//! Clients by number: found in one step, in the order of their places, and never taken for one that had the place before.

use super::client::Client;

/// Bits of a number that say the place; the others count who has had it.
const PLACE: u32 = 32;

/// All of a thread's.
#[derive(Default)]
pub(super) struct Table {
    places: Vec<Option<(u64, Client)>>,
    free: Vec<usize>,
    next: u64,
    count: usize,
}

impl Table {
    /// The client's number.
    pub(super) fn insert(&mut self, client: Client) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.next = (self.next + 1) & (u64::MAX >> (PLACE + 1));
        let number = self.next << PLACE | place as u64;
        self.places[place] = Some((number, client));
        self.count += 1;
        number
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Client> {
        match self.places.get_mut(place(number))? {
            Some((known, client)) if *known == number => Some(client),
            _ => None,
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Client> {
        let place = place(number);
        let slot = self.places.get_mut(place)?;
        if slot.as_ref().is_none_or(|(known, _)| *known != number) {
            return None;
        }
        self.free.push(place);
        self.count -= 1;
        slot.take().map(|(_, client)| client)
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Places, whether somebody has them or not.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Client> {
        self.places.iter().flatten().map(|(_, client)| client)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = (u64, &mut Client)> {
        self.places.iter_mut().flatten().map(|(number, client)| (*number, client))
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.places.iter().flatten().map(|(number, _)| *number)
    }

    /// Those of some places, from this one on; and where the next ones begin.
    pub(super) fn some_mut(
        &mut self,
        from: usize,
        count: usize,
    ) -> (impl Iterator<Item = (u64, &mut Client)>, usize) {
        let from = if from < self.places.len() { from } else { 0 };
        let end = from.saturating_add(count).min(self.places.len());
        let some = self.places[from..end].iter_mut().flatten();
        (some.map(|(number, client)| (*number, client)), end)
    }
}

fn place(number: u64) -> usize {
    (number & u64::from(u32::MAX)) as usize
}
