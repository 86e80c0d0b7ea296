//! Runnable examples of storagebox: `cargo run -p storagebox-examples --example voucher-codes`.

pub mod shop;
