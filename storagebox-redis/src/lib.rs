#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod client;
mod config;
mod counter;
mod dedup_repo;
mod entity_ledger;
mod error;
mod item_bank;
mod lease_repo;
mod ordered_store;
mod page;
mod schema;
mod script;
mod store;
mod token_store;
mod turns;
mod upkeep;

#[cfg(feature = "test-clock")]
pub use config::Moved;
pub use config::{Eviction, Login, RedisBuilder};
pub use store::RedisStore;
