//! Combining: nobody waits without need, and nobody suffers for a neighbour.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod batches;
mod bench;
mod left;
mod overload;
mod patience;
