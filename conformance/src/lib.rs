#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod any_text;
mod case;
mod certificate;
mod clauses;
mod counter;
mod decisions;
mod dedup;
mod deduplicator;
mod embedded;
mod ends;
mod entities;
mod errors;
mod failure;
mod handled;
mod harness;
mod held_up;
pub mod history;
mod item_bank;
mod kind;
mod lasting;
mod lesson;
mod link;
mod mistakes;
mod model;
mod neighbour;
mod options;
mod ordered;
mod pages;
mod part;
mod pause;
mod program;
mod progress;
mod proxy;
mod race;
mod repeatable;
mod runner;
mod server;
mod stop;
mod store;
mod suite;
mod tokens;
mod transactions;
mod values;
mod world;

pub use any_text::keeps_text;
pub use case::Case;
pub use certificate::{Certificate, End, Entry, Judgement, LEVELS};
pub use clauses::{CLAUSES, Clause, table};
pub use decisions::decisions;
pub use embedded::{Embedded, listed};
pub use failure::{Failure, FailureKind};
pub use harness::{CallerTransaction, Declared, Harness, Restart, Sandbox, TestClock, connected};
pub use link::{Fate, Link};
pub use mistakes::{MISTAKES, Mistake};
pub use neighbour::neighbour;
pub use options::Options;
pub use part::{Family, Part};
pub use program::{certify, run, run_with};
pub use proxy::{Cut, Proxy};
pub use runner::{Outcome, Runner};
pub use server::Server;
pub use stop::Stop;
pub use suite::{Selection, cases};
pub use world::{Profile, World};
