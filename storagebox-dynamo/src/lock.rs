//! Mutexes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex. Ignores poisoning, because no code of this crate panics while it holds a lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
