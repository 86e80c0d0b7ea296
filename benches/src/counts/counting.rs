//! Counts what the calls of a row cost, one measurement after another.

use futures_util::future::try_join_all;
use tokio::runtime::{Builder, Runtime};

use super::strace::Strace;
use crate::error::{Failure, Result};
use crate::row::{Load, Row, Side};
use crate::tally::{Allocations, Counts, Tally};

/// The number of calls per measurement, enough to average out occasional events.
pub(super) const CALLS: usize = 500;
/// The number of worker threads of the runtime, the same as in the table of times.
const WORKERS: usize = 2;

/// A runtime that makes measurements one after another.
pub(super) struct Counting {
    runtime: Runtime,
}

impl Counting {
    pub(super) fn new() -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(Failure::Runtime)?;
        Ok(Self { runtime })
    }

    /// Makes three measurements: one to warm up, one for all counts except system calls, and one for the system calls.
    pub(super) fn all(&self, side: &Side, row: &Row, allocations: Allocations) -> Result<Counts> {
        self.slice(side, row, 1, || (), |()| ())?;
        let before = || Tally::now(allocations);
        let counts = self.slice(side, row, 2, before, |before| before.until_now(allocations, CALLS))?;
        let calls = self.slice(side, row, 3, Strace::attach, |strace| strace.and_then(Strace::detach))?;
        Ok(Counts { system_calls: calls.map(|calls| calls as f64 / CALLS as f64), ..counts })
    }

    /// Makes the calls of a measurement between `begin` and `end`, and returns the result of `end`.
    pub(super) fn slice<B, E>(
        &self,
        side: &Side,
        row: &Row,
        number: u32,
        begin: impl FnOnce() -> B,
        end: impl FnOnce(B) -> E,
    ) -> Result<E> {
        let load = Load { slice: number, calls: CALLS, tasks: row.concurrency };
        let prepared = self.runtime.block_on(side.prepare(load))?;
        let begun = begin();
        let outcomes = self
            .runtime
            .block_on(async { try_join_all(prepared.tasks.into_iter().map(tokio::spawn).collect::<Vec<_>>()).await })?;
        let told = end(begun);
        drop(prepared.world);
        outcomes.into_iter().collect::<Result<()>>()?;
        Ok(told)
    }
}
