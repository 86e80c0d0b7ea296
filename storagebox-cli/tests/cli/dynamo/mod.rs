//! The commands on a DynamoDB table, as child processes that have keys in their environment alone.

mod articles;
mod bank;
mod hand_out;
mod namespaces;
mod once;
mod ready;
mod table;
