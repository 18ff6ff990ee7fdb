//! A reader of Perfetto's traces by the public description of the format alone: it shares nothing with what writes them.

#![allow(dead_code, reason = "no test program uses all of it")]

use std::collections::BTreeMap;

/// A field of a message.
#[derive(Clone, Debug)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, in order.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => Value::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes);
                Value::Bytes(take(&mut bytes, length as usize))
            }
            other => panic!("wire type {other} in a trace"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
    assert!(bytes.len() >= count, "the trace is cut off");
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

impl Value<'_> {
    fn number(&self) -> u64 {
        match self {
            Value::Number(number) => *number,
            Value::Bytes(bytes) => panic!("{bytes:?} is no number"),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            Value::Number(number) => panic!("{number} is no message"),
        }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes().to_vec()).expect("UTF-8")
    }
}

/// A track.
#[derive(Clone, Debug, Default)]
pub(crate) struct Track {
    pub(crate) name: String,
    pub(crate) parent: u64,
    /// Of a process or a thread.
    pub(crate) pid: Option<u64>,
    pub(crate) tid: Option<u64>,
    pub(crate) is_counter: bool,
}

/// What an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Begin,
    End,
    Instant,
    Counter,
}

/// An event.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) time: u64,
    pub(crate) track: u64,
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) category: String,
    pub(crate) flows: Vec<u64>,
    pub(crate) arguments: BTreeMap<String, String>,
    pub(crate) value: i64,
}

/// A slice, from its begin to its end.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) begin: Event,
    pub(crate) end: u64,
    /// Slices around it.
    pub(crate) depth: usize,
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) tracks: BTreeMap<u64, Track>,
    pub(crate) events: Vec<Event>,
    /// The clock of the trace, and readings of clocks by number.
    pub(crate) primary_clock: u64,
    pub(crate) clocks: BTreeMap<u64, u64>,
    pub(crate) packets: u64,
}

const REALTIME: u64 = 1;

impl Trace {
    pub(crate) fn read(bytes: &[u8]) -> Trace {
        let mut trace = Trace::default();
        for (field, packet) in fields(bytes) {
            assert_eq!(field, 1, "a trace has packets and nothing else");
            trace.packets += 1;
            trace.packet(packet.bytes());
        }
        trace
    }

    fn packet(&mut self, bytes: &[u8]) {
        let packet: BTreeMap<u64, Value<'_>> = fields(bytes).into_iter().collect();
        assert_eq!(packet[&10].number(), 1, "every packet is of the one sequence");
        if let Some(snapshot) = packet.get(&6) {
            assert_eq!(packet[&13].number(), 1, "the sequence begins with it");
            for (field, value) in fields(snapshot.bytes()) {
                if field == 1 {
                    let clock: BTreeMap<u64, Value<'_>> = fields(value.bytes()).into_iter().collect();
                    self.clocks.insert(clock[&1].number(), clock[&2].number());
                } else {
                    self.primary_clock = value.number();
                }
            }
        }
        if let Some(track) = packet.get(&60) {
            self.track(track.bytes());
        }
        if let Some(event) = packet.get(&11) {
            assert_eq!(packet[&58].number(), REALTIME, "its clock is named");
            self.event(packet[&8].number(), event.bytes());
        }
    }

    fn track(&mut self, bytes: &[u8]) {
        let (mut uuid, mut track) = (0, Track::default());
        for (field, value) in fields(bytes) {
            match field {
                1 => uuid = value.number(),
                2 => track.name = value.text(),
                3 => {
                    for (field, value) in fields(value.bytes()) {
                        match field {
                            1 => track.pid = Some(value.number()),
                            6 => track.name = value.text(),
                            other => panic!("field {other} of a process"),
                        }
                    }
                }
                4 => {
                    for (field, value) in fields(value.bytes()) {
                        match field {
                            1 => track.pid = Some(value.number()),
                            2 => track.tid = Some(value.number()),
                            5 => track.name = value.text(),
                            other => panic!("field {other} of a thread"),
                        }
                    }
                }
                5 => track.parent = value.number(),
                8 => track.is_counter = true,
                other => panic!("field {other} of a track"),
            }
        }
        assert!(track.parent == 0 || self.tracks.contains_key(&track.parent), "its parent came before it");
        assert!(self.tracks.insert(uuid, track).is_none(), "track {uuid} is described twice");
    }

    fn event(&mut self, time: u64, bytes: &[u8]) {
        let mut event = Event {
            time,
            track: 0,
            kind: Kind::Instant,
            name: String::new(),
            category: String::new(),
            flows: Vec::new(),
            arguments: BTreeMap::new(),
            value: 0,
        };
        for (field, value) in fields(bytes) {
            match field {
                4 => {
                    let annotation: BTreeMap<u64, Value<'_>> = fields(value.bytes()).into_iter().collect();
                    let said = match (annotation.get(&3), annotation.get(&4), annotation.get(&6)) {
                        (Some(number), ..) => number.number().to_string(),
                        (_, Some(number), _) => (number.number() as i64).to_string(),
                        (.., Some(text)) => text.text(),
                        _ => panic!("an argument without a value"),
                    };
                    event.arguments.insert(annotation[&10].text(), said);
                }
                9 => {
                    event.kind = match value.number() {
                        1 => Kind::Begin,
                        2 => Kind::End,
                        3 => Kind::Instant,
                        4 => Kind::Counter,
                        other => panic!("an event of type {other}"),
                    }
                }
                11 => event.track = value.number(),
                22 => event.category = value.text(),
                23 => event.name = value.text(),
                30 => event.value = value.number() as i64,
                47 => event.flows.push(value.number()),
                other => panic!("field {other} of an event"),
            }
        }
        assert!(self.tracks.contains_key(&event.track), "track {} is not described", event.track);
        self.events.push(event);
    }

    /// The slices; panics where one does not nest, and where times of a track are not sorted.
    pub(crate) fn slices(&self) -> Vec<Slice> {
        let (mut open, mut slices) = (BTreeMap::<u64, Vec<Slice>>::new(), Vec::new());
        let mut last = BTreeMap::new();
        for event in &self.events {
            let before = last.insert(event.track, event.time).unwrap_or(0);
            assert!(before <= event.time, "track {}: {} after {before}", event.track, event.time);
            let stack = open.entry(event.track).or_default();
            match event.kind {
                Kind::Begin => {
                    stack.push(Slice { begin: event.clone(), end: 0, depth: stack.len() });
                }
                Kind::End => {
                    let slice = stack.pop().expect("a slice that was begun");
                    slices.push(Slice { end: event.time, ..slice });
                }
                Kind::Instant | Kind::Counter => {}
            }
        }
        let left: Vec<&Slice> = open.values().flatten().collect();
        assert!(left.is_empty(), "slices without an end: {left:?}");
        slices
    }

    /// The events of each flow, in order of time; panics where one has one end only.
    pub(crate) fn flows(&self) -> BTreeMap<u64, Vec<&Event>> {
        let mut flows = BTreeMap::<u64, Vec<&Event>>::new();
        for event in &self.events {
            for flow in &event.flows {
                assert!(event.kind != Kind::End && event.kind != Kind::Counter, "a flow of {event:?}");
                flows.entry(*flow).or_default().push(event);
            }
        }
        for (flow, events) in &flows {
            assert!(events.len() > 1, "flow {flow} has one end: {events:?}");
        }
        flows
    }

    /// Tracks of this name.
    pub(crate) fn named(&self, name: &str) -> Vec<u64> {
        self.tracks.iter().filter(|(_, track)| track.name == name).map(|(uuid, _)| *uuid).collect()
    }

    /// Events on tracks of this name.
    pub(crate) fn on<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| self.tracks[&event.track].name == name)
    }
}
