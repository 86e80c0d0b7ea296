//! Combining: no call waits without need, and no call suffers from another.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod batches;
mod bench;
mod left;
mod overload;
mod patience;
