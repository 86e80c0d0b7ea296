//! `assign`: deletes the item's row and puts the id's record in one transaction.

use std::sync::Arc;

use storagebox_core::{ClaimId, Held, HoldState, Item, Result, Taken};

use super::tables::{GIVEN, ID, ITEM, Tables, key};
use crate::candidates::Lent;
use crate::client::{Refusal, Tag, Transacted, Write};
use crate::row::{Attributes, Row, Value};

impl Tables {
    /// Gives the first free candidate to the id. If the id has a record, returns the record's item.
    pub(super) async fn assign(tables: &Arc<Self>, id: &ClaimId, tag: &Tag, since: u64) -> Result<Taken> {
        while let Some(lent) = tables.candidates.next(tables, since).await? {
            if let Some(taken) = tables.attempt(id, tag, lent).await? {
                return Ok(taken);
            }
        }
        let record = tables.record(id).await?;
        let known = record.map(|record| tables.recorded(&record, tag)).transpose()?;
        Ok(known.unwrap_or(Taken::Empty))
    }

    /// Tries to take a candidate. Returns `None` if another worker took the candidate first.
    async fn attempt(&self, id: &ClaimId, tag: &Tag, lent: Lent<'_, Item>) -> Result<Option<Taken>> {
        let item = lent.candidate().clone();
        match self.client().transact(&self.writes(id, &item, tag)).await? {
            Transacted::Done => {
                lent.spent();
                Ok(Some(Taken::New(for_good(item))))
            }
            Transacted::Refused(refusals) => self.refused(&refusals, tag, lent),
        }
    }

    fn writes(&self, id: &ClaimId, item: &Item, tag: &Tag) -> [Write; 2] {
        let record = Row::from(Attributes::from([
            (ID.to_owned(), id.as_str().value()),
            (GIVEN.to_owned(), item.as_str().value()),
        ]));
        let recorded = Write::put(record).in_table(self.records()).tagged(tag);
        let taken = Write::delete(key(item.as_str())).only_if("attribute_exists(#item)").name("#item", ITEM);
        [recorded.only_if("attribute_not_exists(#id)").name("#id", ID), taken]
    }

    /// Returns the outcome of the id's record; `None` if the id has no record.
    fn refused(&self, refusals: &[Refusal], tag: &Tag, lent: Lent<'_, Item>) -> Result<Option<Taken>> {
        if let Some(Refusal::Condition(Some(record))) = refusals.first() {
            return self.recorded(record, tag).map(Some);
        }
        lent.spent();
        Ok(None)
    }

    /// Returns the record's item: as `New` if this call wrote the record, and otherwise as `Again`.
    fn recorded(&self, record: &Row, tag: &Tag) -> Result<Taken> {
        let held = for_good(self.given_by(record)?);
        Ok(if tag.is_on(record) { Taken::New(held) } else { Taken::Again(held) })
    }
}

pub(super) fn for_good(item: Item) -> Held {
    Held { item, hold: HoldState::Forever }
}
