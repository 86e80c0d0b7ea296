#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
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
mod repair;
mod schema;
mod script;
mod server;
mod store;
mod token_store;
mod upkeep;

#[cfg(feature = "test-clock")]
pub use config::Moved;
pub use config::{Eviction, Login, RedisBuilder};
pub use server::RedisServer;
pub use store::RedisStore;
