//! Every row. A backend adds its file here.

mod memory;
#[cfg(feature = "postgres")]
mod postgres;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    memory::rows().into_iter().chain(of_servers(slow)).collect()
}

#[cfg(feature = "postgres")]
fn of_servers(slow: bool) -> Vec<Row> {
    postgres::rows(slow)
}

#[cfg(not(feature = "postgres"))]
fn of_servers(_slow: bool) -> Vec<Row> {
    vec![]
}
