//! What the tests of this backend share: a table of their own, and key prefixes in it, one for each case.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]

mod articles;
mod harness;
mod place;

pub use articles::{Articles, items};
pub use harness::{DynamoHarness, SetUp, open_beside};
pub use place::{Place, Table, driver, failed, longest_row};
