//! The processor: its outcomes, its policies, and the number of store calls per message.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod abandoned;
mod edges;
mod endpoint;
mod policies;
mod trips;
