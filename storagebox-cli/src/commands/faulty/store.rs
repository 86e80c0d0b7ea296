//! A store that is not set up, or that fails for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use storagebox::layer::{Answered, Call, Layer, Layered, Next};
use storagebox::{Error, ErrorKind, MemoryStore, Result, async_trait};

#[derive(Debug)]
pub(crate) struct FaultyStore {
    is_set_up: AtomicBool,
    kind: ErrorKind,
    /// How many calls still fail.
    failures: AtomicU64,
}

impl FaultyStore {
    /// Not set up yet.
    pub(crate) fn bare() -> Layered {
        Self::with(false, ErrorKind::Unavailable, 0)
    }

    pub(crate) fn failing(kind: ErrorKind, failures: u64) -> Layered {
        Self::with(true, kind, failures)
    }

    fn with(is_set_up: bool, kind: ErrorKind, failures: u64) -> Layered {
        let layer = Self { is_set_up: is_set_up.into(), kind, failures: failures.into() };
        Layered::new(Arc::new(MemoryStore::new()), Arc::new(layer))
    }

    fn fails(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
    }
}

/// Of the store's own calls; its parts work.
#[async_trait]
impl Layer for FaultyStore {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        match call.operation {
            "setup" | "ping" if self.fails() => Err(Error::new(self.kind, "as the test asked")),
            "ping" if !self.is_set_up.load(Ordering::Relaxed) => {
                Err(Error::new(ErrorKind::NotSetUp, "the store is bare"))
            }
            operation => {
                self.is_set_up.fetch_or(operation == "setup", Ordering::Relaxed);
                next.call().await
            }
        }
    }
}
