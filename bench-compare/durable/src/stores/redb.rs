//! redb: a B-tree with transactions.

use std::path::Path;

use redb::{Database, ReadableTableMetadata as _, TableDefinition};

use super::{Facts, RECORD_BYTES, Record, Store, said};

pub(crate) const FACTS: Facts = Facts {
    name: "redb",
    version: "2.6.4",
    setup: "a write transaction a batch, `Durability::Immediate` (the default), ascending numbers as keys",
    open,
};

const TABLE: TableDefinition<u64, &[u8; RECORD_BYTES]> = TableDefinition::new("records");

fn open(folder: &Path) -> Result<Box<dyn Store>, String> {
    let database = Database::create(folder.join("db")).map_err(said("create"))?;
    Ok(Box::new(Tree { database, number: 0 }))
}

struct Tree {
    database: Database,
    number: u64,
}

impl Store for Tree {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        let transaction = self.database.begin_write().map_err(said("begin"))?;
        {
            let mut table = transaction.open_table(TABLE).map_err(said("open the table"))?;
            for record in records {
                table.insert(self.number, record).map_err(said("insert"))?;
                self.number += 1;
            }
        }
        transaction.commit().map_err(said("commit"))
    }

    fn held(self: Box<Self>, folder: &Path) -> Result<Option<u64>, String> {
        drop(self);
        let database = Database::open(folder.join("db")).map_err(said("open again"))?;
        let transaction = database.begin_read().map_err(said("begin"))?;
        let table = transaction.open_table(TABLE).map_err(said("open the table"))?;
        table.len().map(Some).map_err(said("count"))
    }
}
