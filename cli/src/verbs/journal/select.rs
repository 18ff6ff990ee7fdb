//! Which frames are wanted: by topic, by kind of message, by position, by time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use journal::Topics;
use node::Exit;
use wire::Instrument;

use super::args::Selection;
use crate::failure::Failure;
use crate::message::kind_id;
use crate::verbs::instruments;

const DAY: u64 = 86_400_000_000_000;

/// A place in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Position(u64),
    /// Nanoseconds since the epoch.
    Time(u64),
}

/// What a [`Selection`] means for one journal.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    pub(super) topics: Topics,
    kinds: Vec<u16>,
    from: Option<Place>,
    to: Option<Place>,
}

impl Filter {
    /// `last_time`: that of the journal's last frame, which relative times and times of day count from. `listed`: the instruments,
    /// if a topic is given by a name.
    pub(super) fn new(
        selection: &Selection,
        last_time: u64,
        listed: impl FnOnce() -> Result<Vec<Instrument>, Failure>,
    ) -> Result<Filter, Failure> {
        let kinds = selection.kinds.iter().map(|kind| kind_id(kind).ok_or_else(|| unknown_kind(kind)));
        let place = |text: &Option<String>| text.as_deref().map(|text| place(text, last_time)).transpose();
        Ok(Filter {
            topics: topics(&selection.topics, listed)?,
            kinds: kinds.collect::<Result<_, _>>()?,
            from: place(&selection.from)?,
            to: place(&selection.to)?,
        })
    }

    /// True when a frame at this position, of this time and kind, is wanted. The topics are the reader's business.
    pub(super) fn wants(&self, position: u64, time: u64, kind: u16) -> bool {
        let begun = self.from.is_none_or(|from| !before(position, time, from));
        begun && !self.is_past(position, time) && (self.kinds.is_empty() || self.kinds.contains(&kind))
    }

    /// True when nothing from here on is wanted.
    pub(super) fn is_past(&self, position: u64, time: u64) -> bool {
        self.to.is_some_and(|to| !before(position, time, to))
    }

    /// Position from which on to read, and time before which nothing is wanted; zero: from the start.
    pub(super) fn start(&self) -> (u64, u64) {
        match self.from {
            Some(Place::Position(position)) => (position, 0),
            Some(Place::Time(time)) => (0, time),
            None => (0, 0),
        }
    }

    pub(super) fn has_start(&self) -> bool {
        self.from.is_some()
    }
}

/// From one time up to another, for several journals at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    from: u64,
    to: u64,
}

impl Span {
    /// `last_time` as in [`Filter::new`].
    pub(crate) fn new(from: Option<&str>, to: Option<&str>, last_time: u64) -> Result<Span, Failure> {
        let time = |text: &str| match place(text, last_time)? {
            Place::Time(time) => Ok(time),
            Place::Position(_) => {
                let message = format!("`{text}`: several journals are read, so only a time will do");
                Err(Failure::new(Exit::Usage, message))
            }
        };
        let (from, to) = (from.map(time).transpose()?, to.map(time).transpose()?);
        Ok(Span { from: from.unwrap_or(0), to: to.unwrap_or(u64::MAX) })
    }

    pub(crate) fn from(&self) -> u64 {
        self.from
    }

    /// The first time that does not belong to it.
    pub(crate) fn to(&self) -> u64 {
        self.to
    }
}

fn topics(
    wanted: &[String],
    listed: impl FnOnce() -> Result<Vec<Instrument>, Failure>,
) -> Result<Topics, Failure> {
    if wanted.is_empty() {
        return Ok(Topics::All);
    }
    let numbers: Result<Vec<u32>, _> = wanted.iter().map(|topic| topic.parse()).collect();
    if let Ok(numbers) = numbers {
        return Ok(Topics::only(numbers));
    }
    let listed = listed()?;
    let number = |topic: &String| match topic.parse() {
        Ok(number) => Ok(number),
        Err(_) => instruments::find(&listed, topic).map(|instrument| instrument.id.0),
    };
    Ok(Topics::only(wanted.iter().map(number).collect::<Result<Vec<u32>, Failure>>()?))
}

fn before(position: u64, time: u64, place: Place) -> bool {
    match place {
        Place::Position(limit) => position < limit,
        Place::Time(limit) => time < limit,
    }
}

fn unknown_kind(text: &str) -> Failure {
    let names: Vec<&str> = wire::schema::TABLE.iter().map(|message| message.record.name).collect();
    Failure::new(Exit::Usage, format!("`{text}` is no kind of message; there are: {}", names.join(", ")))
}

fn place(text: &str, last_time: u64) -> Result<Place, Failure> {
    read_place(text, last_time).ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!(
                "`{text}` is no place in a journal: write a position (65536), a time in UTC \
                 (2026-11-21T06:30:00.25Z or 06:30:00.25), nanoseconds (1795242600250000000ns), or -2s for two \
                 seconds before the last frame"
            ),
        )
    })
}

fn read_place(text: &str, last_time: u64) -> Option<Place> {
    if let Ok(position) = text.parse() {
        return Some(Place::Position(position));
    }
    if let Some(nanos) = text.strip_suffix("ns").and_then(|digits| digits.parse().ok()) {
        return Some(Place::Time(nanos));
    }
    if let Some(duration) = text.strip_prefix('-') {
        let back: Duration = humantime::parse_duration(duration).ok()?;
        return Some(Place::Time(last_time.saturating_sub(u64::try_from(back.as_nanos()).ok()?)));
    }
    if let Ok(time) = humantime::parse_rfc3339_weak(text) {
        return Some(Place::Time(nanos(time)?));
    }
    // A time of day: on the day of the last frame.
    let day = last_time / DAY;
    let midnight = UNIX_EPOCH + Duration::from_nanos(day * DAY);
    let date = humantime::format_rfc3339_seconds(midnight).to_string();
    let time = humantime::parse_rfc3339_weak(&format!("{}{text}", date.get(..11)?)).ok()?;
    Some(Place::Time(nanos(time)?))
}

fn nanos(time: SystemTime) -> Option<u64> {
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-21T06:30:00.5Z.
    const LAST: u64 = 1_795_242_600_500_000_000;

    #[test]
    fn places_are_positions_times_of_every_form_and_distances() {
        for (text, place) in [
            ("65536", Place::Position(65_536)),
            ("1795242600500000000ns", Place::Time(LAST)),
            ("2026-11-21T06:30:00.5Z", Place::Time(LAST)),
            ("2026-11-21 06:30:00", Place::Time(LAST - 500_000_000)),
            ("06:30:00.25", Place::Time(LAST - 250_000_000)),
            ("-2s", Place::Time(LAST - 2_000_000_000)),
            ("-250us", Place::Time(LAST - 250_000)),
        ] {
            assert_eq!(read_place(text, LAST), Some(place), "{text}");
        }
        for text in ["", "soon", "25:00:00", "-", "-x", "1.5"] {
            assert_eq!(read_place(text, LAST), None, "{text}");
        }
    }

    #[test]
    fn frames_are_wanted_from_a_place_up_to_another_one() {
        let selection = Selection {
            topics: vec!["3".to_owned()],
            kinds: vec!["fill".to_owned()],
            from: Some("128".to_owned()),
            to: Some("-1s".to_owned()),
        };
        let filter = Filter::new(&selection, LAST, || Ok(Vec::new())).unwrap();
        assert!(filter.wants(128, 5, 21) && !filter.wants(64, 5, 21) && !filter.wants(128, 5, 2));
        assert!(filter.is_past(128, LAST - 1_000_000_000) && !filter.is_past(128, LAST - 1_000_000_001));
        assert!(filter.has_start() && filter.topics.contains(3) && !filter.topics.contains(4));
        let named = Selection { topics: vec!["3".to_owned(), "SIM007".to_owned()], ..Selection::default() };
        let mut instrument: Instrument = wire::Message::decode(&[0; size_of::<Instrument>()]).unwrap();
        instrument.id = wire::InstrumentId(7);
        instrument.symbol = wire::Symbol::new("SIM007").unwrap();
        let filter = Filter::new(&named, LAST, || Ok(vec![instrument])).unwrap();
        assert!(filter.topics.contains(3) && filter.topics.contains(7) && !filter.topics.contains(1));
        assert!(Filter::new(&named, LAST, || Ok(Vec::new())).is_err(), "nothing is listed");
        let odd = Selection { kinds: vec!["bananas".to_owned()], ..Selection::default() };
        assert!(Filter::new(&odd, LAST, || Ok(Vec::new())).is_err());
    }
}
