//! The long checks. `cargo xtask prove dynamo` runs them one after another, and each reports its work in one line.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod confirmed;
mod interleaved;
mod mixed;
mod parts;
mod reuse;
#[path = "../backend/scene.rs"]
#[allow(dead_code, reason = "a part of it")]
mod scene;
#[path = "../support/mod.rs"]
mod support;
