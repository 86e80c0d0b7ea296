//! The commands on a DynamoDB table, as child processes that have keys in their environment alone.

mod articles;
mod bank;
mod boxes;
mod hand_out;
mod once;
mod ready;
mod table;
