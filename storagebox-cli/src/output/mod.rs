//! What commands write: files that appear whole or not at all, and never in the place of what must stay.

mod csv;
mod place;
mod reserved;
#[cfg(unix)]
mod rights;
mod row;
mod sqlite;
mod target;
mod temporary;
#[cfg(test)]
mod tests;

pub(crate) use csv::PendingCsv;
pub(crate) use reserved::Reserved;
pub(crate) use row::{csv_to, quoted};
pub(crate) use target::Target;
