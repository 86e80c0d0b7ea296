//! The memory store with faults, for tests of what a command makes of them.

mod bank;
mod store;

pub(super) use bank::{Fault, FaultyBank};
pub(super) use store::FaultyStore;
