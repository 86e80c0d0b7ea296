#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod article_tables;
mod candidates;
mod client;
mod clock;
mod config;
mod cost;
mod counter;
mod dedup_repo;
mod entity_ledger;
mod error;
mod item_bank;
mod lease_repo;
mod lock;
mod ordered_store;
mod page;
mod parts;
mod records;
mod row;
mod schema;
mod store;
mod token_store;
mod upkeep;

pub use article_tables::ArticleTables;
pub use config::{DynamoBuilder, ReadFirst, Regions};
pub use cost::{CounterCost, cost};
pub use parts::{Explained, PartOutcome, Parts};
pub use store::DynamoStore;
