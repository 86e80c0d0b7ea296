//! Reads rows of a queue.

use std::time::Duration;

use async_trait::async_trait;
use storagebox_core::{Destination, Result};

use super::PostgresQueues;
use super::delivery::PostgresDelivery;
use super::statements::micros;
use crate::reader::Read;

/// The time between two reads of an empty queue.
const WAIT: Duration = Duration::from_millis(100);

pub(super) struct Reader {
    queues: PostgresQueues,
    queue: Destination,
}

impl Reader {
    pub(super) fn new(queues: PostgresQueues, queue: Destination) -> Self {
        Self { queues, queue }
    }

    async fn take(&self) -> Result<Option<PostgresDelivery>> {
        let PostgresQueues { server, statements, lease } = &self.queues;
        let take = sqlx::query(statements.take.clone()).bind(self.queue.as_str()).bind(micros(*lease));
        server
            .call(async |connection| {
                let row = take.fetch_optional(connection).await?;
                row.map(|row| PostgresDelivery::new(self.queues.clone(), &row)).transpose()
            })
            .await
    }
}

#[async_trait]
impl Read for Reader {
    type Delivery = PostgresDelivery;

    async fn read(&mut self) -> Result<Option<PostgresDelivery>> {
        let taken = self.take().await?;
        if taken.is_none() {
            wait().await;
        }
        Ok(taken)
    }
}

#[allow(clippy::disallowed_methods, reason = "how often the client looks; no promise depends on it")]
async fn wait() {
    tokio::time::sleep(WAIT).await;
}
