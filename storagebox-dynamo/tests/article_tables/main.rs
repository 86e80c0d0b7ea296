//! The promises of this library on the two tables of article 1's Python package, without the package.
//!
//! `cargo xtask prove dynamo` runs the package itself at the same time.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod crowd;
mod edges;
mod losses;
mod python_faults;
mod rights;
mod scene;
#[path = "../support/mod.rs"]
mod support;
