//! Every row. A backend adds its file here.

#[cfg(feature = "dynamo")]
mod dynamo;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "dynamo", feature = "postgres", feature = "redis"))]
mod side;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    memory::rows().into_iter().chain(of_postgres(slow)).chain(of_dynamo()).chain(of_redis(slow)).collect()
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
