//! An open transaction, shared by the parts that joined it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use storagebox_core::{Error, ErrorKind, Result};
use tokio::sync::watch;

use crate::striped::Striped;

/// A handle on an open transaction.
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
    /// The other transaction because of which the last call of this transaction was refused.
    refused_by: Option<Open>,
    /// The other transaction whose end a call of this transaction is waiting for.
    waits_for: Option<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    Rollback,
}

/// Data that is guarded by one lock and that open transactions can change.
pub(crate) trait Ending {
    /// The rank in the lock order. A lock with a lower rank is taken first.
    const RANK: u8;

    /// Ends the transaction for this data. A rollback restores the values from before the transaction.
    fn end(&mut self, transaction: &Open, how: End);
}

/// A lock that the transaction takes when it ends.
#[derive(Clone)]
pub(crate) struct Touched {
    lock: Arc<dyn Locks>,
    stripe: usize,
}

/// Locks are taken in the order of rank, address and stripe.
type Order = (u8, usize, usize);

/// A set of numbered locks on data of any type.
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

    /// Records the lock of data that the transaction changes. The caller must hold the lock.
    pub(crate) fn touch(&self, touched: Touched) -> Result<()> {
        let mut state = self.state();
        if state.is_over {
            return Err(contention("the transaction ended while a call within it was in progress"));
        }
        state.touched.insert(touched.order(), touched);
        Ok(())
    }

    /// Makes the commit of the transaction impossible. Returns the error of the current call (J-4).
    pub(crate) fn doom(&self) -> Error {
        self.state().is_doomed = true;
        lease_is_over()
    }

    /// Commits or rolls back, unless the transaction has already ended.
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

    /// Returns the error for a call of `by` on an entry that this transaction has changed. Records the refusal in `by`.
    pub(crate) fn refuse(&self, by: Option<&Self>) -> Error {
        if let Some(by) = by {
            by.state().refused_by = Some(self.clone());
        }
        contention("an open transaction has changed the same entry, or has taken the last free item")
    }

    /// Returns and clears the other transaction because of which the last call failed.
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

/// Marks a transaction as waiting until this value is dropped.
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
