//! Every row. A backend adds its file here.

#[cfg(feature = "dynamo")]
mod dynamo;
mod filled;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
mod side;
#[cfg(feature = "sqlite")]
mod sqlite;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    let embedded = memory::rows().into_iter().chain(of_sqlite());
    embedded.chain(of_postgres(slow)).chain(of_dynamo()).chain(of_redis(slow)).collect()
}

/// The rows of which calls are counted: a `take` by a handle of the default policy, and the floor.
pub(crate) fn counted() -> Vec<Row> {
    vec![
        memory::counted(),
        #[cfg(feature = "sqlite")]
        sqlite::counted(),
        #[cfg(feature = "postgres")]
        postgres::counted(),
        #[cfg(feature = "redis")]
        redis::counted(),
        #[cfg(feature = "dynamo")]
        dynamo::counted(),
    ]
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
