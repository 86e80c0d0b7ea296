//! A bank of which most was taken, and whose dead rows nobody cleans away.

use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions, Executor, query_scalar, raw_sql};

use super::bank::number;
use super::client::Client;
use super::cluster::Database;
use crate::error::Result;

/// As far as a taker walks before it begins anew somewhere else.
const WALK: i64 = 512;

/// A transaction in another session whose snapshot keeps every row that is deleted from now on.
pub(super) async fn snapshot(database: &Database) -> Result<PgConnection> {
    let mut session = database.options()?.connect().await?;
    session
        .execute(raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM storagebox.boxes"))
        .await?;
    Ok(session)
}

/// Turns cleaning off and takes this many items, walk by walk from random places, as takers do.
pub(super) async fn take(database: &Database, items: i64) -> Result<()> {
    let off = "ALTER TABLE storagebox.free_items SET (autovacuum_enabled = off);
        ALTER TABLE storagebox.claims SET (autovacuum_enabled = off)";
    database.run(off).await?;
    let (client, number) = (Client::new(database.options()?)?, number(database).await?);
    let mut connection = client.connection().await?;
    let mut random = fastrand::Rng::with_seed(1);
    let (mut taken, mut asked) = (0, 0);
    while taken < items {
        let walk = "SELECT coalesce(cardinality(items), 0)::bigint FROM storagebox.bank_take_many(
            $1, ARRAY(SELECT 'early-' || n FROM generate_series($2 + 1, $2 + $3) n), array_fill(NULL::bigint, ARRAY[$3::integer]), $4)";
        let walk = query_scalar(walk).bind(number).bind(asked).bind(WALK).bind(random.i64(..));
        let got: i64 = walk.fetch_one(&mut *connection).await?;
        taken += got;
        asked += WALK;
    }
    Ok(())
}
