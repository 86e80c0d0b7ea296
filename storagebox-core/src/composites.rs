//! Code that uses only the traits, and so works with every backend.

pub(crate) mod deduplicator;
pub mod layer;
pub(crate) mod listing;
pub(crate) mod one_time_tokens;
pub(crate) mod processor;
pub(crate) mod run;
pub(crate) mod transaction;
