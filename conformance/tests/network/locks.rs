//! Honest clients and servers that lock before they write, as databases with transactions do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::server::lock;

/// What a call locks in a first request, before a second request makes the call and frees the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locks {
    /// Nothing: a call is one request.
    None,
    /// The row of its id. Other calls of the id wait.
    Row,
    /// The row of its id. Other calls of the id are refused as `Contention` after a moment. After a failure, the client
    /// refuses some calls before it connects again.
    RowForAMoment,
    /// The row of its id. Other calls of the id wait. The second request does not contain the id.
    RowUntilCommit,
    /// The whole store, because only one client writes at a time. All other calls wait.
    Store,
}

impl Locks {
    /// How long a call waits for a lock.
    pub(crate) fn wait(self) -> Duration {
        if self == Self::RowForAMoment { Duration::from_millis(100) } else { Duration::MAX }
    }

    /// Returns the text of the request that makes a call with this id.
    pub(crate) fn text(self, id: &str) -> &str {
        if self == Self::RowUntilCommit { "COMMIT" } else { id }
    }

    /// Returns the name of the lock of a call with this id.
    pub(crate) fn name(self, id: &str) -> &str {
        if self == Self::Store { "store" } else { id }
    }
}

/// The locks of a server, by name. A connection that ends frees its lock.
#[derive(Default)]
pub(crate) struct Table(Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>);

impl Table {
    /// Returns the lock, or `None` if another connection has it for this time.
    pub(crate) async fn lock(&self, name: &str, wait: Duration) -> Option<OwnedMutexGuard<()>> {
        let named = Arc::clone(lock(&self.0).entry(name.to_owned()).or_default());
        timeout(wait, named.lock_owned()).await.ok()
    }
}
