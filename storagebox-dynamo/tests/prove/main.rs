//! The long checks: `cargo xtask prove dynamo` runs them, one after another, and each says in one line what it did.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod confirmed;
mod interleaved;
mod mixed;
mod reuse;
#[path = "../backend/scene.rs"]
#[allow(dead_code, reason = "a part of it")]
mod scene;
#[path = "../support/mod.rs"]
mod support;
