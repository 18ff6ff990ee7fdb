//! From a topic to the strategies that read it.

use std::ops::Range;

/// The members that read each topic, as a table: one look-up per message, for any number of strategies.
///
/// ```text
///   topic        0    1    2    …  last     beyond
///   starts     [ 0,   2,   3,   …  ,         n    , m ]
///   members    [ 0 7 │ 3  │ 7  │ …  │  7 │   7    ]
/// ```
///
/// Members that read all topics are in every row, and alone in the row for topics beyond the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dispatch {
    /// One more than there are rows; the last row is that of all topics beyond.
    starts: Vec<u32>,
    members: Vec<u16>,
}

impl Dispatch {
    /// `interests`: each member with its topics; `None`: all of them. Rows keep the order of `interests`.
    pub(super) fn new<'a>(interests: impl Iterator<Item = (u16, Option<&'a [u32]>)> + Clone) -> Dispatch {
        let listed = interests.clone().filter_map(|(_, topics)| topics).flatten();
        let rows = listed.max().map_or(0, |last| *last as usize + 1);
        let mut row_of: Vec<Vec<u16>> = vec![Vec::new(); rows + 1];
        for (member, topics) in interests {
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

    /// The places in the table of the members that read `topic`, for [`Dispatch::member`].
    #[inline]
    pub(super) fn row(&self, topic: u32) -> Range<usize> {
        let row = (topic as usize).min(self.starts.len() - 2);
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The member at one of these places.
    #[inline]
    pub(super) fn member(&self, place: usize) -> usize {
        usize::from(self.members[place])
    }

    /// Every topic that a member reads, ascending; `None`: all topics.
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

    fn table(interests: &[(u16, Option<Vec<u32>>)]) -> Dispatch {
        Dispatch::new(interests.iter().map(|(member, topics)| (*member, topics.as_deref())))
    }

    fn readers(dispatch: &Dispatch, topic: u32) -> Vec<usize> {
        dispatch.row(topic).map(|place| dispatch.member(place)).collect()
    }

    #[test]
    fn a_topic_reaches_its_readers_and_no_other_member() {
        let dispatch = table(&[(0, Some(vec![1, 3])), (1, Some(vec![3])), (2, Some(vec![]))]);
        assert_eq!(readers(&dispatch, 0), Vec::<usize>::new());
        assert_eq!(readers(&dispatch, 1), [0]);
        assert_eq!(readers(&dispatch, 3), [0, 1]);
        assert_eq!(readers(&dispatch, 4), Vec::<usize>::new());
        assert_eq!(readers(&dispatch, u32::MAX), Vec::<usize>::new());
        assert_eq!(dispatch.topics(), Some(vec![1, 3]));
    }

    #[test]
    fn a_member_of_all_topics_reads_unnamed_ones_too() {
        let dispatch = table(&[(4, Some(vec![2])), (9, None)]);
        assert_eq!(readers(&dispatch, 2), [4, 9]);
        assert_eq!(readers(&dispatch, 0), [9]);
        assert_eq!(readers(&dispatch, 4_000), [9]);
        assert_eq!(dispatch.topics(), None);
    }

    #[test]
    fn without_members_no_topic_is_read() {
        let dispatch = table(&[]);
        assert_eq!(readers(&dispatch, 0), Vec::<usize>::new());
        assert_eq!(dispatch.topics(), Some(vec![]));
    }

    proptest! {
        #[test]
        fn the_table_agrees_with_a_scan_over_all_interests(
            interests in prop::collection::vec(prop::option::of(prop::collection::vec(0_u32..40, 0..6)), 0..90),
            topic in 0_u32..50,
        ) {
            let interests: Vec<_> =
                interests.into_iter().enumerate().map(|(index, topics)| (index as u16, topics)).collect();
            let wants = |topics: &Option<Vec<u32>>| topics.as_ref().is_none_or(|topics| topics.contains(&topic));
            let scanned: Vec<usize> =
                interests.iter().filter(|(_, topics)| wants(topics)).map(|(index, _)| usize::from(*index)).collect();
            let dispatch = table(&interests);
            prop_assert_eq!(readers(&dispatch, topic), scanned.clone());
            let open = dispatch.topics().is_none_or(|topics| topics.contains(&topic));
            prop_assert!(open || scanned.is_empty(), "a member reads a topic that the node does not ask for");
        }
    }
}
