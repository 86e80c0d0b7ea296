//! The commands on a DynamoDB table, as child processes with credentials only in their environment.

mod articles;
mod hand_out;
mod ready;
mod table;

pub(crate) use table::Table;
