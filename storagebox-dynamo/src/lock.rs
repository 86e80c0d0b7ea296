//! Mutexes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex. No code of this crate panics while it holds a lock, so a poisoned value is still valid.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
