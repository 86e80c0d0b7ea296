//! The commands on a SQLite file, as child processes.

mod file;
mod hand_out;
mod ready;

pub(crate) use file::File;
