//! Where packets go: a file with a limit, which never ends within a slice.

use std::collections::HashMap;
use std::io::{self, Write};

use super::event::{Event, Shape};
use super::packet;

/// At least as long as the packet that ends a slice and says why.
const END_BYTES: u64 = 160;

#[derive(Debug)]
pub(super) struct Sink<W> {
    out: W,
    most: u64,
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) slices: u64,
    pub(super) instants: u64,
    pub(super) is_full: bool,
    /// By track: slices begun and not ended, in the file and left out.
    open: HashMap<u64, (u64, u64)>,
    /// Those in the file.
    open_here: u64,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(out: W, most: Option<u64>) -> Sink<W> {
        let most = most.unwrap_or(u64::MAX);
        Sink {
            out,
            most,
            bytes: 0,
            packets: 0,
            slices: 0,
            instants: 0,
            is_full: false,
            open: HashMap::new(),
            open_here: 0,
        }
    }

    /// A packet that is no event. False: there was no room.
    pub(super) fn packet(&mut self, packet: &[u8]) -> io::Result<bool> {
        let room = self.most.saturating_sub(self.open_here.saturating_mul(END_BYTES));
        if self.is_full || self.bytes.saturating_add(packet.len() as u64) > room {
            self.is_full = true;
            return Ok(false);
        }
        self.put(packet)?;
        Ok(true)
    }

    pub(super) fn event(&mut self, time: u64, event: &Event) -> io::Result<()> {
        let packet = packet::event(time, event);
        let (here, left_out) = self.open.entry(event.track).or_default();
        match event.shape {
            Shape::End if *left_out > 0 => *left_out -= 1,
            Shape::End if *here > 0 => {
                *here -= 1;
                self.open_here -= 1;
                self.put(&packet)?;
            }
            Shape::End => {}
            Shape::Begin => {
                // With the room for its end.
                let room = self.most.saturating_sub((self.open_here + 1).saturating_mul(END_BYTES));
                if self.is_full || self.bytes.saturating_add(packet.len() as u64) > room {
                    self.is_full = true;
                    *left_out += 1;
                    return Ok(());
                }
                *here += 1;
                self.open_here += 1;
                self.slices += 1;
                self.put(&packet)?;
            }
            Shape::Instant | Shape::Counter(_) => {
                if self.packet(&packet)? {
                    self.instants += u64::from(event.shape == Shape::Instant);
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, packet: &[u8]) -> io::Result<()> {
        self.out.write_all(packet)?;
        self.bytes += packet.len() as u64;
        self.packets += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
