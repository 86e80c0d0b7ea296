//! A store whose clock is set back. The test sets its own clock back, because the default clock never goes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use storagebox_core::{Clock, Result};
use storagebox_memory::MemoryStore;
use storagebox_testkit::checks::clocks;

/// A clock that the test sets, in seconds since 1970.
#[derive(Clone, Debug, Default)]
struct Settable(Arc<AtomicU64>);

impl Clock for Settable {
    fn now(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

const ONCE: u64 = 1_767_225_600;

#[tokio::test]
async fn a_clock_set_back_expires_nothing_early_and_revives_nothing() -> Result<()> {
    let clock = Settable::default();
    let store = MemoryStore::builder().clock(clock.clone()).build()?;
    clocks::set_back(async |ahead| {
        clock.0.store(ONCE + ahead.as_secs(), Ordering::SeqCst);
        Ok(Arc::new(store.clone()) as _)
    })
    .await
}
