//! Shared by the tests of this backend: files for one case, a clock that a test moves, and other processes.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]
#![allow(clippy::disallowed_methods, reason = "a test may fail and wait where a library must not")]

mod harness;
mod place;
mod purchases;
mod worker;

pub use harness::{SetUp, SqliteHarness, open_beside};
pub use place::{Place, failed};
pub use purchases::{be_a_shop_if_asked, killed_shops};
pub use worker::{Acked, Worker, be_a_worker_if_asked};
