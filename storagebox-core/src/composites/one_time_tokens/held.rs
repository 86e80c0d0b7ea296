//! The calls of the holder of a lease on a token.

use std::time::Duration;

use super::OneTimeTokens;
use super::outcome::{TokenCommitted, TokenLease};
use super::used::{Places, Used};
use crate::contract::lease_repo::{Aborted, Completed, Lease, LeaseExtended};
use crate::values::error::{Error, Result};
use crate::values::time::Retention;
use crate::values::value::Payload;

impl OneTimeTokens {
    /// Records the result: from then on the token is used. The result is what the caller gets when it calls again.
    ///
    /// # Guarantees
    ///
    /// - OT-2 to OT-4 above. If the lease lapsed but no other call has begun, it still commits. A token that was
    ///   discarded after the lease began is still committed.
    ///
    /// # Cancel safety
    ///
    /// Safe. Commit again with the same lease: the first result that was recorded stays.
    ///
    /// # Errors
    ///
    /// `TooLarge` if the result, the caller and about 50 bytes have more than 256 KiB together; nothing is changed,
    /// and a shorter result can be committed.
    pub async fn commit<R>(&self, lease: &TokenLease, result: R) -> Result<TokenCommitted>
    where
        R: TryInto<Payload>,
        Error: From<R::Error>,
    {
        let (places, result) = (Places::of(&lease.token)?, result.try_into()?);
        let used = Used { caller: lease.caller.clone(), op: lease.op.clone(), result }.encode()?;
        // The record is kept for ever: if it expired while the token is live, another caller could use the token again.
        match self.leases.complete(&lease.at(&places), &used, Retention::Forever).await? {
            Completed::Completed(committed) | Completed::Again(committed) => {
                let used = self.finish(&lease.token, &places, &committed).await;
                Ok(TokenCommitted::Committed(used.map_err(Error::after_unresolved)?.result))
            }
            Completed::Fenced => self.committed_before(lease, &places).await,
        }
    }

    /// Returns `Committed` if this lease has committed before, and otherwise `Fenced`.
    async fn committed_before(&self, lease: &TokenLease, places: &Places) -> Result<TokenCommitted> {
        // A finished commit has left only the record of its result. A lost attempt of this call may have made it.
        let kept = self.records.get(&places.result).await.map_err(Error::after_unresolved)?;
        let Some(entry) = kept else { return Ok(TokenCommitted::Fenced) };
        let used = Used::decode(&entry, &lease.token).map_err(Error::after_unresolved)?;
        Ok(if used.op == lease.op { TokenCommitted::Committed(used.result) } else { TokenCommitted::Fenced })
    }

    /// Ends the lease without a result. The token can be used again, also by the same caller. A committed token stays
    /// used: abort then returns `Fenced`, or `Aborted` once the commit is finished.
    ///
    /// # Guarantees
    ///
    /// - D-7 of leases: failures are not remembered.
    ///
    /// # Cancel safety
    ///
    /// Safe. Abort again with the same lease.
    ///
    /// # Errors
    ///
    /// Only errors of the store itself.
    pub async fn abort(&self, lease: &TokenLease) -> Result<Aborted> {
        self.leases.abort(&lease.at(&Places::of(&lease.token)?)).await
    }

    /// Extends the lease until now plus the duration; it never shortens the lease.
    ///
    /// # Guarantees
    ///
    /// - OT-2: if another call has begun in the meantime, the call returns `Fenced`.
    ///
    /// # Cancel safety
    ///
    /// Safe. Extend again with the same lease.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the duration is shorter than 1 ms or longer than a hundred years.
    pub async fn extend(&self, lease: &TokenLease, duration: Duration) -> Result<LeaseExtended> {
        self.leases.extend(&lease.at(&Places::of(&lease.token)?), duration).await
    }
}

impl TokenLease {
    fn at(&self, places: &Places) -> Lease {
        Lease { id: places.begun.clone(), op: self.op.clone(), fence: self.fence }
    }
}
