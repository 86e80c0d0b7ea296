//! The template that the sides' databases are copied from.

use storagebox::parts::Backend as _;
use storagebox::values::Namespace;
use storagebox_postgres::PostgresStore;

use super::cluster::Database;
use crate::error::Result;
use crate::rows::filled::{BANK, these};

/// The number of rows in the table of the plain UPDATE.
pub(super) const PLAIN_ROWS: i64 = 100_000;
/// The number of items that one call of `add` brings into the order of the table.
const LOADED_TOGETHER: usize = 1_000_000;

/// The table of the plain UPDATE.
const PLAIN: &str = "
    CREATE TABLE plain (key bigint PRIMARY KEY, value bigint NOT NULL);
    INSERT INTO plain SELECT n, 0 FROM generate_series(0, 99999) n";

/// Creates the library's schema with a bank of this many items, loaded by the library, and the table of the plain
/// UPDATE.
pub(super) async fn fill(database: &Database, items: usize) -> Result<()> {
    let store = PostgresStore::connect(&database.url())?;
    store.setup().await?;
    let bank = store.item_bank(&Namespace::new(BANK)?)?;
    bank.counts().await?;
    for first in (0..items).step_by(LOADED_TOGETHER) {
        bank.add(&these(first..items.min(first + LOADED_TOGETHER))?).await?;
    }
    store.close().await?;
    database.run(PLAIN).await?;
    database.run("VACUUM ANALYZE plain, storagebox.free_items").await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_table_has_as_many_rows_as_are_updated() {
        assert!(PLAIN.contains(&format!("generate_series(0, {})", PLAIN_ROWS - 1)));
    }
}
