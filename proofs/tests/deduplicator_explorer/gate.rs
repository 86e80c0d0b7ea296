//! Stores whose every call waits until the scheduler answers it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use async_trait::async_trait;
use storagebox_core::{
    Added, BoxName, ClaimId, ClaimState, Confirmed, Counts, Cursor, DedupId, DedupRepo, Entry, Extended,
    Forgotten, Hold, Item, ItemBank, ListedRecord, OpId, Page, Payload, Recorded, Released, Replaced, Result,
    Retention, Taken, Version,
};

use crate::call::{Call, Reply};

/// Where one call of the deduplicator waits: at most one store call at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    asked: Option<Call>,
    answer: Option<Result<Reply>>,
}

impl Gate {
    /// The store call that waits.
    pub(crate) fn asked(&self) -> Option<Call> {
        self.lock().asked.clone()
    }

    /// Lets the call that waits go on with this answer, at its next poll.
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

/// A bank behind a gate.
#[derive(Clone, Debug)]
pub(crate) struct GatedBank {
    pub(crate) name: BoxName,
    pub(crate) gate: Gate,
}

/// A repository behind a gate.
#[derive(Clone, Debug)]
pub(crate) struct GatedRepo {
    pub(crate) gate: Gate,
}

const NO_SUCH_CALL: &str = "the protocol makes no such call, so no schedule lands it";

macro_rules! passed {
    ($gate:expr, $call:expr, $kind:ident) => {
        match $gate.pass($call).await? {
            Reply::$kind(reply) => Ok(reply),
            other => unreachable!("another call's reply: {other}"),
        }
    };
}

#[async_trait]
impl ItemBank for GatedBank {
    async fn take(&self, claim: &ClaimId, hold: Hold) -> Result<Taken> {
        assert_eq!(hold, Hold::Forever, "an item that lapses may be another's later");
        let (bank, claim) = (self.name.clone(), claim.clone());
        passed!(self.gate, Call::Take { bank, claim }, Taken)
    }

    async fn release(&self, claim: &ClaimId) -> Result<Released> {
        let (bank, claim) = (self.name.clone(), claim.clone());
        passed!(self.gate, Call::Release { bank, claim }, Released)
    }

    async fn add(&self, _: &[Item]) -> Result<Added> {
        unreachable!("{NO_SUCH_CALL}")
    }

    async fn extend(&self, _: &ClaimId, _: Hold) -> Result<Extended> {
        unreachable!("{NO_SUCH_CALL}")
    }

    async fn confirm(&self, _: &ClaimId) -> Result<Confirmed> {
        unreachable!("{NO_SUCH_CALL}")
    }

    async fn get(&self, _: &ClaimId) -> Result<ClaimState> {
        unreachable!("{NO_SUCH_CALL}")
    }

    async fn counts(&self) -> Result<Counts> {
        unreachable!("{NO_SUCH_CALL}")
    }
}

#[async_trait]
impl DedupRepo for GatedRepo {
    async fn record(
        &self,
        id: &DedupId,
        value: &Payload,
        op: &OpId,
        retention: Retention,
    ) -> Result<Recorded> {
        assert_eq!(retention, Retention::Forever, "a record that expires forgets its item");
        let (id, value, op) = (id.clone(), value.clone(), op.clone());
        passed!(self.gate, Call::Record { id, value, op }, Recorded)
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        passed!(self.gate, Call::Get { id: id.clone() }, Got)
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let call = Call::Replace { id: id.clone(), version, value: value.clone(), op: op.clone() };
        passed!(self.gate, call, Replaced)
    }

    async fn forget(&self, _: &DedupId, _: Version) -> Result<Forgotten> {
        unreachable!("{NO_SUCH_CALL}")
    }

    /// The whole listing is one page here: where pages end is not part of the protocol.
    async fn list(&self, cursor: Option<&Cursor>, _: usize) -> Result<Page<ListedRecord>> {
        assert_eq!(cursor, None, "one page is all there is");
        passed!(self.gate, Call::List, Listed)
    }
}
