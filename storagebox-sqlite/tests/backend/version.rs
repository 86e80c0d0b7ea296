//! The linked SQLite. Versions before 3.51.3 can lose committed changes when they restart a write-ahead log.

use sqlx::query_scalar;
use storagebox_core::Result;

use crate::support::{Place, failed};

#[tokio::test]
async fn the_bundled_sqlite_is_at_least_the_oldest_supported() -> Result<()> {
    let place = Place::ready().await?;
    let found: String =
        query_scalar("SELECT sqlite_version()").fetch_one(&mut place.raw().await?).await.map_err(failed)?;
    let parts: Vec<u32> = found.split('.').map(|part| part.parse().unwrap()).collect();
    assert!(parts >= vec![3, 51, 3], "{found}");
    Ok(())
}
