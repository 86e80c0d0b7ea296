//! Transactions of callers where the suite is silent: how they end, what others are told meanwhile, and what is undone.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod ends;
mod others;
mod support;
mod undone;
mod waits;
