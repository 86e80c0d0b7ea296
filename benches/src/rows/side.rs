//! Sides whose data lasts for all measurements. The tasks of a measurement share its calls.
#![allow(dead_code, reason = "with few features there are few rows")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OnceCell;

use crate::error::Result;
use crate::row::{Load, Prepared, Side, Work};

pub(super) trait Caller: Send + Sync + 'static {
    type Argument: Send + Sync + 'static;

    fn call(&self, argument: &Self::Argument) -> impl Future<Output = Result<()>> + Send;
}

/// Creates a side. `make` creates the side's data in the server, once. `prepare` prepares each measurement.
pub(super) fn side<S, W, M, P>(
    server: &S,
    make: impl Fn(S) -> M + Send + Sync + 'static,
    prepare: impl Fn(Arc<W>, Load) -> P + Send + Sync + 'static,
) -> Side
where
    S: Clone + Send + Sync + 'static,
    W: Send + Sync + 'static,
    M: Future<Output = Result<W>> + Send + 'static,
    P: Future<Output = Result<Prepared>> + Send + 'static,
{
    let (server, world) = (server.clone(), Arc::new(OnceCell::new()));
    let functions = Arc::new((make, prepare));
    Side::new(move |load| {
        let (server, world, functions) = (server.clone(), Arc::clone(&world), Arc::clone(&functions));
        async move {
            let (make, prepare) = &*functions;
            let world = world.get_or_try_init(|| async { make(server).await.map(Arc::new) }).await?;
            prepare(Arc::clone(world), load).await
        }
    })
}

/// The calls of a measurement, which all tasks take from one list, so that all tasks are busy until the end.
struct Calls<C: Caller> {
    caller: C,
    arguments: Vec<C::Argument>,
    made: AtomicUsize,
}

impl<C: Caller> Calls<C> {
    async fn work(self: Arc<Self>) -> Result<()> {
        while let Some(argument) = self.arguments.get(self.made.fetch_add(1, Ordering::Relaxed)) {
            self.caller.call(argument).await?;
        }
        Ok(())
    }
}

/// Prepares the tasks of a measurement, which make one call per argument.
pub(super) fn prepared<C: Caller>(load: Load, caller: C, arguments: Vec<C::Argument>) -> Prepared {
    let calls = Arc::new(Calls { caller, arguments, made: AtomicUsize::new(0) });
    let tasks = (0..load.tasks).map(|_| Box::pin(Arc::clone(&calls).work()) as Work);
    Prepared { tasks: tasks.collect(), world: Box::new(Arc::clone(&calls)) }
}

/// Returns one number per call. No two calls get the same number, and successive numbers are far apart.
pub(super) fn scattered(load: Load) -> impl Iterator<Item = u64> {
    let first = u64::from(load.slice) << 32;
    (0..load.calls as u64).map(move |call| (first + call + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Returns one id per call. Ids have 36 bytes and random order, as random UUIDs have.
pub(super) fn ids(load: Load) -> impl Iterator<Item = String> {
    scattered(load).enumerate().map(move |(call, number)| format!("{number:016x}-{:08}-{call:010}", load.slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_36_bytes_and_are_unique() {
        let load = Load { slice: 3, calls: 1000, tasks: 4 };
        let mut made: Vec<_> = ids(load).chain(ids(Load { slice: 4, ..load })).collect();
        assert!(made.iter().all(|id| id.len() == 36));
        made.sort_unstable();
        made.dedup();
        assert_eq!(made.len(), 2000);
    }
}
