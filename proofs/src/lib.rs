//! The protocols of storagebox, explored in every interleaving, and its handles on bad networks.
//!
//! - `tests/deduplicator_model`: the protocol of the `Deduplicator`, as a model: 3 workers, crashes, late and doubled
//!   writes.
//! - `tests/deduplicator_explorer`: its real code: 2 workers, every order of their store calls.
//! - `tests/handles`: a program that holds a handle and has no loop of its own, where replies are lost.
