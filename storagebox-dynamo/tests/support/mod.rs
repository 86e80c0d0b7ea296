//! Shared by the tests of this backend: a table per program, and a key prefix per case.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]

mod articles;
mod harness;
mod place;

pub use articles::{Articles, items};
pub use harness::{DynamoHarness, SetUp, open_beside};
pub use place::{Place, Table, driver, failed, longest_row};
