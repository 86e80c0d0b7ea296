//! The rows of counters, one per key.

use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};
use storagebox_core::backend::Attempts;
use storagebox_core::{Attempt, Counted, Key, Namespace, OpId, Result};

use crate::client::{Client, Kind, OpenNamespace, Tag, wait};
use crate::error::reading;
use crate::row::{Row, RowKey};

#[derive(Debug)]
pub(super) struct Values {
    open: OpenNamespace,
    /// How long an operation is remembered, if that is limited.
    remembered: Option<Duration>,
}

impl Values {
    pub(super) fn new(client: &Arc<Client>, name: &Namespace, options: String) -> Self {
        let open = OpenNamespace::new(client, Kind::Counters, name).with_options(options);
        Self { open, remembered: None }
    }

    #[must_use]
    pub(super) fn remembering(self, remembered: Option<Duration>) -> Self {
        Self { remembered, ..self }
    }

    #[must_use]
    pub(super) fn everywhere(self) -> Self {
        Self { open: self.open.everywhere(), ..self }
    }

    pub(super) fn client(&self) -> &Client {
        self.open.client()
    }

    /// Opens the namespace (S-4). An error means that no change was applied.
    pub(super) async fn ready(&self) -> Result<()> {
        self.open.shards().await.map(drop).map_err(reading)
    }

    pub(super) fn row(&self, key: &Key) -> RowKey {
        RowKey::alone(self.partition("key", key, ""))
    }

    /// Returns the partition key of rows of a counter. `part` names the kind of the rows, such as markers.
    pub(super) fn partition(&self, part: &str, key: &Key, rest: &str) -> String {
        let key = key.as_str();
        // The length before the key ensures that two counters have no partition in common.
        self.open.key(format_args!("{part}:{}:{key}:{rest}", key.len()))
    }

    /// Makes a change. Repeats the attempt until the outcome is known or the operation is forgotten.
    pub(super) async fn changed<F>(
        &self,
        first: Attempt,
        mut attempt: impl FnMut(Attempt) -> F + Send,
    ) -> Result<Counted>
    where
        F: Future<Output = Result<Counted>> + Send,
    {
        let attempts = &Attempts::new(first.is_repeated(), self.remembered, self.client().since_now());
        let attempt = move |number: Attempt| {
            let attempt = attempt(number);
            async move { attempts.make(wait, attempt).await }
        };
        self.client().settle_attempts("apply", first, attempt).await
    }

    pub(super) async fn read(&self, key: &Key) -> Result<i64> {
        let row = self.row(key);
        let read = || async {
            self.ready().await?;
            self.client().get(&row).await?.as_ref().map_or(Ok(0), value_in)
        };
        self.client().settle("value", read).await
    }
}

pub(super) fn value_in(row: &Row) -> Result<i64> {
    row.needed("v", row.number("v"))
}

/// Returns the hash under which an operation is stored.
pub(super) fn hash(op: &OpId) -> [u8; 16] {
    short(op.as_str())
}

/// Returns the mark of a call: a short hash of the call's tag.
pub(super) fn mark(tag: &Tag) -> [u8; 6] {
    // If two calls of one operation had the same mark, both would return `Applied`; the operation would still be
    // applied once.
    short(tag.as_str())
}

fn short<const N: usize>(text: &str) -> [u8; N] {
    let mut short = [0; N];
    short.copy_from_slice(&Sha256::digest(text)[..N]);
    short
}

/// Returns the outcome of an attempt with a strategy that keeps no void calls. A refusal after a lost attempt is an
/// error, because the lost attempt may still be applied.
pub(super) fn refused(attempt: Attempt, counted: Counted) -> Result<Counted> {
    match counted {
        Counted::OutOfBounds | Counted::Overflow | Counted::Full => attempt.refused(counted),
        counted => Ok(counted),
    }
}
