//! Entities that are deleted, once they need not be remembered any more.
//!
//! An entity's own row does not know its entries, so no time to live may delete it: upkeep looks at both. A commit that
//! comes between that look and the deletion makes another version.

use std::sync::Arc;

use storagebox_core::{Key, Namespace, Result};

use super::{ENTRIES, Entities};
use crate::client::{Client, Index, Kind, Look, OpenNamespace, Write, within};
use crate::row::{Row, RowKey};

/// The row is of an entity without a state, whose last commit need not be remembered.
pub(crate) const FORGOTTEN: &str = "z <= :past AND attribute_not_exists(v)";
/// The row is of an entry, or of one that was removed and is remembered.
const REMEMBERED: &str = "attribute_not_exists(s) OR attribute_not_exists(g) OR g > :past";

impl Entities {
    pub(crate) fn for_upkeep(client: &Arc<Client>, name: &Namespace) -> Self {
        Self { open: OpenNamespace::new(client, Kind::Entities, name).of_any_memory() }
    }

    /// The entity whose own row it is, and its namespace.
    pub(crate) fn of(row: &Row, client: &Client) -> Option<(Namespace, Key)> {
        let (name, key) = within(Kind::Entities, client, row.text("pk")?, "entity")?;
        Some((name, Key::new(key).ok()?))
    }

    /// Deletes the entity's row, if the entity has no entry and had none for as long as it is remembered.
    pub(crate) async fn forgotten(&self, key: &Key, row: &Row) -> Result<bool> {
        // A damaged row is reported to the call that needs it. It must not keep upkeep from the other rows.
        let Some(version) = row.times("n") else { return Ok(false) };
        let (client, past) = (self.client(), self.client().surely_past().0);
        if client.settled("maintain", || self.has_entries(key, past)).await? {
            return Ok(false);
        }
        let own = RowKey::new(row.needed("pk", row.text("pk"))?, row.sort()?);
        let delete = Write::delete(&own).only_if(format!("{FORGOTTEN} AND n = :version"));
        client.deleted("maintain", &delete.value(":past", past).value(":version", version)).await
    }

    /// A page that does not reach the end may have one.
    async fn has_entries(&self, key: &Key, past: i64) -> Result<bool> {
        let look = Look::at(&self.open.partition_of(ENTRIES, key.as_str()).await?, Index::Table);
        let look = look.and("begins_with(sk, :group)").value(":group", super::group(key)).only("sk");
        let answers = self.client().query(&look.filter(REMEMBERED).value(":past", past)).await?;
        Ok(!answers.rows.is_empty() || answers.next.is_some())
    }
}
