//! Every row. A backend adds its file here.

#[cfg(feature = "dynamo")]
mod dynamo;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "dynamo", feature = "postgres"))]
mod side;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    memory::rows().into_iter().chain(of_postgres(slow)).chain(of_dynamo()).collect()
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
