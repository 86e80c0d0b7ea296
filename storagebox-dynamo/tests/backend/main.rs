//! Promises of this backend beyond the suite: its setup, rights, cost, errors and limits.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod asleep;
mod backups;
mod claims;
mod corruption;
mod cost;
mod counters;
mod counts;
mod entities;
#[cfg(unix)]
mod environment;
mod fakes;
mod hostile;
mod ledgers;
mod left;
mod lost;
mod memory;
mod metered;
mod mixed;
mod namespaces;
mod outside;
mod parts;
mod readme;
mod refusals;
mod regions;
mod reuse;
mod rights;
mod scene;
mod secrets;
mod setup;
mod spread;
mod strategies;
#[path = "../support/mod.rs"]
mod support;
mod templates;
mod traces;
mod urls;
mod void_calls;
mod workload;
