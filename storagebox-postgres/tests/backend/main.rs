//! What this backend promises beyond the suite: the cost of a call, its setup, its pools, its errors and its limits.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod batches;
mod beside;
mod cells;
mod clock;
mod damage;
mod drained;
mod dropping;
mod ended;
mod entities;
mod epochs;
mod errors;
mod hints;
mod hostile;
mod impostor;
mod interface;
mod intruder;
mod left;
mod limits;
mod locked;
mod memory;
mod numbers;
mod orders;
mod outside;
mod patience;
mod pooler;
mod pools;
mod refusals;
mod rights;
mod round_trips;
mod rows;
mod scene;
mod secrets;
mod setup;
mod standby;
mod structure;
#[path = "../support/mod.rs"]
mod support;
mod timeouts;
mod tls;
mod traces;
mod upgrade;
mod upkeep;
mod urls;
mod void_calls;
mod waiting;
