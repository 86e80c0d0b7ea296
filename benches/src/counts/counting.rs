//! Counts the calls of a row, slice by slice.

use futures_util::future::try_join_all;
use tokio::runtime::{Builder, Runtime};

use super::strace::Strace;
use crate::error::{Failure, Result};
use crate::row::{Load, Row, Side};
use crate::tally::{Allocations, Counts, Tally};

/// The number of calls per slice, enough to average out occasional events.
pub(super) const CALLS: usize = 500;
/// The number of worker threads of the runtime, the same as for the table of times.
const WORKERS: usize = 2;

/// A runtime that runs slices one after another.
pub(super) struct Counting {
    runtime: Runtime,
}

impl Counting {
    pub(super) fn new() -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(Failure::Runtime)?;
        Ok(Self { runtime })
    }

    /// Counts the costs per call of a side in three slices: the first is a warm-up, the second counts everything except
    /// system calls, and strace counts the system calls of the third.
    pub(super) fn all(&self, side: &Side, row: &Row, allocations: Allocations) -> Result<Counts> {
        self.slice(side, row, 1, || (), |()| ())?;
        let before = || Tally::now(allocations);
        let counts = self.slice(side, row, 2, before, |before| before.until_now(allocations, CALLS))?;
        let calls = self.slice(side, row, 3, Strace::attach, |strace| strace.and_then(Strace::detach))?;
        Ok(Counts { system_calls: calls.map(|calls| calls as f64 / CALLS as f64), ..counts })
    }

    /// Calls `begin`, runs a slice, and calls `end` with the result of `begin`. Returns the result of `end`.
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
