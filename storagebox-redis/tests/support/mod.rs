//! Code shared by the tests of this backend: a server, and a user with the least rights on it.

#![allow(dead_code, unused_imports, unreachable_pub, reason = "each test program uses a part of it")]

mod harness;
mod place;
mod resharding;

pub use harness::{RedisHarness, Servers, SetUp, open_beside};
pub use place::{Place, Server, failed, grants};
pub use resharding::Resharding;
