//! Opens files: plain, gzip or zstd, recognised by their first bytes and not by their names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use dbn::decode::DynReader;
use flate2::bufread::MultiGzDecoder;

use super::error::{SourceError, quote};
use super::itch::is_itch;

/// Longest line of a text file; longer lines are not market data.
const LONGEST_LINE: u64 = 16 * 1024;

/// Unpacked bytes. An end inside of compressed data is an error of kind `InvalidData`, never a silent end.
pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    last: Option<u8>,
}

impl Input {
    fn new(bytes: impl Read + Send + 'static) -> Input {
        Input { bytes: Box::new(bytes), last: None }
    }

    /// The data read so far ends in the middle of a line.
    pub(crate) fn is_unended(&self) -> bool {
        self.last.is_some_and(|last| last != b'\n' && last != b'\r')
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                io::Error::new(io::ErrorKind::InvalidData, "the compressed data ends too early (cut off?)")
            }
            io::ErrorKind::Interrupted => error,
            _ => io::Error::new(io::ErrorKind::InvalidData, format!("the bytes cannot be unpacked: {error}")),
        })?;
        self.last = buffer[..read].last().copied().or(self.last);
        Ok(read)
    }
}

/// Opens a file that should hold `expected`.
pub(crate) fn open(path: &Path, expected: &str) -> Result<Input, SourceError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => {
            SourceError::Missing { path: path.to_owned(), expected: expected.to_owned() }
        }
        _ => SourceError::Io { path: path.to_owned(), source },
    };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Err(SourceError::Format {
            path: path.to_owned(),
            found: "this is a folder".to_owned(),
            expected: expected.to_owned(),
        });
    }
    let mut reader = BufReader::with_capacity(1 << 16, File::open(path).map_err(failed)?);
    let head = reader.fill_buf().map_err(failed)?;
    if head.is_empty() {
        return Err(SourceError::Empty { path: path.to_owned(), expected: expected.to_owned() });
    }
    if let Some(packed) = foreign_packing(head) {
        return Err(SourceError::Format {
            path: path.to_owned(),
            found: format!("this is {packed}, which is not unpacked here"),
            expected: format!("{expected}, plain, gzip or zstd: unpack it, or pack it with one of these"),
        });
    }
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(Input::new(MultiGzDecoder::new(reader)));
    }
    match DynReader::inferred_with_buffer(reader) {
        Ok(reader) => Ok(Input::new(reader)),
        Err(error) => {
            Err(SourceError::Damaged { path: path.to_owned(), row: 0, reason: format!("not zstd: {error}") })
        }
    }
}

/// Formats of packed files that are recognised by their first bytes, and not supported.
fn foreign_packing(head: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 6] = [
        (b"PK\x03\x04", "a zip archive"),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"\xfd7zXZ\x00", "an xz file"),
        (b"BZh", "a bzip2 file"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x04\x22\x4d\x18", "an lz4 file"),
    ];
    kinds.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| name)
}

/// The error for a failed read after `row` whole rows.
pub(crate) fn damaged(path: &Path, row: u64, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::InvalidData => {
            SourceError::Damaged { path: path.to_owned(), row, reason: error.to_string() }
        }
        _ => SourceError::Io { path: path.to_owned(), source: error },
    }
}

/// Lines of a text file, with their numbers.
pub(crate) struct Lines {
    reader: BufReader<Input>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    pub(crate) fn open(path: &Path, expected: &str) -> Result<Lines, SourceError> {
        let reader = BufReader::with_capacity(1 << 16, open(path, expected)?);
        Ok(Lines { reader, line: Vec::new(), number: 0 })
    }

    /// The next line that is not blank, without its end, and its number from 1; `None` at the end. A line that is too
    /// long is cut: no format has such lines, so its reader refuses it.
    pub(crate) fn next(&mut self, path: &Path) -> Result<Option<(u64, &[u8])>, SourceError> {
        loop {
            self.line.clear();
            let mut limited = (&mut self.reader).take(LONGEST_LINE);
            let length = limited
                .read_until(b'\n', &mut self.line)
                .map_err(|error| damaged(path, self.number, error))?;
            if length == 0 {
                return Ok(None);
            }
            if self.line.last() != Some(&b'\n') && length as u64 == LONGEST_LINE {
                self.skip_line(path)?;
            }
            self.number += 1;
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        Ok(Some((self.number, self.line.trim_ascii_end())))
    }

    /// Behind the last line: it has no line end.
    pub(crate) fn is_unended(&self) -> bool {
        self.reader.get_ref().is_unended()
    }

    fn skip_line(&mut self, path: &Path) -> Result<(), SourceError> {
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| damaged(path, self.number, error))?;
            let end = buffer.iter().position(|&byte| byte == b'\n');
            let length = end.map_or(buffer.len(), |end| end + 1);
            self.reader.consume(length);
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }
}

/// The first bytes of a file, unpacked; empty when there are none.
pub(crate) fn head(path: &Path, expected: &str) -> Result<Vec<u8>, SourceError> {
    let mut bytes = Vec::new();
    match open(path, expected)?.take(4_096).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        // The part that could be read is enough to recognise it; a later read reports the error itself.
        Err(_) if !bytes.is_empty() => Ok(bytes),
        Err(error) => Err(damaged(path, 0, error)),
    }
}

/// The content of a file, by its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Dbn,
    Itch,
    Pitch,
    LobsterMessages,
    /// With this many levels.
    LobsterOrderbook(usize),
    Sse,
    Binary,
    Unknown,
}

/// Refuses a file that certainly has another content than `own`.
pub(crate) fn check_content(path: &Path, own: Content, expected: &str) -> Result<(), SourceError> {
    let head = head(path, expected)?;
    match content(&head) {
        Content::Unknown => Ok(()),
        found if found == own => Ok(()),
        _ => Err(foreign(path, &head, expected)),
    }
}

/// The error for a file without any of the expected content.
pub(crate) fn nothing_understood(path: &Path, expected: &str) -> SourceError {
    match head(path, expected) {
        Ok(head) => foreign(path, &head, expected),
        Err(error) => error,
    }
}

fn foreign(path: &Path, head: &[u8], expected: &str) -> SourceError {
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or(b"").trim_ascii();
    let found = match content(head) {
        Content::Itch => "this looks like Nasdaq ITCH 5.0 (source = \"itch\")".to_owned(),
        Content::Dbn => "this is a Databento DBN file (source = \"dbn\")".to_owned(),
        Content::Pitch => "this looks like BATS PITCH (source = \"pitch\")".to_owned(),
        Content::LobsterMessages => {
            "this looks like a LOBSTER message file (source = \"lobster\")".to_owned()
        }
        Content::LobsterOrderbook(levels) => {
            format!("this looks like a LOBSTER orderbook file of {levels} levels, not like messages")
        }
        Content::Sse => "this looks like Shanghai orders or trades (source = \"sse\")".to_owned(),
        Content::Binary => format!("this is no text (it starts with {})", quote(&head[..head.len().min(12)])),
        Content::Unknown if first.is_empty() => "there is no row in it".to_owned(),
        Content::Unknown => format!("the first line is {}", quote(first)),
    };
    SourceError::Format { path: path.to_owned(), found, expected: expected.to_owned() }
}

/// Recognises the first bytes of a file.
pub(crate) fn content(head: &[u8]) -> Content {
    if head.starts_with(b"DBN") {
        return Content::Dbn;
    }
    if is_itch(head) {
        return Content::Itch;
    }
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(b"").trim_ascii();
    if line.iter().any(|&byte| byte < 0x20 && byte != b'\t') || std::str::from_utf8(line).is_err() {
        return Content::Binary;
    }
    let columns: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
    let numeric = |text: &&[u8]| {
        text.iter().any(u8::is_ascii_digit)
            && text.iter().all(|byte| byte.is_ascii_digit() || b".-".contains(byte))
    };
    if columns.len() == 1 {
        let bare = line.strip_prefix(b"S").unwrap_or(line);
        let stamped =
            bare.len() > 9 && bare[..8].iter().all(u8::is_ascii_digit) && bare[8].is_ascii_alphabetic();
        return if stamped { Content::Pitch } else { Content::Unknown };
    }
    if columns.iter().all(numeric) {
        return match columns.len() {
            6 => Content::LobsterMessages,
            count if count % 4 == 0 => Content::LobsterOrderbook(count / 4),
            _ => Content::Unknown,
        };
    }
    let header = line.to_ascii_lowercase();
    let has = |name: &[u8]| header.windows(name.len()).any(|window| window == name);
    if has(b"securityid") && (has(b"bsflag") || has(b"orderno") || has(b"tradebuyno")) {
        Content::Sse
    } else {
        Content::Unknown
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_have_numbers_and_any_kind_of_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        std::fs::write(&path, "one\r\n\n  \ntwo\nthree").unwrap();
        let mut lines = Lines::open(&path, "lines").unwrap();
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next(&path).unwrap() {
            seen.push((number, String::from_utf8(line.to_vec()).unwrap()));
        }
        assert_eq!(seen, [(1, "one".to_owned()), (4, "two".to_owned()), (5, "three".to_owned())]);
    }

    #[test]
    fn endless_lines_are_cut_and_counted_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        std::fs::write(&path, [&vec![b'a'; 100_000][..], b"\nnext\n"].concat()).unwrap();
        let mut lines = Lines::open(&path, "lines").unwrap();
        assert_eq!(lines.next(&path).unwrap().unwrap().1.len() as u64, LONGEST_LINE);
        assert_eq!(lines.next(&path).unwrap().unwrap(), (2, &b"next"[..]));
    }

    #[test]
    fn gzip_that_is_cut_off_is_an_error_with_the_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.gz");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        for row in 0..10_000 {
            writeln!(encoder, "{row},{}", row * 7_919 % 1_000).unwrap();
        }
        let bytes = encoder.finish().unwrap();
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let mut lines = Lines::open(&path, "lines").unwrap();
        let error = loop {
            match lines.next(&path) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the cut was not noticed"),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, SourceError::Damaged { row: 1.., .. }), "{error}");
    }

    #[test]
    fn files_are_told_apart_by_their_first_line() {
        for (head, expected) in [
            (&b"DBN\x01..."[..], Content::Dbn),
            (b"28800011AAK27GA0000DTS000100SH    0000619200Y\n", Content::Pitch),
            (b"34200.1,1,16113575,18,5853300,1\n", Content::LobsterMessages),
            (b"5859400,200,5853300,18\n", Content::LobsterOrderbook(1)),
            (b"SecurityID,BizIndex,OrderNO,b\n", Content::Sse),
            (b"\x00\x0cS\x00\x00\x00\x00\n0G\x8f\x8f\x96O\x00\x00R", Content::Itch),
            (b"\x00\x01\x02", Content::Binary),
            (b"hello, world", Content::Unknown),
            (b"", Content::Unknown),
        ] {
            assert_eq!(content(head), expected);
        }
    }
}
