//! The commands on a DynamoDB table, as child processes that have keys in their environment alone.

mod articles;
mod hand_out;
mod ready;
mod table;

pub(crate) use table::Table;
