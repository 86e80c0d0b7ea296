#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod any_text;
mod case;
mod clauses;
mod counter;
mod dedup;
mod deduplicator;
mod errors;
mod failure;
mod handled;
mod harness;
pub mod history;
mod item_bank;
mod link;
mod mistakes;
mod model;
mod ordered;
mod progress;
mod proxy;
mod race;
mod repeatable;
mod report;
mod runner;
mod store;
mod suite;
mod tokens;
mod values;
mod world;

pub use any_text::keeps_text;
pub use case::{Case, Family, Part};
pub use clauses::{CLAUSES, Clause, table};
pub use failure::Failure;
pub use harness::{Declared, Harness, Restart, Sandbox, TestClock};
pub use link::{Fate, Link};
pub use mistakes::{MISTAKES, Mistake};
pub use proxy::{Cut, Proxy};
pub use runner::{Outcome, Runner, run, run_with};
pub use suite::{Selection, cases};
pub use world::{Profile, World};
