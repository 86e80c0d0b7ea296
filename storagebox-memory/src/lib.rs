#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![doc(test(attr(deny(warnings))))]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::disallowed_methods))]
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod clock;
mod config;
mod counter;
mod dedup_repo;
mod entity_ledger;
mod item_bank;
mod lease_repo;
mod ordered_store;
mod records;
mod store;
mod striped;
mod token_store;
mod transaction;

pub use clock::TokioClock;
pub use config::MemoryBuilder;
pub use item_bank::MemoryBank;
pub use store::MemoryStore;
pub use transaction::MemoryTransaction;
