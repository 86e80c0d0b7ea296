//! One delivery of a message.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row, SqlStr};
use storagebox_core::{BoxError, Result};

use super::PostgresQueues;
use super::statements::micros;
use crate::delivery::{Delivery, Malformed, Received, STALE, Settle};
use crate::wire::{BODY, ID, TOKEN, received};

/// A message of a [queue in a PostgreSQL database](PostgresQueues).
pub struct PostgresDelivery {
    queues: PostgresQueues,
    number: i64,
    /// The receipt of this delivery: a number that no other delivery has.
    lease: i64,
    attempt: u32,
    lapsed: Option<u32>,
    received: Result<Received, Malformed>,
}

impl PostgresDelivery {
    pub(super) fn new(queues: PostgresQueues, row: &PgRow) -> Result<Self, sqlx::Error> {
        let text = |name| row.try_get::<Option<String>, _>(name).map(|text| text.map(String::into_bytes));
        let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        Ok(Self {
            queues,
            number: row.try_get("number")?,
            lease: row.try_get("lease")?,
            attempt: count(row.try_get("attempts")?),
            lapsed: row.try_get::<Option<i64>, _>("lapsed")?.map(count),
            received: received(text(ID)?, text(TOKEN)?, row.try_get::<Option<Vec<u8>>, _>(BODY)?),
        })
    }

    fn about_it(&self, statement: &SqlStr) -> Query<'static, Postgres, PgArguments> {
        sqlx::query(statement.clone()).bind(self.number).bind(self.lease)
    }

    async fn tell(&self, call: Query<'static, Postgres, PgArguments>) -> Result<(), BoxError> {
        let told = self.queues.server.call(async |connection| call.execute(connection).await);
        match told.await?.rows_affected() {
            0 => Err(STALE.into()),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for PostgresDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, lease, attempt, .. } = self;
        f.debug_struct("PostgresDelivery")
            .field("number", number)
            .field("lease", lease)
            .field("attempt", attempt)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Delivery for PostgresDelivery {
    fn received(&self) -> Result<&Received, Malformed> {
        self.received.as_ref().map_err(Clone::clone)
    }

    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn lapsed(&self) -> Option<u32> {
        self.lapsed
    }

    async fn begin_alone(&self) -> Result<(), BoxError> {
        self.tell(self.about_it(&self.queues.statements.begin_alone)).await
    }

    async fn extend(&self, lease: Duration) -> Result<(), BoxError> {
        self.tell(self.about_it(&self.queues.statements.extend).bind(micros(lease))).await
    }

    async fn settle(&self, settle: Settle) -> Result<(), BoxError> {
        let statements = &self.queues.statements;
        let call = match settle {
            Settle::Ack => self.about_it(&statements.ack),
            Settle::Retry { after } => self.about_it(&statements.retry).bind(micros(after)),
            Settle::Park => self.about_it(&statements.park),
        };
        self.tell(call).await
    }
}
