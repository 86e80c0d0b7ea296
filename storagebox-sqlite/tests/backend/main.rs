//! Promises of this backend beyond the suite: the cost of calls, the checks of the file, and how calls wait.
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod costs;
mod dropping;
mod entities;
mod files;
mod handed_in;
mod hostile;
mod joined;
mod left;
mod looking;
mod numbers;
mod outside;
#[cfg(unix)]
mod paths;
mod replaced;
mod rows;
mod setup;
#[path = "../support/mod.rs"]
mod support;
mod traces;
mod unfit;
mod urls;
mod version;
mod waiting;
