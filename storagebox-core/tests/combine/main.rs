//! Combining: no call waits without need, and a slow or failed call does not harm other calls.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod batches;
mod bench;
mod left;
mod overload;
mod patience;
