//! All rows. A backend adds its file here.

#[cfg(feature = "dynamo")]
mod dynamo;
mod filled;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod processor;
#[cfg(feature = "redis")]
mod redis;
mod side;
#[cfg(feature = "sqlite")]
mod sqlite;

use crate::row::Row;

/// Returns the rows of the table of times. With `slow`, banks are as large as in the targets, which takes minutes to
/// load.
#[cfg_attr(
    not(any(feature = "postgres", feature = "redis")),
    expect(unused_variables, reason = "only banks on those servers take so long")
)]
pub(crate) fn all(slow: bool) -> Vec<Row> {
    let parts = [
        memory::rows(),
        processor::rows(),
        #[cfg(feature = "sqlite")]
        sqlite::rows(),
        #[cfg(feature = "postgres")]
        postgres::rows(slow),
        #[cfg(feature = "dynamo")]
        dynamo::rows(),
        #[cfg(feature = "redis")]
        redis::rows(slow),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns the rows of the table of counts.
pub(crate) fn counted() -> Vec<Row> {
    let parts = [
        memory::counted(),
        #[cfg(feature = "sqlite")]
        sqlite::counted(),
        #[cfg(feature = "postgres")]
        postgres::counted(),
        #[cfg(feature = "redis")]
        redis::counted(),
        #[cfg(feature = "dynamo")]
        dynamo::counted(),
    ];
    parts.into_iter().flatten().collect()
}
