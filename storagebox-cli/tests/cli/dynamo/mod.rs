//! The commands on a DynamoDB table, as child processes that have keys in their environment alone.

mod bank;
mod hand_out;
mod ready;
mod table;
