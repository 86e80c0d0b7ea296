//! The protocols of storagebox, explored in every interleaving, and its handles on bad networks.
//!
//! - `tests/deduplicator_model`: the protocol of the `Deduplicator`, as a model: 3 workers, crashes, late and doubled
//!   writes.
//! - `tests/deduplicator_explorer`: its real code: 2 workers, every order of their store calls.
//! - `tests/token_model`: article 2's algorithm, as a model: its drafts, its last version, the forms of it for
//!   two stores and for one, and what each precaution is for.
//! - `tests/processor_explorer`: the real processor, in the orders of its steps.
//! - `tests/one_time_explorer`: the real one-time tokens, in every order of two callers' steps.
//! - `tests/handles`: a program that holds a handle and has no loop of its own, where replies are lost.

pub mod choices;
pub mod explore;
pub mod gate;
pub mod workers;
