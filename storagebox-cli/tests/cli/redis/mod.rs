//! The commands on a Redis server, as child processes.

mod bank;
mod boxes;
mod hand_out;
mod keys;
mod once;
mod ready;
