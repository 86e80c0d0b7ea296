//! What the tests of this backend share: files of their own, a clock that is moved by hand, and other processes.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]

mod harness;
mod place;
mod worker;

pub use harness::{SetUp, SqliteHarness, open_beside};
pub use place::{Place, failed};
pub use worker::{Acked, Worker, be_a_worker_if_asked};
