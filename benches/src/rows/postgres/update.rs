//! Plain UPDATEs of rows by their keys, or always of the same row.

use sqlx::query;

use super::client::Client;
use super::template::PLAIN_ROWS;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::side::{Caller, prepared, scattered};

struct Updates(Client);

impl Caller for Updates {
    type Argument = i64;

    async fn call(&self, key: &i64) -> Result<()> {
        let update = query("UPDATE plain SET value = value + 1 WHERE key = $1").bind(key);
        let mut connection = self.0.connection().await?;
        match update.execute(&mut *connection).await?.rows_affected() {
            1 => Ok(()),
            other => Err(Failure::NoWork { answer: format!("{other} rows") }),
        }
    }
}

/// Prepares updates of rows in random order.
pub(super) fn by_key(client: &Client, load: Load) -> Prepared {
    let keys = scattered(load).map(|number| (number >> 32) as i64 % PLAIN_ROWS);
    prepared(load, Updates(client.clone()), keys.collect())
}

pub(super) fn hot(client: &Client, load: Load) -> Prepared {
    prepared(load, Updates(client.clone()), vec![0; load.calls])
}
