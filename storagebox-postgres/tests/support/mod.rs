//! Shared by the tests of this backend: a database for each program, and a role with the least rights in it.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]

mod drained;
mod harness;
mod place;

pub use drained::{Behind, Buffers, end_holds};
pub use harness::{PostgresHarness, SetUp, open_beside};
pub use place::{Database, Place, failed, run};
pub use storagebox_postgres::moved_clock;
