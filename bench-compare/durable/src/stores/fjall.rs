//! fjall: a log-structured tree.

use std::path::Path;

use fjall::{Config, Keyspace, PartitionCreateOptions, PartitionHandle, PersistMode};

use super::{Facts, Record, Store, said};

pub(crate) const FACTS: Facts = Facts {
    name: "fjall",
    version: "2.11.2",
    setup: "a batch a batch with `PersistMode::SyncData`, ascending numbers as keys, other settings as they are",
    open,
};

fn open(folder: &Path) -> Result<Box<dyn Store>, String> {
    Tree::open(folder).map(|tree| Box::new(tree) as Box<dyn Store>)
}

struct Tree {
    keyspace: Keyspace,
    records: PartitionHandle,
    number: u64,
}

impl Tree {
    fn open(folder: &Path) -> Result<Tree, String> {
        let keyspace = Config::new(folder.join("tree")).open().map_err(said("open"))?;
        let options = PartitionCreateOptions::default();
        let records = keyspace.open_partition("records", options).map_err(said("open the partition"))?;
        Ok(Tree { keyspace, records, number: 0 })
    }
}

impl Store for Tree {
    fn put(&mut self, records: &[Record]) -> Result<(), String> {
        let mut batch = self.keyspace.batch().durability(Some(PersistMode::SyncData));
        for record in records {
            batch.insert(&self.records, self.number.to_be_bytes(), record);
            self.number += 1;
        }
        batch.commit().map_err(said("commit"))
    }

    fn held(self: Box<Self>, folder: &Path) -> Result<Option<u64>, String> {
        drop(self);
        let tree = Tree::open(folder)?;
        tree.records.len().map(|held| Some(held as u64)).map_err(said("count"))
    }
}
