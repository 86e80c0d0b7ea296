//! The promises of this backend beyond the suite: the cost of a call, its demands on a server, its errors and its
//! limits.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod corruption;
mod credentials;
mod entities;
mod errors;
mod hostile;
mod idle;
mod left;
mod losses;
mod numbers;
mod outside;
mod pieces;
mod promotions;
mod queue;
mod readme;
mod resharding;
mod rights;
mod round_trips;
mod scene;
mod scripts;
mod secrets;
mod setup;
mod silent;
mod structure;
#[path = "../support/mod.rs"]
mod support;
mod tls;
mod traces;
mod upkeep;
mod urls;
mod void_calls;
