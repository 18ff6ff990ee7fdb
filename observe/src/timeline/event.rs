//! What happens on a track.

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) track: u64,
    pub(super) shape: Shape,
    /// For filters; empty: none.
    pub(super) category: &'static str,
    pub(super) name: String,
    pub(super) arguments: Vec<(&'static str, Argument)>,
    /// The orders whose way leads through it.
    pub(super) flows: Vec<u64>,
    /// The frame that it shows: journal and position.
    pub(super) frame: Option<(u32, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Begin,
    End,
    Instant,
    Counter(i64),
}

#[derive(Clone, Debug)]
pub(super) enum Argument {
    Number(u64),
    Signed(i64),
    Text(String),
}

impl From<u64> for Argument {
    fn from(number: u64) -> Argument {
        Argument::Number(number)
    }
}

impl From<i64> for Argument {
    fn from(number: i64) -> Argument {
        Argument::Signed(number)
    }
}

impl From<String> for Argument {
    fn from(text: String) -> Argument {
        Argument::Text(text)
    }
}

impl From<&str> for Argument {
    fn from(text: &str) -> Argument {
        Argument::Text(text.to_owned())
    }
}

impl Event {
    pub(super) fn new(track: u64, shape: Shape, name: impl Into<String>) -> Event {
        Event {
            track,
            shape,
            category: "",
            name: name.into(),
            arguments: Vec::new(),
            flows: Vec::new(),
            frame: None,
        }
    }

    pub(super) fn end(track: u64) -> Event {
        Event::new(track, Shape::End, "")
    }

    pub(super) fn of(mut self, category: &'static str) -> Event {
        self.category = category;
        self
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Argument>) -> Event {
        self.arguments.push((name, value.into()));
        self
    }

    /// The frame that it shows, also for who opens the trace.
    pub(super) fn at(mut self, journal: &super::TracedJournal, position: u64) -> Event {
        self.frame = Some((journal.id, position));
        self.with("journal", journal.name.as_str()).with("position", position)
    }
}
