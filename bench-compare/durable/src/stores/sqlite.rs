//! SQLite with a write-ahead log.

use std::path::Path;

use rusqlite::Connection;

use super::{Facts, Record, Store, said};

pub(crate) const FACTS: Facts = Facts {
    name: "sqlite",
    version: "3.50.2 (rusqlite 0.37, bundled)",
    setup: "`journal_mode = WAL`, `synchronous = FULL`: a transaction a batch, a prepared insert a record, checkpoints as they come",
    open,
};

fn open(folder: &Path) -> Result<Box<dyn Store>, String> {
    let connection = Connection::open(folder.join("db")).map_err(said("open"))?;
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE records (number INTEGER PRIMARY KEY, record BLOB NOT NULL);",
        )
        .map_err(said("set up"))?;
    Ok(Box::new(Table { connection, number: 0 }))
}

struct Table {
    connection: Connection,
    number: i64,
}

impl Store for Table {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        let transaction = self.connection.transaction().map_err(said("begin"))?;
        {
            let mut insert = transaction
                .prepare_cached("INSERT INTO records VALUES (?, ?)")
                .map_err(said("prepare an insert"))?;
            for record in records {
                insert.execute((self.number, &record[..])).map_err(said("insert"))?;
                self.number += 1;
            }
        }
        transaction.commit().map_err(said("commit"))
    }

    fn held(self: Box<Self>, folder: &Path) -> Result<Option<u64>, String> {
        drop(self);
        let connection = Connection::open(folder.join("db")).map_err(said("open again"))?;
        let count = connection.query_row("SELECT COUNT(*) FROM records", (), |row| row.get::<_, i64>(0));
        count.map(|held| Some(held as u64)).map_err(said("count"))
    }
}
