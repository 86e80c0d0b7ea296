//! Every row. A backend adds its file here.

mod memory;
#[cfg(feature = "postgres")]
mod postgres;

use crate::row::Row;

/// With `slow`, banks are as large as the targets say, which takes minutes to load.
pub(crate) fn all(slow: bool) -> Vec<Row> {
    let mut rows = memory::rows();
    #[cfg(feature = "postgres")]
    rows.extend(postgres::rows(slow));
    #[cfg(not(feature = "postgres"))]
    let _memory_alone = slow;
    rows
}
