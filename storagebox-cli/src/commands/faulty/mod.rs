//! Stores with faults: at random for a demo, and of one sort for tests of what a command makes of them.

#[cfg(test)]
mod bank;
mod chance;
#[cfg(test)]
mod store;

#[cfg(test)]
pub(super) use bank::{Fault, FaultyBank};
pub(super) use chance::{Chance, Faults};
#[cfg(test)]
pub(crate) use store::FaultyStore;
