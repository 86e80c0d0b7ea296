//! The commands on a Redis server, as child processes.

mod bank;
mod hand_out;
mod keys;
mod namespaces;
mod once;
mod ready;
