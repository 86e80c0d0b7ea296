//! The commands on a SQLite file, as child processes.

mod bank;
mod boxes;
mod file;
mod hand_out;
mod once;
mod ready;
