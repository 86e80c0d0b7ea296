//! The contract: the trait of each part with its outcomes, and the trait of a backend.

pub(crate) mod backend;
pub(crate) mod counter;
pub(crate) mod dedup_repo;
pub(crate) mod entity_ledger;
pub(crate) mod item_bank;
pub(crate) mod lease_repo;
pub(crate) mod ledger;
pub(crate) mod ordered_store;
pub(crate) mod promises;
pub(crate) mod strategy;
pub(crate) mod token_store;
