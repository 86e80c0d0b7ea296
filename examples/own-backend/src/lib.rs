//! A custom backend with the parts that a message consumer needs, in this process's memory.
//!
//! The backend has three parts: records, leases and tokens. It does not implement the other openers of [`Backend`], so
//! they return `Unsupported`. `cargo test` certifies the three parts.

mod records;
mod tokens;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use storagebox_core::{
    Backend, Clock, DedupRepo, LeaseRepo, Maintained, Namespace, Promises, Result, Retention, TokenStore, async_trait,
};

use records::Records;
use tokens::Tokens;

/// How long ended operations and tokens are remembered.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A store. Clones share its content.
#[derive(Clone, Debug)]
pub struct Consumer {
    clock: Arc<dyn Clock>,
    records: Arc<Mutex<BTreeMap<Namespace, Arc<Records>>>>,
    tokens: Arc<Mutex<BTreeMap<Namespace, Arc<Tokens>>>>,
}

impl Consumer {
    /// Creates an empty store that judges expiry by this clock.
    pub fn new(clock: impl Clock) -> Self {
        Self { clock: Arc::new(clock), records: Arc::default(), tokens: Arc::default() }
    }

    fn records(&self, name: &Namespace) -> Arc<Records> {
        opened(&self.records, name, || Records::new(&self.clock))
    }
}

fn opened<T>(all: &Mutex<BTreeMap<Namespace, Arc<T>>>, name: &Namespace, create: impl FnOnce() -> T) -> Arc<T> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(all.entry(name.clone()).or_insert_with(|| Arc::new(create())))
}

fn each<T>(all: &Mutex<BTreeMap<Namespace, Arc<T>>>) -> Vec<Arc<T>> {
    all.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
}

/// Returns the end of a retention that begins now, or `None` if it never ends.
fn end(now: Duration, retention: Retention) -> Option<Duration> {
    match retention {
        Retention::Forever => None,
        Retention::For(duration) => Some(now.saturating_add(duration)),
    }
}

/// Returns whether an operation or a token that ended at this time is forgotten.
fn is_forgotten(ended: Duration, now: Duration) -> bool {
    ended.saturating_add(REMEMBERED) <= now
}

#[async_trait]
impl Backend for Consumer {
    fn backend(&self) -> &'static str {
        "consumer"
    }

    async fn setup(&self) -> Result<()> {
        Ok(())
    }

    async fn ping(&self) -> Result<()> {
        Ok(())
    }

    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        let mut left = max_entries;
        for records in each(&self.records) {
            left -= records.maintain(left);
        }
        for tokens in each(&self.tokens) {
            left -= tokens.maintain(left);
        }
        Ok(Maintained { deleted: (max_entries - left) as u64, more: left == 0 })
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    fn promises(&self) -> Promises {
        Promises::of("consumer")
            .with("atomicity", "one lock is one step")
            .with("durability", "none: everything is gone with the process")
            .with("remember", "ended operations and tokens that are gone: 7 days")
    }

    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        Ok(self.records(name))
    }

    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        Ok(self.records(name))
    }

    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        let tokens = opened(&self.tokens, name, || Tokens::new(&self.clock));
        Ok(tokens)
    }
}
