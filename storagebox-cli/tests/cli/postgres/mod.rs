//! The commands on a PostgreSQL server, as child processes of a role with the least rights.

mod bank;
mod database;
mod hand_out;
mod ready;

pub(crate) use database::Database;
