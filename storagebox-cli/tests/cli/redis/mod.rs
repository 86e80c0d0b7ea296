//! The commands on a Redis server, as child processes.

mod hand_out;
mod keys;
mod ready;

pub(crate) use keys::Keys;
