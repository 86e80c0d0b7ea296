//! The commands on a SQLite file, as child processes.

mod bank;
mod file;
mod hand_out;
mod namespaces;
mod once;
mod ready;
