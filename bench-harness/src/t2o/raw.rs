//! Raw records, one line an answer, compressed: the source of every figure. A missing answer has order id 0, `received`
//! and `ordered` 0, and in `taken` the end of the wait for it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::stamps::Stamps;

/// First line of a file. Times are nanoseconds on the platform's clock.
const HEAD: &str = "order_id,due,published,received,ordered,taken";
/// The same where the orders are recorded.
const HEAD_ON_DISK: &str = "order_id,due,published,received,ordered,taken,durable";

/// Writes the records of one run.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, records: &[Stamps]) -> io::Result<()> {
    let mut out = BufWriter::new(GzEncoder::new(File::create(path)?, Compression::fast()));
    let has_disk = records.iter().any(|record| record.durable != 0);
    writeln!(out, "{}", if has_disk { HEAD_ON_DISK } else { HEAD })?;
    for record in records {
        let Stamps { order_id, due, published, received, ordered, taken, durable } = record;
        write!(out, "{order_id},{due},{published},{received},{ordered},{taken}")?;
        match has_disk {
            true => writeln!(out, ",{durable}")?,
            false => writeln!(out)?,
        }
    }
    out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?.sync_all()
}

/// Reads what [`write()`] wrote.
///
/// # Errors
/// The file cannot be read, or is not of this format.
pub fn read(path: &Path) -> io::Result<Vec<Stamps>> {
    let mut lines = BufReader::new(GzDecoder::new(File::open(path)?)).lines();
    let wrong = |line: usize| {
        let what = format!("{}, line {line}: this is no record of {HEAD}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let has_disk = match lines.next().transpose()?.as_deref() {
        Some(HEAD) => false,
        Some(HEAD_ON_DISK) => true,
        _ => return Err(wrong(1)),
    };
    let record = |(index, line): (usize, io::Result<String>)| {
        let line = line?;
        let numbers: Vec<u64> = line.split(',').map_while(|word| word.parse().ok()).collect();
        match numbers[..] {
            [order_id, due, published, received, ordered, taken] if !has_disk => {
                Ok(Stamps { order_id, due, published, received, ordered, taken, durable: 0 })
            }
            [order_id, due, published, received, ordered, taken, durable] if has_disk => {
                Ok(Stamps { order_id, due, published, received, ordered, taken, durable })
            }
            _ => Err(wrong(index + 2)),
        }
    };
    lines.enumerate().map(record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv.gz");
        let records: Vec<Stamps> = (1..1_000)
            .map(|n| Stamps {
                order_id: n,
                due: n,
                published: n + 1,
                received: n + 2,
                ordered: n + 3,
                taken: u64::MAX,
                durable: 0,
            })
            .collect();
        write(&path, &records).unwrap();
        assert_eq!(read(&path).unwrap(), records);
        // Of the last orders of a run it may be unknown.
        let on_disk: Vec<Stamps> =
            records.iter().map(|record| Stamps { durable: record.due % 7, ..*record }).collect();
        write(&path, &on_disk).unwrap();
        assert_eq!(read(&path).unwrap(), on_disk);
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.csv.gz");
        std::fs::write(&path, b"no gzip").unwrap();
        assert!(read(&path).is_err());
        let mut out = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        write!(out, "{HEAD}\n1,2,3\n").unwrap();
        out.finish().unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("b.csv.gz, line 2"));
    }
}
