//! Changes of one hot counter.

use std::sync::Arc;

use storagebox::values::{Key, Namespace};
use storagebox::{
    Counted, OpId, Strategy,
    parts::{Backend as _, Change, Counter},
};
use storagebox_postgres::PostgresStore;

use super::cluster::Database;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::side::{Caller, ids, prepared};

pub(super) struct Hot {
    counter: Arc<dyn Counter>,
    _database: Database,
}

impl Hot {
    pub(super) fn new(database: Database, strategy: Strategy) -> Result<Self> {
        let counter = PostgresStore::connect(&database.url())?.counter(&Namespace::new("hot")?, strategy)?;
        Ok(Self { counter, _database: database })
    }

    pub(super) fn changes(&self, load: Load) -> Result<Prepared> {
        let change = |id: String| Ok(Change::new(OpId::new(id)?, 1));
        let changes = ids(load).map(change).collect::<Result<_>>()?;
        Ok(prepared(load, Changes { counter: Arc::clone(&self.counter), key: Key::new("hot")? }, changes))
    }
}

struct Changes {
    counter: Arc<dyn Counter>,
    key: Key,
}

impl Caller for Changes {
    type Argument = Change;

    async fn call(&self, change: &Change) -> Result<()> {
        match self.counter.apply(&self.key, change).await? {
            Counted::Applied { .. } => Ok(()),
            other => Err(Failure::NoWork { answer: format!("{other:?}") }),
        }
    }
}
