//! Futures that are dropped while they wait: with every pool, the next call gets the right answer, and its effect
//! stays.

use sqlx::postgres::PgPoolOptions;
use storagebox_conformance::Proxy;
use storagebox_core::Result;
use storagebox_postgres::PostgresStore;
use storagebox_testkit::checks::dropping::{Clients, Dropped};

use crate::scene::with_place;
use crate::support::{Place, failed};

const CALLS: [Dropped; 5] = [Dropped::Take, Dropped::Record, Dropped::Apply, Dropped::Create, Dropped::Setup];

/// Makes each call repeatedly, and drops the call at another point each time. The ids begin with `name`.
async fn drop_everywhere(place: &Place, name: &str, old: &PostgresStore) -> Result<()> {
    let fresh = place.builder()?.connect(&place.database.url())?;
    Clients { name, old, fresh: &fresh }.drop_everywhere(&CALLS).await
}

#[test]
fn a_dropped_call_leaves_the_pool_of_the_store_usable() -> Result<()> {
    with_place(async |place| {
        for combining in [true, false] {
            let builder = place.builder()?.max_connections(1).combining(combining);
            // The proxy runs on this thread and answers only while this task waits, so every call does wait.
            let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
            let old = builder.connect(&place.url_at(proxy.addr()))?;
            drop_everywhere(place, &format!("{combining}"), &old).await?;
        }
        Ok(())
    })
}

#[test]
fn a_dropped_call_leaves_a_pool_of_the_caller_usable() -> Result<()> {
    with_place(async |place| {
        let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
        let proxy = Proxy::start(place.database.server()).await.map_err(failed)?;
        let pool = pool.connect(&place.url_at(proxy.addr())).await.map_err(failed)?;
        drop_everywhere(place, "handed in", &place.builder()?.combining(false).from_pool(pool)?).await
    })
}
