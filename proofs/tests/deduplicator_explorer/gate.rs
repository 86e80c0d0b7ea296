//! A layer in which every call waits until the scheduler answers it.

use std::future::poll_fn;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::layer::{self, Layer, Layered, Next, Request, Response};
use storagebox_core::{Hold, Namespace, Result, Retention};
use storagebox_memory::MemoryStore;

use crate::call::Call;

/// A gate at which the store calls of one deduplicator call wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    asked: Option<Call>,
    answer: Option<Result<Response>>,
}

/// The store behind all gates, which no call reaches.
static NOTHING: LazyLock<Arc<MemoryStore>> = LazyLock::new(|| Arc::new(MemoryStore::new()));

impl Gate {
    pub(crate) fn store(&self) -> Layered {
        Layered::new(Arc::clone(&*NOTHING) as _, Arc::new(self.clone()))
    }

    pub(crate) fn asked(&self) -> Option<Call> {
        self.lock().asked.clone()
    }

    /// Lets the waiting call continue with this answer, at its next poll.
    pub(crate) fn answer(&self, answer: Result<Response>) {
        let mut slot = self.lock();
        slot.asked = None;
        slot.answer = Some(answer);
    }

    async fn pass(&self, call: Call) -> Result<Response> {
        assert!(self.lock().asked.replace(call).is_none(), "two store calls at once");
        poll_fn(|_| self.lock().answer.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Gate {
    async fn call(&self, call: &layer::Call<'_>, _: Next<'_>) -> Result<Response> {
        self.pass(read(call)).await
    }
}

/// Converts the call to plain data.
fn read(call: &layer::Call<'_>) -> Call {
    match call.request {
        Request::Take { claim, hold, .. } => {
            assert_eq!(hold, Hold::Forever, "the hold of an assigned item must not lapse");
            Call::Take { bank: name(call), claim: claim.clone() }
        }
        Request::Release { claim, .. } => Call::Release { bank: name(call), claim: claim.clone() },
        Request::Record { id, value, op, retention, .. } => {
            assert_eq!(retention, Retention::Forever, "a record of an id must not expire");
            Call::Record { id: id.clone(), value: value.clone(), op: op.clone() }
        }
        Request::GetRecord { id, .. } => Call::Get { id: id.clone() },
        Request::Replace { id, version, value, op, .. } => {
            Call::Replace { id: id.clone(), version, value: value.clone(), op: op.clone() }
        }
        Request::ListRecords { cursor, .. } => {
            // Page boundaries are not part of the protocol.
            assert_eq!(cursor, None, "all records are on the first page");
            Call::List
        }
        _ => unreachable!("the protocol does not make this call: {call:?}"),
    }
}

fn name(call: &layer::Call<'_>) -> Namespace {
    call.namespace.expect("a bank has a name").clone()
}
