//! The steps of a random history.

/// The contents of a payload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    Random,
    /// Each line starts with the commit word that a frame there would have so many laps later.
    Forged(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write {
        length: usize,
        body: Body,
        topic: u32,
    },
    /// Frames of these lengths and topics, kept or dropped.
    Batch {
        frames: Vec<(usize, u32)>,
        body: Body,
        keep: bool,
    },
    /// Pieces of these lengths in the room for so many bytes, kept or dropped.
    Claim {
        room: usize,
        pieces: Vec<usize>,
        body: Body,
        keep: bool,
    },
    /// Room for so many records of this size, of which so many are pushed; kept or dropped.
    Records {
        size: usize,
        most: usize,
        pushed: usize,
        keep: bool,
    },
    /// A frame of another journal, whose time lies so far before the last one's.
    Append {
        length: usize,
        body: Body,
        back: u64,
    },
    /// Leaves a gap of so many lines.
    Skip {
        lines: u64,
    },
    WriteUntilFull {
        length: usize,
    },
    /// Another process becomes the writer.
    NewWriter,
    JoinGated(u32),
    ReadGated(u32, usize),
    /// A batch read.
    ReadBatch(u32, usize),
    /// Leaves; its cursor stays.
    LeaveGated(u32),
    Dismiss(u32),
    Narrow(u32, u32),
    /// Keeps the frames it has read from this many frames back on.
    Keep(u32, usize),
    JoinLoose(u32),
    ReadLoose(u32, usize),
    FindOldest,
}
