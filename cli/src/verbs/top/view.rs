//! What is looked at: which table, from which row on, sorted by what. Pure.

use crate::screen::Key;

/// One of the two tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Nodes,
    Journals,
}

/// How one table is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// Rows that are passed over.
    pub(super) first: usize,
    /// The column that it is sorted by; `None`: the order it comes in.
    pub(super) by: Option<usize>,
    /// The smallest first.
    pub(super) is_rising: bool,
}

/// How both are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    pub(super) pane: Pane,
    pub(super) nodes: Shown,
    pub(super) journals: Shown,
    pub(super) has_help: bool,
}

/// What there is to be shown: rows, columns, and rows that fit at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) page: usize,
}

impl Default for View {
    fn default() -> View {
        View { pane: Pane::Nodes, nodes: Shown::default(), journals: Shown::default(), has_help: false }
    }
}

impl View {
    /// A key was pressed, while the table in front has this extent.
    pub(super) fn press(&mut self, key: Key, extent: Extent) {
        let last = extent.rows.saturating_sub(extent.page.max(1));
        let shown = match self.pane {
            Pane::Nodes => &mut self.nodes,
            Pane::Journals => &mut self.journals,
        };
        match key {
            Key::Up => shown.first = shown.first.min(last).saturating_sub(1),
            Key::Down => shown.first = (shown.first + 1).min(last),
            Key::PageUp => shown.first = shown.first.min(last).saturating_sub(extent.page.max(1)),
            Key::PageDown => shown.first = (shown.first + extent.page.max(1)).min(last),
            Key::Home => shown.first = 0,
            Key::End => shown.first = last,
            Key::Right => {
                shown.by = match shown.by {
                    None => Some(0),
                    Some(by) if by + 1 < extent.columns => Some(by + 1),
                    Some(_) => None,
                }
            }
            Key::Left => {
                shown.by = match shown.by {
                    None => extent.columns.checked_sub(1),
                    Some(by) => by.checked_sub(1),
                }
            }
            Key::Letter('r') => shown.is_rising = !shown.is_rising,
            Key::Letter('h' | '?') => self.has_help = !self.has_help,
            Key::Tab => {
                self.pane = match self.pane {
                    Pane::Nodes => Pane::Journals,
                    Pane::Journals => Pane::Nodes,
                }
            }
            Key::Letter(_) | Key::Quit | Key::Resized => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_move_within_what_there_is() {
        let extent = Extent { rows: 30, columns: 3, page: 10 };
        let mut view = View::default();
        let mut press = |keys: &[Key]| {
            keys.iter().for_each(|key| view.press(*key, extent));
            (view.nodes.first, view.nodes.by)
        };
        assert_eq!(press(&[Key::Up]), (0, None));
        assert_eq!(press(&[Key::Down, Key::Down]), (2, None));
        assert_eq!(press(&[Key::PageDown, Key::PageDown, Key::PageDown]), (20, None));
        assert_eq!(press(&[Key::PageUp]), (10, None));
        assert_eq!(press(&[Key::End, Key::Down]), (20, None));
        assert_eq!(press(&[Key::Home, Key::Right, Key::Right]), (0, Some(1)));
        assert_eq!(press(&[Key::Right, Key::Right]), (0, None));
        assert_eq!(press(&[Key::Left]), (0, Some(2)));
        view.press(Key::Tab, extent);
        view.press(Key::Down, Extent { rows: 2, columns: 3, page: 10 });
        assert_eq!((view.pane, view.journals.first, view.nodes.by), (Pane::Journals, 0, Some(2)));
    }
}
