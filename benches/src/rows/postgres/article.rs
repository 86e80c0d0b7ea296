//! Article 1's algorithm: fetch 30 candidates and shuffle them, delete one after another until a delete removes a row,
//! then record that item.

use fastrand::Rng;
use sqlx::{query, query_as};

use super::client::Client;
use crate::error::{Failure, Result};
use crate::row::{Load, Prepared};
use crate::rows::side::{Caller, ids, prepared, scattered};

/// Creates the two tables of article 1 and fills one with the items of the bank.
pub(super) const TABLES: &str = "
    CREATE TABLE article_items AS SELECT h, item FROM storagebox.free_items ORDER BY h, item;
    ALTER TABLE article_items ADD PRIMARY KEY (h, item);
    CREATE TABLE article_given (id text COLLATE \"C\" PRIMARY KEY, item text COLLATE \"C\" NOT NULL)";

const FETCH: &str = "SELECT h, item FROM article_items WHERE h >= $1 ORDER BY h LIMIT 30";
const DELETE: &str = "DELETE FROM article_items WHERE h = $1 AND item = $2";
const RECORD: &str = "INSERT INTO article_given VALUES ($1, $2)";

struct Article(Client);

impl Caller for Article {
    /// An id, and the hash at which the search for an item begins.
    type Argument = (String, i64);

    async fn call(&self, (id, place): &(String, i64)) -> Result<()> {
        let mut connection = self.0.connection().await?;
        let mut candidates: Vec<(i64, String)> = query_as(FETCH).bind(place).fetch_all(&mut *connection).await?;
        Rng::with_seed(*place as u64).shuffle(&mut candidates);
        for (h, item) in candidates {
            let deleted = query(DELETE).bind(h).bind(&item).execute(&mut *connection).await?;
            if deleted.rows_affected() == 1 {
                query(RECORD).bind(id).bind(&item).execute(&mut *connection).await?;
                return Ok(());
            }
        }
        Err(Failure::NotNew { answer: "no candidate was left".to_owned() })
    }
}

pub(super) fn takes(client: &Client, load: Load) -> Prepared {
    // A search that begins in the last thirtieth of all places may find too few candidates.
    // The article's algorithm begins at the head of the table. Here each search begins at a random place, because the
    // dead rows at the head would distort the measurement.
    let places = scattered(load).map(|number| (number as i64).min(i64::MAX - i64::MAX / 30));
    prepared(load, Article(client.clone()), ids(load).zip(places).collect())
}
