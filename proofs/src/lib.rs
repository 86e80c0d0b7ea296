//! The protocols of storagebox, explored in every interleaving.
//!
//! - `tests/deduplicator_model`: the protocol of the `Deduplicator`, as a model: 3 workers, crashes, late and doubled writes.
//! - `tests/deduplicator_explorer`: its real code: 2 workers, every order of their store calls.
