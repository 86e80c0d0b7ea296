//! Upkeep of deleted entities that are no longer remembered.
//!
//! The row of an entity does not show its entries, so the time to live must not delete the row. Upkeep reads both. A
//! commit between that read and the deletion changes the version, and then the row is not deleted.

use std::sync::Arc;

use storagebox_core::{Key, Namespace, Result};

use super::{ENTRIES, Entities};
use crate::client::{Client, Index, Kind, OpenNamespace, Partition, Query, Write};
use crate::row::Row;

/// The condition that the row is of an entity without a state, and that its last commit is no longer remembered.
pub(crate) const FORGOTTEN: &str = "z <= :past AND attribute_not_exists(v)";
/// The filter of entries, and of removed entries that are still remembered.
const REMEMBERED: &str = "attribute_not_exists(s) OR attribute_not_exists(g) OR g > :past";

impl Entities {
    pub(crate) fn for_upkeep(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Entities, name).of_any_memory() }
    }

    /// Returns the namespace and the key of an entity's row; `None` for any other row.
    pub(crate) fn of(row: &Row, client: &Client) -> Option<(Namespace, Key)> {
        let (name, key) = Partition::parse(client, row.text("pk")?)?.within(Kind::Entities, "entity")?;
        Some((name, Key::new(key).ok()?))
    }

    /// Deletes the row of an entity without entries and remembered removals. Returns whether the row was deleted.
    pub(crate) async fn forgotten(&self, key: &Key, row: &Row) -> Result<bool> {
        // A damaged row must not stop upkeep of the other rows. The call that needs the row reports it.
        let Some(version) = row.times("n") else { return Ok(false) };
        let (client, past) = (self.client(), self.client().surely_past().0);
        if client.settle("maintain", || self.has_entries(key, past)).await? {
            return Ok(false);
        }
        let delete = Write::delete(&row.key()?).only_if(format!("{FORGOTTEN} AND n = :version"));
        client.deleted("maintain", &delete.value(":past", past).value(":version", version)).await
    }

    /// Returns whether the entity may have an entry or a remembered removal. Reads only one page of rows, and
    /// returns `true` if there are more.
    async fn has_entries(&self, key: &Key, past: i64) -> Result<bool> {
        let partition = self.open.key_of(ENTRIES, key.as_str()).await?.partition;
        let query = Query::of(&partition, Index::Table).only("sk").filter(REMEMBERED).value(":past", past);
        let query = query.and("begins_with(sk, :group)").value(":group", super::group(key));
        let page = self.client().query(&query).await?;
        Ok(!page.rows.is_empty() || page.next.is_some())
    }
}
