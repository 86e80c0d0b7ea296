//! The long checks. `cargo xtask prove redis` runs them one after another, and each reports its work in one line.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod cuts;
mod failover;
mod flushes;
mod kills;
mod memory;
mod pieces;
mod resharding;
mod rights;
#[allow(dead_code, unused_imports, reason = "the other tests wait in more ways")]
#[path = "../backend/scene.rs"]
mod scene;
mod stress;
#[path = "../support/mod.rs"]
mod support;
mod upkeep;
