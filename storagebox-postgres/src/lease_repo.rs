//! Leases, which are rows of the records namespace with the same name. Each call is one function of the schema
//! (`sql/lease_repo`).

use std::sync::Arc;
use std::time::Duration;

use sqlx::Row;
use sqlx::postgres::PgRow;
use storagebox_core::backend::{micros, micros_of};
use storagebox_core::{
    Aborted, Begun, Completed, DedupId, Entry, Fence, Fingerprint, Lease, LeaseExtended, LeaseRepo, OpId, Payload,
    Result, Retention, async_trait, checked_duration,
};
use tracing::instrument;

use crate::client::{Client, FunctionCall, OpenNamespace};
use crate::dedup_repo::{entry, outcome, remaining, version};
use crate::error::{read, unreadable};

#[derive(Debug)]
pub(crate) struct PostgresLeaseRepo {
    records: Arc<OpenNamespace>,
}

impl PostgresLeaseRepo {
    pub(crate) fn new(records: OpenNamespace) -> Self {
        Self { records: Arc::new(records) }
    }

    fn client(&self) -> &Client {
        self.records.client()
    }

    async fn about<'a>(&self, call: FunctionCall<'a>, lease: &'a Lease) -> Result<FunctionCall<'a>> {
        Ok(call
            .about(self.records.opened().await?)
            .with(lease.id.as_str())
            .with(lease.op.as_str())
            .with(number(lease.fence)))
    }
}

/// Returns the fence as an argument, or -1 if this backend did not make the fence.
fn number(fence: Fence) -> i64 {
    i64::try_from(fence.number()).unwrap_or(-1)
}

#[async_trait]
impl LeaseRepo for PostgresLeaseRepo {
    #[instrument(level = "trace", skip_all)]
    async fn begin(&self, id: &DedupId, op: &OpId, term: Duration, fingerprint: Option<&Fingerprint>) -> Result<Begun> {
        let term = checked_duration("lease", term)?;
        let attempt = || async move {
            let call = FunctionCall::rows("lease_begin")
                .about(self.records.opened().await?)
                .with(id.as_str())
                .with(op.as_str())
                .with(micros(term))
                .with(fingerprint.map(Fingerprint::as_str))
                .with(self.client().memory());
            begun(&self.client().row(&call).await?, id, op)
        };
        self.client().settle("begin", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn complete(&self, lease: &Lease, result: &Payload, retention: Retention) -> Result<Completed> {
        let retention = micros_of(retention.checked()?);
        // Within a transaction of the caller, a lease that is over is an error that ends the transaction (J-4).
        let function = if self.client().is_joined() { "lease_complete_within" } else { "lease_complete" };
        let attempt = || async move {
            let call = self.about(FunctionCall::rows(function), lease).await?;
            let call = call.with(result.as_bytes()).with(retention).with(self.client().memory());
            completed(&self.client().row(&call).await?, result)
        };
        self.client().settle("complete", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn abort(&self, lease: &Lease) -> Result<Aborted> {
        let attempt = || async move {
            let call = self.about(FunctionCall::value("lease_abort"), lease).await?.with(self.client().memory());
            match word(&self.client().row(&call).await?, "lease_abort")?.as_str() {
                "aborted" => Ok(Aborted::Aborted),
                "fenced" => Ok(Aborted::Fenced),
                _ => Err(unreadable("lease_abort")),
            }
        };
        self.client().settle("abort", attempt).await
    }

    #[instrument(level = "trace", skip_all)]
    async fn extend(&self, lease: &Lease, term: Duration) -> Result<LeaseExtended> {
        let term = micros(checked_duration("lease", term)?);
        let attempt = || async move {
            let call = self.about(FunctionCall::value("lease_extend"), lease).await?;
            let call = call.with(term).with(self.client().memory());
            match word(&self.client().row(&call).await?, "lease_extend")?.as_str() {
                "extended" => Ok(LeaseExtended::Extended),
                "fenced" => Ok(LeaseExtended::Fenced),
                _ => Err(unreadable("lease_extend")),
            }
        };
        self.client().settle("extend", attempt).await
    }
}

fn word(row: &PgRow, function: &'static str) -> Result<String> {
    read(function, row.try_get(0))
}

fn begun(row: &PgRow, id: &DedupId, op: &OpId) -> Result<Begun> {
    const FUNCTION: &str = "lease_begin";
    match outcome(row, FUNCTION)?.as_str() {
        "started" => {
            let fence = Fence::new(read::<i64>(FUNCTION, row.try_get("fence"))?.unsigned_abs());
            Ok(Begun::Started(Lease { id: id.clone(), op: op.clone(), fence }))
        }
        "in flight" => Ok(Begun::InFlight { remaining: remaining(row, FUNCTION)? }),
        "done" => Ok(Begun::Done(entry(row, FUNCTION)?)),
        "mismatch" => Ok(Begun::Mismatch),
        "fenced" => Ok(Begun::Fenced),
        _ => Err(unreadable(FUNCTION)),
    }
}

fn completed(row: &PgRow, result: &Payload) -> Result<Completed> {
    const FUNCTION: &str = "lease_complete";
    match outcome(row, FUNCTION)?.as_str() {
        "completed" => Ok(Completed::Completed(Entry { value: result.clone(), version: version(row, FUNCTION)? })),
        "again" => Ok(Completed::Again(entry(row, FUNCTION)?)),
        "fenced" => Ok(Completed::Fenced),
        _ => Err(unreadable(FUNCTION)),
    }
}
