//! The steps after a result is recorded. Each step may be repeated, by any caller, at any time.

use super::OneTimeTokens;
use super::outcome::TokenBegun;
use super::used::{Places, Used};
use crate::composites::deduplicator::Recovery;
use crate::contract::dedup_repo::{Entry, Recorded};
use crate::values::error::{Error, ErrorKind, Result};
use crate::values::page::Cursor;
use crate::values::time::Retention;
use crate::values::value::{OpId, TokenId};

/// One call replaces at most this many earlier results of a token. There is more than one earlier result only if the
/// token is created and used again while other callers finish.
const MAX_EARLIER: usize = 8;

impl OneTimeTokens {
    /// Finishes the commits of callers that crashed and that no later call has finished, one page of records at a time.
    ///
    /// # Guarantees
    ///
    /// - OT-4 above. Calls in progress are not disturbed.
    ///
    /// # Cancel safety
    ///
    /// Safe. Recover again from the same cursor.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the limit is 0 or the cursor cannot be read, and the errors of the store. A record that cannot
    /// be read is one of those that [`failed`](Recovery::failed).
    pub async fn recover(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Recovery> {
        let page = self.records.list(cursor, limit).await?;
        let mut recovery = Recovery { next: page.next, ..Recovery::default() };
        for listed in page.entries {
            recovery.seen += 1;
            let Some(token) = Places::unfinished(&listed.id) else { continue };
            match self.recovered(token, &listed.entry).await {
                Ok(()) => recovery.finished += 1,
                Err(error) => recovery.add_failed(error)?,
            }
        }
        Ok(recovery)
    }

    async fn recovered(&self, token: Result<TokenId>, committed: &Entry) -> Result<()> {
        let token = token?;
        self.finish(&token, &Places::of(&token)?, committed).await.map(drop).map_err(Error::after_unresolved)
    }

    /// Finishes a commit: records the result for replay, discards the token and forgets the record of the commit.
    pub(super) async fn finish(&self, token: &TokenId, places: &Places, committed: &Entry) -> Result<Used> {
        // The record of the commit is forgotten last. Every call that finds it repeats all steps.
        let used = Used::decode(committed, token)?;
        self.keep_result(places, committed, &used.op).await.map_err(Error::after_unresolved)?;
        self.tokens.discard(std::slice::from_ref(token)).await.map_err(Error::after_unresolved)?;
        // Whatever the outcome, the record of this commit no longer exists.
        let _ = self.records.forget(&places.begun, committed.version).await.map_err(Error::after_unresolved)?;
        Ok(used)
    }

    /// Records the result for replay. Replaces the results of earlier uses of the token.
    async fn keep_result(&self, places: &Places, committed: &Entry, op: &OpId) -> Result<()> {
        let Places { result, .. } = places;
        for _ in 0..MAX_EARLIER {
            let retention = Retention::For(self.replay);
            match self.records.record(result, &committed.value, op, retention).await? {
                // `Fenced` means that this result was recorded before and has expired.
                Recorded::New(_) | Recorded::Again(_) | Recorded::Fenced => return Ok(()),
                // The token was forgotten and created again before the result of its earlier use expired.
                Recorded::Existing(earlier) => drop(self.records.forget(result, earlier.version).await?),
                Recorded::InFlight { .. } => return Err(used_for_something_else()),
            }
        }
        Err(Error::new(ErrorKind::Contention, "other callers kept changing the token's result"))
    }

    /// Finishes the token's commit if the commit is unfinished. Returns the answer for a token that is not live.
    pub(super) async fn gone(&self, token: &TokenId, places: &Places, caller: &OpId) -> Result<TokenBegun> {
        if let Some(committed) = self.records.get(&places.begun).await? {
            return Ok(told(self.finish(token, places, &committed).await?, caller));
        }
        match self.records.get(&places.result).await? {
            Some(entry) => Ok(told(Used::decode(&entry, token)?, caller)),
            None => Ok(TokenBegun::Gone),
        }
    }
}

/// Returns `Replayed` if `caller` used the token, and otherwise `Gone`.
pub(super) fn told(used: Used, caller: &OpId) -> TokenBegun {
    if used.caller == *caller { TokenBegun::Replayed(used.result) } else { TokenBegun::Gone }
}

pub(super) fn used_for_something_else() -> Error {
    Error::misconfigured("one-time tokens", "share the records of this name with other code")
}
