//! Messages of one size over a stream of bytes: shared by pipe and socket.

use std::io::{ErrorKind, Read, Write};

use crate::error::{CompareError, system};
use crate::rival::number;

/// The writing end: one stream for each reader.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    streams: Vec<Option<W>>,
    buffer: Vec<u8>,
}

impl<W: Write> Outgoing<W> {
    pub(crate) fn new(streams: Vec<W>) -> Outgoing<W> {
        Outgoing { streams: streams.into_iter().map(Some).collect(), buffer: Vec::new() }
    }

    /// Sends to all. With one reader, false when there is no room; with several, waits for each, as some may have it
    /// already.
    #[inline]
    pub(crate) fn send(&mut self, message: &[u8]) -> Result<bool, CompareError> {
        let waits = self.streams.len() > 1;
        for stream in &mut self.streams {
            if write(stream, message, waits)? == 0 && stream.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends to one reader.
    #[inline]
    pub(crate) fn send_to(&mut self, reader: usize, message: &[u8]) -> Result<bool, CompareError> {
        Ok(write(&mut self.streams[reader], message, false)? > 0)
    }

    /// Sends several messages with one system call.
    pub(crate) fn send_batch<const N: usize>(
        &mut self,
        first: u64,
        count: u64,
        message: &mut [u8; N],
    ) -> Result<u64, CompareError> {
        self.buffer.clear();
        for sent in 0..count {
            number(message, first + sent);
            self.buffer.extend_from_slice(message);
        }
        let waits = self.streams.len() > 1;
        let mut sent = count;
        for stream in &mut self.streams {
            let mut written = write(stream, &self.buffer, waits)?;
            // Completes a partly written message at once.
            if written % N > 0 {
                let rest = &self.buffer[written..written.next_multiple_of(N)];
                written += write(stream, rest, true)?;
            }
            if stream.is_some() {
                sent = sent.min((written / N) as u64);
            }
        }
        Ok(sent)
    }
}

/// Writes as much as there is room for, or with `all`, everything. A reader that has disconnected is dropped.
#[inline]
fn write<W: Write>(stream: &mut Option<W>, bytes: &[u8], all: bool) -> Result<usize, CompareError> {
    let mut written = 0;
    while let Some(open) = stream
        && written < bytes.len()
    {
        match open.write(&bytes[written..]) {
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock && !all => break,
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                *stream = None;
            }
            Err(error) => return Err(system("write to the stream")(error)),
        }
    }
    Ok(written)
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct Incoming<R> {
    stream: R,
    buffer: Vec<u8>,
    /// The filled part of the buffer that is not yet passed on.
    filled: std::ops::Range<usize>,
}

/// The result of reading.
pub(crate) enum Came {
    /// This many messages.
    Messages(usize),
    /// The other side has closed.
    End,
}

impl<R: Read> Incoming<R> {
    pub(crate) fn new(stream: R) -> Incoming<R> {
        Incoming { stream, buffer: vec![0; 1 << 16], filled: 0..0 }
    }

    #[inline]
    pub(crate) fn receive<const N: usize>(
        &mut self,
        most: usize,
        each: &mut impl FnMut(&[u8; N]),
    ) -> Result<Came, CompareError> {
        if self.filled.len() < N {
            self.buffer.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
            let room = if most == 1 { N } else { self.buffer.len() };
            match self.stream.read(&mut self.buffer[self.filled.end..room]) {
                Ok(0) => return Ok(Came::End),
                Ok(count) => self.filled.end += count,
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Came::End),
                Err(error) => return Err(system("read from the stream")(error)),
            }
        }
        let mut handed = 0;
        while handed < most
            && let Some(message) = self.buffer[self.filled.clone()].first_chunk()
        {
            each(message);
            self.filled.start += N;
            handed += 1;
        }
        Ok(Came::Messages(handed))
    }
}
