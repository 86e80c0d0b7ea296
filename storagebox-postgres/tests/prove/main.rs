//! The long checks: `cargo xtask prove postgres` runs them one after another, and each check prints one line about its
//! result.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod cuts;
mod drained;
mod joined;
mod kills;
#[path = "../backend/purchases.rs"]
mod purchases;
mod python;
#[allow(dead_code, unused_imports, reason = "the other tests wait in more ways")]
#[path = "../backend/scene.rs"]
mod scene;
mod stress;
#[path = "../support/mod.rs"]
mod support;
mod upkeep;
