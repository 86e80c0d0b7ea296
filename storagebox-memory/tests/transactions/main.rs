//! Transactions of callers, where the suite has no cases: how they end, what other callers see, and what a rollback
//! undoes.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod ends;
mod others;
mod support;
mod undone;
mod waits;
