//! What this backend promises beyond the suite: the cost of a call, its setup, its pools, its errors and its limits.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod batches;
mod cells;
mod clock;
mod damage;
mod drained;
mod dropping;
mod entities;
mod epochs;
mod errors;
mod hints;
mod hostile;
mod impostor;
mod intruder;
mod left;
mod locked;
mod memory;
mod orders;
mod outside;
mod patience;
mod pooler;
mod pools;
mod rights;
mod round_trips;
mod rows;
mod scene;
mod secrets;
mod setup;
mod structure;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod traces;
mod upgrade;
mod upkeep;
mod urls;
mod waiting;
