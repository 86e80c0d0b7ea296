//! A bank from which most items were taken, and whose dead rows are not vacuumed.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Executor, query, raw_sql};

use super::bank::number;
use super::client::Client;
use super::cluster::Database;
use crate::error::Result;

/// Takes 512 items with successive hashes, without the library. A cursor of the library takes as many items before it
/// moves to a random hash.
const WALK: &str = "
    WITH picked AS (
        DELETE FROM storagebox.free_items f WHERE f.ctid = ANY (ARRAY(
            SELECT i.ctid FROM storagebox.free_items i WHERE i.bank = $1 AND i.h >= $2 ORDER BY i.h LIMIT 512
        )) RETURNING f.h, f.item
    )
    INSERT INTO storagebox.claims (bank, claim, state, h, item) SELECT $1, 'early-' || p.item, 'held', p.h, p.item FROM picked p";

/// Opens a transaction whose snapshot prevents the removal of rows that are deleted later.
pub(super) async fn snapshot(database: &Database) -> Result<PgConnection> {
    let mut session = database.options()?.connect().await?;
    session
        .execute(raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM storagebox.namespaces"))
        .await?;
    Ok(session)
}

pub(super) async fn take(database: &Database, items: u64) -> Result<()> {
    let off = "ALTER TABLE storagebox.free_items SET (autovacuum_enabled = off);
        ALTER TABLE storagebox.claims SET (autovacuum_enabled = off)";
    database.run(off).await?;
    let (client, number) = (Client::new(database.options()?)?, number(database).await?);
    let mut connection = client.connection().await?;
    let mut random = fastrand::Rng::with_seed(1);
    let mut taken = 0;
    while taken < items {
        let walk = query(WALK).bind(number).bind(random.i64(..)).execute(&mut *connection).await?;
        taken += walk.rows_affected();
    }
    Ok(())
}
