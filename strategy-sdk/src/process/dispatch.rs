//! From a topic to the strategies that want it.

use std::ops::Range;

/// Who hears which topic, as a table: one look-up a message, however many strategies there are.
///
/// ```text
///   topic        0    1    2    …  last     beyond
///   starts     [ 0,   2,   3,   …  ,         n    , m ]
///   members    [ 0 7 │ 3  │ 7  │ …  │  7 │   7    ]
/// ```
///
/// Who wants all topics stands in every row, and alone in the row for topics beyond the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// One more than there are rows; the last row is that of all topics beyond.
    starts: Vec<u32>,
    members: Vec<u16>,
}

impl Dispatch {
    /// `wishes`: each member with its topics; `None`: all of them. Rows keep the order of the wishes.
    pub(super) fn new<'a>(wishes: impl Iterator<Item = (u16, Option<&'a [u32]>)> + Clone) -> Dispatch {
        let listed = wishes.clone().filter_map(|(_, topics)| topics).flatten();
        let rows = listed.max().map_or(0, |last| *last as usize + 1);
        let mut row_of: Vec<Vec<u16>> = vec![Vec::new(); rows + 1];
        for (member, topics) in wishes {
            match topics {
                None => row_of.iter_mut().for_each(|row| row.push(member)),
                Some(topics) => {
                    for topic in topics {
                        let row = &mut row_of[*topic as usize];
                        if row.last() != Some(&member) {
                            row.push(member);
                        }
                    }
                }
            }
        }
        let mut dispatch = Dispatch { starts: vec![0], members: Vec::new() };
        for row in row_of {
            dispatch.members.extend(row);
            dispatch.starts.push(dispatch.members.len() as u32);
        }
        dispatch
    }

    /// Where in the table those who hear `topic` stand, for [`Dispatch::member`].
    #[inline]
    pub(super) fn row(&self, topic: u32) -> Range<usize> {
        let row = (topic as usize).min(self.starts.len() - 2);
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// One of them.
    #[inline]
    pub(super) fn member(&self, place: usize) -> usize {
        usize::from(self.members[place])
    }

    /// Every topic that somebody hears, ascending; `None`: all of them.
    pub(super) fn topics(&self) -> Option<Vec<u32>> {
        let beyond = self.starts.len() as u32 - 2;
        if !self.row(beyond).is_empty() {
            return None;
        }
        Some((0..beyond).filter(|topic| !self.row(*topic).is_empty()).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(wishes: &[(u16, Option<Vec<u32>>)]) -> Dispatch {
        Dispatch::new(wishes.iter().map(|(member, topics)| (*member, topics.as_deref())))
    }

    fn heard(dispatch: &Dispatch, topic: u32) -> Vec<usize> {
        dispatch.row(topic).map(|place| dispatch.member(place)).collect()
    }

    #[test]
    fn a_topic_reaches_those_who_want_it_and_nobody_else() {
        let dispatch = table(&[(0, Some(vec![1, 3])), (1, Some(vec![3])), (2, Some(vec![]))]);
        assert_eq!(heard(&dispatch, 0), Vec::<usize>::new());
        assert_eq!(heard(&dispatch, 1), [0]);
        assert_eq!(heard(&dispatch, 3), [0, 1]);
        assert_eq!(heard(&dispatch, 4), Vec::<usize>::new());
        assert_eq!(heard(&dispatch, u32::MAX), Vec::<usize>::new());
        assert_eq!(dispatch.topics(), Some(vec![1, 3]));
    }

    #[test]
    fn who_wants_all_hears_topics_that_nobody_named() {
        let dispatch = table(&[(4, Some(vec![2])), (9, None)]);
        assert_eq!(heard(&dispatch, 2), [4, 9]);
        assert_eq!(heard(&dispatch, 0), [9]);
        assert_eq!(heard(&dispatch, 4_000), [9]);
        assert_eq!(dispatch.topics(), None);
    }

    #[test]
    fn nobody_there_nobody_hears() {
        let dispatch = table(&[]);
        assert_eq!(heard(&dispatch, 0), Vec::<usize>::new());
        assert_eq!(dispatch.topics(), Some(vec![]));
    }

    proptest! {
        #[test]
        fn the_table_says_what_a_scan_over_all_wishes_says(
            wishes in prop::collection::vec(prop::option::of(prop::collection::vec(0_u32..40, 0..6)), 0..90),
            topic in 0_u32..50,
        ) {
            let wishes: Vec<_> =
                wishes.into_iter().enumerate().map(|(index, topics)| (index as u16, topics)).collect();
            let wants = |topics: &Option<Vec<u32>>| topics.as_ref().is_none_or(|topics| topics.contains(&topic));
            let scanned: Vec<usize> =
                wishes.iter().filter(|(_, topics)| wants(topics)).map(|(index, _)| usize::from(*index)).collect();
            let dispatch = table(&wishes);
            prop_assert_eq!(heard(&dispatch, topic), scanned.clone());
            let open = dispatch.topics().is_none_or(|topics| topics.contains(&topic));
            prop_assert!(open || scanned.is_empty(), "somebody wants a topic that is not asked for");
        }
    }
}
