//! The real binary, on real files.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

mod hand_out;
mod rejects;
mod support;
mod usage;
