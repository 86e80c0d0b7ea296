//! A store that answers `Contention` at random while another call is in flight, as a store with conditional writes does
//! after a bounded number of conflicts. The contract allows that: nothing was applied, and the caller calls again.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use storagebox_conformance::{CallerTransaction, Embedded, Harness};
use storagebox_core::layer::{Call, Layer, Layered, Next, Request, Response};
use storagebox_core::{Error, ErrorKind, Result, async_trait};
use storagebox_memory::{MemoryStore, MemoryTransaction};

/// One of so many calls that meet another call is refused.
const ONE_OF: u8 = 8;

pub(crate) fn harness() -> impl Harness {
    let make = |clock| Ok(contended(MemoryStore::builder().clock(clock).build()?));
    Embedded::new("memory with contention", make).with_transactions(|| Box::new(Caller(MemoryTransaction::begin())))
}

fn contended(store: MemoryStore) -> Layered {
    Layered::new(Arc::new(store), Arc::new(Contended::default()))
}

#[derive(Debug, Default)]
struct Contended {
    in_flight: AtomicUsize,
}

/// A call in flight. It ends even if its future is dropped.
struct InFlight<'a>(&'a AtomicUsize);

impl<'a> InFlight<'a> {
    /// Begins a call, and returns whether another call is in flight.
    fn begin(calls: &'a AtomicUsize) -> (Self, bool) {
        let others = calls.fetch_add(1, Ordering::SeqCst);
        (Self(calls), others > 0)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Layer for Contended {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        let (_in_flight, meets_another) = InFlight::begin(&self.in_flight);
        // Lets other calls begin, because a call of the memory store ends at its first poll.
        tokio::task::yield_now().await;
        // All of many concurrent setups succeed (S-1), and closing changes no row.
        let is_refusable = !matches!(call.request, Request::Setup | Request::Close);
        if is_refusable && meets_another && fastrand::u8(..ONE_OF) == 0 {
            return Err(Error::new(ErrorKind::Contention, "other calls came first in each attempt"));
        }
        next.run().await
    }

    /// A call in a transaction of the caller is made as it is (J-2).
    fn joins(&self) -> bool {
        false
    }
}

struct Caller(MemoryTransaction);

#[async_trait]
impl CallerTransaction for Caller {
    fn connection(&mut self) -> &mut (dyn Any + Send) {
        &mut self.0
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.0.commit()
    }

    async fn rollback(self: Box<Self>) -> Result<()> {
        self.0.rollback();
        Ok(())
    }
}
