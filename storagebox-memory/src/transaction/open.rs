//! An open transaction, shared by the parts that joined it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storagebox_core::{Error, ErrorKind, Result};
use tokio::sync::watch;

use crate::striped::Striped;

/// An open transaction. Clones are handles on the same transaction.
#[derive(Clone)]
pub(crate) struct Open(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    is_over: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    touched: BTreeMap<Order, Touched>,
    is_over: bool,
    /// Whether a call made the commit impossible (J-4).
    is_doomed: bool,
    /// The transaction because of which the last call was refused, until that call waits for its end.
    refused_by: Option<Open>,
    /// The transaction for whose end a call of this transaction waits.
    waits_for: Option<Open>,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    Rollback,
}

/// Data under one lock, which can end a transaction and undo its changes.
pub(crate) trait Ending {
    /// The rank in the lock order. A call that takes two locks takes the lock with the lower rank first.
    const RANK: u8;

    /// Ends the transaction for this data. A rollback restores the values from before the transaction.
    fn end(&mut self, transaction: &Open, how: End);
}

/// A lock that a transaction has to take at its end.
#[derive(Clone)]
pub(crate) struct Touched {
    lock: Arc<dyn Locks>,
    stripe: usize,
}

/// The order in which the locks are taken: by rank, address and stripe.
type Order = (u8, usize, usize);

/// A set of numbered locks. Hides the type of the data that they guard.
trait Locks: Send + Sync {
    fn rank(&self) -> u8;

    fn lock(&self, stripe: usize) -> Box<dyn Locked + '_>;
}

trait Locked {
    fn end(&mut self, transaction: &Open, how: End);
}

impl<T: Ending> Locked for MutexGuard<'_, T> {
    fn end(&mut self, transaction: &Open, how: End) {
        (**self).end(transaction, how);
    }
}

impl<T: Ending + Send> Locks for Striped<T> {
    fn rank(&self) -> u8 {
        T::RANK
    }

    fn lock(&self, stripe: usize) -> Box<dyn Locked + '_> {
        Box::new(self.lock(stripe))
    }
}

impl<T: Ending + Send> Locks for Mutex<T> {
    fn rank(&self) -> u8 {
        T::RANK
    }

    fn lock(&self, _stripe: usize) -> Box<dyn Locked + '_> {
        Box::new(self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Touched {
    pub(crate) fn stripe<T: Ending + Send + 'static>(stripes: &Arc<Striped<T>>, stripe: usize) -> Self {
        Self { lock: Arc::clone(stripes) as _, stripe }
    }

    pub(crate) fn whole<T: Ending + Send + 'static>(lock: &Arc<Mutex<T>>) -> Self {
        Self { lock: Arc::clone(lock) as _, stripe: 0 }
    }

    fn order(&self) -> Order {
        (self.lock.rank(), Arc::as_ptr(&self.lock).addr(), self.stripe)
    }
}

impl Open {
    pub(super) fn begin() -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), is_over: watch::Sender::new(false) }))
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the transaction must take this lock at its end. The caller must hold the lock.
    pub(crate) fn touch(&self, touched: Touched) -> Result<()> {
        let mut state = self.state();
        if state.is_over {
            return Err(contention("the transaction is over"));
        }
        state.touched.insert(touched.order(), touched);
        Ok(())
    }

    /// Makes the commit of this transaction impossible, and returns the error that says so (J-4).
    pub(crate) fn doom(&self) -> Error {
        self.state().is_doomed = true;
        lease_is_over()
    }

    /// Ends the transaction, unless it has ended before.
    pub(super) fn end(&self, how: End) -> Result<()> {
        let State { touched, is_doomed, .. } =
            std::mem::replace(&mut *self.state(), State { is_over: true, ..State::default() });
        let how = if is_doomed { End::Rollback } else { how };
        // All locks are held at once, so that no other call sees half of the changes.
        let mut locked: Vec<_> = touched.values().map(|touched| touched.lock.lock(touched.stripe)).collect();
        locked.iter_mut().for_each(|locked| locked.end(self, how));
        drop(locked);
        self.0.is_over.send_replace(true);
        if is_doomed { Err(lease_is_over()) } else { Ok(()) }
    }

    /// Returns the error for a call that needs an entry which this transaction has changed. If the call belongs to a
    /// transaction `by`, records this refusal there.
    pub(crate) fn refuse(&self, by: Option<&Self>) -> Error {
        if let Some(by) = by {
            by.state().refused_by = Some(self.clone());
        }
        contention("an open transaction has changed the same entry, or has taken the last free item")
    }

    /// Returns the transaction because of which the last call was refused, and clears the field.
    pub(super) fn refused_by(&self) -> Option<Self> {
        self.state().refused_by.take()
    }

    /// Waits until the transaction `other` has ended. Returns `Contention` if the wait would be a deadlock.
    pub(super) async fn wait_for(&self, other: &Self) -> Result<()> {
        let _waiting = Waiting::begin(self, other);
        let mut next = Some(other.clone());
        while let Some(waiting) = next {
            if waiting.is(self) {
                return Err(contention("two transactions wait for each other"));
            }
            next = waiting.state().waits_for.clone();
        }
        let mut end = other.0.is_over.subscribe();
        // The wait fails only if the other transaction no longer exists.
        let _over = end.wait_for(|is_over| *is_over).await.map(drop);
        Ok(())
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").finish_non_exhaustive()
    }
}

/// A mark that a transaction waits, which lasts until this value is dropped. Other transactions read it to find a
/// deadlock.
struct Waiting<'a>(&'a Open);

impl<'a> Waiting<'a> {
    fn begin(by: &'a Open, other: &Open) -> Self {
        by.state().waits_for = Some(other.clone());
        Self(by)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state().waits_for = None;
    }
}

fn contention(why: &str) -> Error {
    Error::new(ErrorKind::Contention, why).on("memory")
}

fn lease_is_over() -> Error {
    let why = "the lease has lapsed and another operation may have begun; the transaction can no longer be committed";
    Error::new(ErrorKind::Fenced, why).on("memory")
}
