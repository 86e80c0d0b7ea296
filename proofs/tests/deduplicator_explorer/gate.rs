//! A layer in which every call waits until the scheduler answers it.

use std::future::poll_fn;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::layer::{self, Answered, Layer, Layered, Next};
use storagebox_core::{Cursor, Hold, Namespace, Result, Retention};
use storagebox_memory::MemoryStore;

use crate::call::{Call, Reply};

/// The gate at which one call of the deduplicator waits, with at most one store call at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    asked: Option<Call>,
    answer: Option<Result<Reply>>,
}

/// The store behind all gates, which is never called.
static NOTHING: LazyLock<Arc<MemoryStore>> = LazyLock::new(|| Arc::new(MemoryStore::new()));

impl Gate {
    /// Returns a store whose calls wait at the gate.
    pub(crate) fn store(&self) -> Layered {
        Layered::new(Arc::clone(&*NOTHING) as _, Arc::new(self.clone()))
    }

    /// Returns the waiting store call.
    pub(crate) fn asked(&self) -> Option<Call> {
        self.lock().asked.clone()
    }

    /// Lets the waiting call continue with this answer, at its next poll.
    pub(crate) fn answer(&self, answer: Result<Reply>) {
        let mut slot = self.lock();
        slot.asked = None;
        slot.answer = Some(answer);
    }

    async fn pass(&self, call: Call) -> Result<Reply> {
        assert!(self.lock().asked.replace(call).is_none(), "two store calls at once");
        poll_fn(|_| self.lock().answer.take().map_or(Poll::Pending, Poll::Ready)).await
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Layer for Gate {
    async fn around(&self, call: &layer::Call<'_>, _: Next<'_>) -> Result<Answered> {
        Ok(match self.pass(read(call)).await? {
            Reply::Recorded(reply) => Answered::of(reply),
            Reply::Replaced(reply) => Answered::of(reply),
            Reply::Got(reply) => Answered::of(reply),
            Reply::Listed(reply) => Answered::of(reply),
            Reply::Taken(reply) => Answered::of(reply),
            Reply::Released(reply) => Answered::of(reply),
        })
    }
}

/// Converts the call to plain data. The whole listing is one page here, because page boundaries are not part of the
/// protocol.
fn read(call: &layer::Call<'_>) -> Call {
    match (call.part, call.operation) {
        (layer::Part::Bank, "take") => {
            assert_eq!(arg::<Hold>(call), Hold::Forever, "an item that lapses may be another's later");
            Call::Take { bank: name(call), claim: arg(call) }
        }
        (layer::Part::Bank, "release") => Call::Release { bank: name(call), claim: arg(call) },
        (layer::Part::Records, "record") => {
            assert_eq!(arg::<Retention>(call), Retention::Forever, "a record that expires forgets its item");
            Call::Record { id: arg(call), value: arg(call), op: arg(call) }
        }
        (layer::Part::Records, "get") => Call::Get { id: arg(call) },
        (layer::Part::Records, "replace") => {
            Call::Replace { id: arg(call), version: arg(call), value: arg(call), op: arg(call) }
        }
        (layer::Part::Records, "list") => {
            assert_eq!(arg::<Option<Cursor>>(call), None, "one page is all there is");
            Call::List
        }
        _ => unreachable!("the protocol makes no such call, so no schedule lands it: {call:?}"),
    }
}

fn name(call: &layer::Call<'_>) -> Namespace {
    call.namespace.expect("a bank has a name").clone()
}

pub(crate) fn arg<T: 'static>(call: &layer::Call<'_>) -> T {
    call.argument().expect("an argument of the call")
}
