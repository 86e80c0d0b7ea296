//! Calls that change nothing leave no row.

use sqlx::{AssertSqlSafe, query_scalar};
use storagebox_core::Result;
use storagebox_testkit::workload::refusals::refused;

use crate::support::{Place, failed};

/// Returns the number of rows of each table.
async fn rows(place: &Place) -> Result<Vec<(String, i64)>> {
    let mut file = place.raw().await?;
    let tables = query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let tables: Vec<String> = tables.fetch_all(&mut file).await.map_err(failed)?;
    let mut rows = vec![];
    for table in tables {
        let count = query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {table}")));
        rows.push((table, count.fetch_one(&mut file).await.map_err(failed)?));
    }
    Ok(rows)
}

#[tokio::test]
async fn a_refused_call_leaves_no_row() -> Result<()> {
    let place = Place::ready().await?;
    let store = place.store()?;
    refused(&store, "first").await?;
    let before = rows(&place).await?;
    refused(&store, "second").await?;
    assert_eq!(rows(&place).await?, before);
    Ok(())
}
