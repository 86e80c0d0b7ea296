//! A clock of the caller's that is set back. The default clock, which is tokio's, never is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::{Clock, Result};
use storagebox_memory::MemoryStore;
use storagebox_testkit::checks::clocks;

/// Seconds since 1970.
#[derive(Clone, Debug, Default)]
struct Settable(Arc<AtomicU64>);

impl Clock for Settable {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

const ONCE: u64 = 1_767_225_600;

#[tokio::test]
async fn a_clock_that_is_set_back_ends_nothing_early_and_brings_nothing_back() -> Result<()> {
    let clock = Settable::default();
    let store = MemoryStore::builder().clock(clock.clone()).build()?;
    clocks::set_back(async |ahead| {
        clock.0.store(ONCE + ahead.as_secs(), Ordering::SeqCst);
        Ok(Arc::new(store.clone()) as _)
    })
    .await
}
