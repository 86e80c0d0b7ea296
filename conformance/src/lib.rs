//! The suite that proves a storagebox backend: ours or yours.
#![forbid(unsafe_code)]
#![deny(missing_docs, clippy::unwrap_used, clippy::disallowed_methods)]

pub mod history;
