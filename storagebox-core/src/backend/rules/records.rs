//! The decisions of a [`DedupRepo`](crate::DedupRepo).

use super::StoredTime;
use crate::contract::dedup_repo::{Entry, Forgotten, Recorded, Replaced, Version};
use crate::contract::lease_repo::{Fence, Lease};
use crate::values::value::{Fingerprint, OpId};

/// The state of an id of records and leases, with the rules of both.
///
/// The caller first ends what [has expired](IdState::is_expired), and knows whether the operation that calls *has
/// ended*: its lease was aborted, or its record was forgotten or has expired, and the store still remembers it (D-7).
///
/// ```
/// use std::time::Duration;
/// use storagebox_core::backend::rules::{IdRecord, IdState};
/// use storagebox_core::{Entry, OpId, Payload, Recorded, Version};
///
/// # fn main() -> storagebox_core::Result<()> {
/// let (ada, bob, now) = (OpId::new("ada")?, OpId::new("bob")?, Duration::from_secs(7));
/// let mut state = IdState::default();
/// assert_eq!(state.record(&ada, false, now), None);
///
/// let entry = Entry { value: Payload::try_from("paid")?, version: Version::new(1) };
/// state = IdState::Done(IdRecord::new(entry.clone(), ada.clone(), None));
/// assert_eq!(state.record(&ada, false, now), Some(Recorded::Again(entry.clone())));
/// assert_eq!(state.record(&bob, false, now), Some(Recorded::Existing(entry)));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdState<T> {
    /// No operation has a lease on the id, and the id has no record. The fingerprint, if any, is that of a lapsed lease
    /// whose work may have had an effect (D-6).
    Vacant(Option<Fingerprint>),
    /// An operation has a lease on the id, or its lease has lapsed and no other operation has begun.
    Leased(IdLease<T>),
    /// The id has a record.
    Done(IdRecord<T>),
}

/// A lease on an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdLease<T> {
    /// The operation that began the lease.
    pub op: OpId,
    /// The number of the lease.
    pub fence: Fence,
    /// The end of the lease.
    pub until: T,
    /// The fingerprint of the id; `None` also if the lease lapsed so long ago that its fingerprint is forgotten.
    pub fingerprint: Option<Fingerprint>,
    /// Whether the fingerprint is that of a lapsed lease whose place this lease took (D-6).
    pub is_inherited: bool,
}

/// The record of an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdRecord<T> {
    /// The value and its version.
    pub entry: Entry,
    /// The operation that recorded the first value.
    pub op: OpId,
    /// The number of the lease that completed, if the record is the result of one.
    pub fence: Option<Fence>,
    /// The fingerprint of that lease.
    pub fingerprint: Option<Fingerprint>,
    /// The operation that replaced the value last, and the version that it replaced.
    pub replaced_by: Option<(OpId, Version)>,
    /// The end of the retention; `None` means never.
    pub until: Option<T>,
}

impl<T> Default for IdState<T> {
    fn default() -> Self {
        Self::Vacant(None)
    }
}

impl<T> IdLease<T> {
    /// Returns whether this is the lease: no other began since, and it neither completed nor aborted (D-5).
    pub fn is(&self, lease: &Lease) -> bool {
        self.fence == lease.fence && self.op == lease.op
    }
}

impl<T> IdRecord<T> {
    /// Creates the record of an operation that had no lease.
    pub fn new(entry: Entry, op: OpId, until: Option<T>) -> Self {
        Self { entry, op, fence: None, fingerprint: None, replaced_by: None, until }
    }
}

impl<T> IdState<T> {
    /// Returns the operation that has the id, with a lease or a record.
    pub fn op(&self) -> Option<&OpId> {
        match self {
            Self::Vacant(_) => None,
            Self::Leased(leased) => Some(&leased.op),
            Self::Done(done) => Some(&done.op),
        }
    }

    /// Returns the record.
    pub fn done(&self) -> Option<&IdRecord<T>> {
        match self {
            Self::Done(done) => Some(done),
            Self::Vacant(_) | Self::Leased(_) => None,
        }
    }

    /// Returns the value of the record and its version.
    pub fn entry(&self) -> Option<&Entry> {
        self.done().map(|done| &done.entry)
    }

    /// D-1, D-7: decides `replace`. `None`: replaces the value, and remembers `op` and `version`.
    pub fn replace(&self, version: Version, op: &OpId) -> Option<Replaced> {
        let Some(done) = self.done() else { return Some(Replaced::Stale(None)) };
        match &done.replaced_by {
            Some((by, replaced)) if by == op && *replaced == version => Some(Replaced::Again(done.entry.version)),
            _ if done.entry.version != version => Some(Replaced::Stale(Some(done.entry.clone()))),
            _ => None,
        }
    }

    /// D-7: decides `forget`. `None`: deletes the record; its operation has ended.
    pub fn forget(&self, version: Version) -> Option<Forgotten> {
        match self.entry() {
            None => Some(Forgotten::Absent),
            Some(entry) if entry.version != version => Some(Forgotten::Stale(entry.clone())),
            Some(_) => None,
        }
    }
}

impl<T: StoredTime> IdState<T> {
    /// D-4: returns whether the id has a record whose retention is over. Such a record is absent, and its operation has
    /// ended.
    pub fn is_expired(&self, now: T) -> bool {
        self.done().and_then(|done| done.until).is_some_and(|until| until <= now)
    }

    /// D-1, D-2, D-3, D-7, D-8: decides `record`. `None`: records the value.
    pub fn record(&self, op: &OpId, has_ended: bool, now: T) -> Option<Recorded> {
        match self {
            _ if has_ended => Some(Recorded::Fenced),
            Self::Done(done) if done.op == *op => Some(Recorded::Again(done.entry.clone())),
            Self::Done(done) => Some(Recorded::Existing(done.entry.clone())),
            Self::Leased(leased) if now < leased.until => {
                Some(Recorded::InFlight { remaining: now.until(leased.until) })
            }
            Self::Leased(_) | Self::Vacant(_) => None,
        }
    }
}
