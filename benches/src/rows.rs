//! Every row. A backend adds its file here.

#[cfg(feature = "dynamo")]
mod dynamo;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis", feature = "sqlite"))]
mod side;
#[cfg(feature = "sqlite")]
mod sqlite;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    let embedded = memory::rows().into_iter().chain(of_sqlite());
    embedded.chain(of_postgres(slow)).chain(of_dynamo()).chain(of_redis(slow)).collect()
}

#[cfg(feature = "sqlite")]
fn of_sqlite() -> Vec<Row> {
    sqlite::rows()
}

#[cfg(not(feature = "sqlite"))]
fn of_sqlite() -> Vec<Row> {
    vec![]
}

#[cfg(feature = "postgres")]
fn of_postgres(slow: bool) -> Vec<Row> {
    postgres::rows(slow)
}

#[cfg(not(feature = "postgres"))]
fn of_postgres(_slow: bool) -> Vec<Row> {
    vec![]
}

#[cfg(feature = "dynamo")]
fn of_dynamo() -> Vec<Row> {
    dynamo::rows()
}

#[cfg(not(feature = "dynamo"))]
fn of_dynamo() -> Vec<Row> {
    vec![]
}

#[cfg(feature = "redis")]
fn of_redis(slow: bool) -> Vec<Row> {
    redis::rows(slow)
}

#[cfg(not(feature = "redis"))]
fn of_redis(_slow: bool) -> Vec<Row> {
    vec![]
}
