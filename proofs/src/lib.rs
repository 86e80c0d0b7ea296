//! The protocols of storagebox, explored in every interleaving, and its handles on bad networks.
//!
//! - `tests/deduplicator_model`: the protocol of the `Deduplicator`, as a model: 3 workers, crashes, late and doubled
//!   writes.
//! - `tests/deduplicator_explorer`: the real code of the `Deduplicator`: 2 workers, every order of their store calls.
//! - `tests/token_model`: article 2's algorithm, as a model: its drafts, its last version, its variants for two stores
//!   and for one store, and the purpose of each precaution.
//! - `tests/processor_explorer`: the real processor, in the orders of its steps.
//! - `tests/one_time_explorer`: the real one-time tokens, in every order of two callers' steps.
//! - `tests/handles`: a program that uses a handle without a retry loop, while replies are lost.

pub mod choices;
pub mod explore;
pub mod gate;
pub mod workers;
