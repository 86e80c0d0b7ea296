//! The template databases, from which the sides' databases are copied.

use storagebox::parts::Backend as _;
use storagebox::values::Namespace;
use storagebox_postgres::PostgresStore;

use super::cluster::Database;
use crate::error::Result;
use crate::rows::filled::{BANK, these};

pub(super) const PLAIN_ROWS: i64 = 100_000;
const LOADED_TOGETHER: usize = 1_000_000;

const PLAIN: &str = "
    CREATE TABLE plain (key bigint PRIMARY KEY, value bigint NOT NULL);
    INSERT INTO plain SELECT n, 0 FROM generate_series(0, 99999) n";

/// Creates the library's schema with a bank of this many items, and the table for the plain UPDATE statements.
pub(super) async fn fill(database: &Database, items: usize) -> Result<()> {
    let store = PostgresStore::connect(&database.url())?;
    store.setup().await?;
    let bank = store.item_bank(&Namespace::new(BANK)?)?;
    bank.counts().await?;
    for first in (0..items).step_by(LOADED_TOGETHER) {
        // Each call adds its items in the order of the table.
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
    fn plain_table_has_a_row_for_every_key_of_the_updates() {
        assert!(PLAIN.contains(&format!("generate_series(0, {})", PLAIN_ROWS - 1)));
    }
}
