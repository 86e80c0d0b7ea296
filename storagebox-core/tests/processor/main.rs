//! The processor: what it answers, what its policies do, and how many steps of a store a message takes.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod abandoned;
mod edges;
mod endpoint;
mod policies;
mod trips;
