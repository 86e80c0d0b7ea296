//! A complete backend: every part of storagebox in one file of the embedded key-value store `redb`.
//!
//! Each promise is one write transaction, which redb gives to one writer at a time. `docs/GUIDE.md` walks through this
//! crate; `cargo test` certifies it. [`wrong`] is the same backend with one mistake, and a test shows that the suite
//! refuses it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod client;
mod counter;
mod dedup_repo;
mod error;
mod item_bank;
mod lease_repo;
mod ordered_store;
mod records;
mod space;
mod store;
mod time;
mod token_store;
mod void_calls;
pub mod wrong;

pub use store::RedbStore;
