//! What an error of a transaction of the caller means.

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use storagebox_core::{
    Confirmed, Consumed, Counted, Created, Error, ErrorKind, Recorded, Released, Result, Taken, Written,
};

use super::Parts;
use crate::client::Refusal;
use crate::error::{self, bad};

/// The outcome of one call of [`Parts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartOutcome {
    /// The outcome of `assign`.
    Taken(Taken),
    /// The outcome of `confirm`.
    Confirmed(Confirmed),
    /// The outcome of `release`.
    Released(Released),
    /// The outcome of `record`.
    Recorded(Recorded),
    /// The outcome of `create_token`.
    Created(Created),
    /// The outcome of `consume`.
    Consumed(Consumed),
    /// The outcome of `apply`.
    Counted(Counted),
    /// The outcome of `put` or `delete`.
    Written(Written),
}

/// What the error of a transaction of the caller means, as [`Parts::explain`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "it says what to do next"]
pub enum Explained {
    /// The transaction was committed before: an earlier request of the same transaction arrived, and its reply was
    /// lost. The outcomes of all calls are true.
    Committed,
    /// Nothing was applied, because this call no longer has the outcome that it returned.
    Ours {
        /// The number of the call: 0 is the first call that was made on these [`Parts`].
        call: usize,
        /// The outcome that the call has, such as `Again`, `AlreadyGone` or `OutOfBounds`.
        outcome: PartOutcome,
    },
    /// Nothing was applied, because this item of the caller was refused: its condition did not hold, or its update does
    /// not fit the row.
    Yours {
        /// The index of the item among the caller's own items.
        index: usize,
    },
    /// Nothing was applied, and nothing is decided: another write was in progress, an item was taken meanwhile, or the
    /// table is at its limit. Pause, create new [`Parts`], and send a new transaction.
    TryAgain,
    /// The reply was lost, so the transaction may have been applied, or may still be applied later. Within ten minutes,
    /// send the same transaction again with the same request token. After that, create new [`Parts`]: the outcomes of
    /// their calls show what was applied.
    Unknown,
}

impl Parts {
    /// Returns what an error of the transaction means. In the transaction, these parts must [follow](Self::after) the
    /// caller's own items. Sends nothing.
    ///
    /// DynamoDB does not evaluate an item that meets a conflict or a throttle, and that item may be the one that
    /// decides. So a refusal counts only if DynamoDB evaluated every item of the transaction. Of several refusals,
    /// [`Committed`](Explained::Committed) comes first, then the calls in their order, then the caller's items.
    ///
    /// `Ours`, `Yours` and `TryAgain` are about the request that was answered. If an earlier request of the same
    /// transaction was lost, also one that the driver repeated by itself, it may still arrive. It then takes effect as
    /// a whole, once, and the calls of new parts find it.
    ///
    /// # Errors
    ///
    /// The error of a request that was refused for another reason, as every call of the store returns it: `Denied`,
    /// `InvalidInput` (such as an item twice among the caller's own), `NotSetUp`. Nothing was applied. Returns
    /// `Corrupt` if a row of the store cannot be read, and `InvalidInput` if the error is of another transaction.
    pub fn explain(&self, error: &SdkError<TransactWriteItemsError>) -> Result<Explained> {
        match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => self.cancelled(cancelled),
            _ => next_step(error::judged(error)),
        }
    }

    fn cancelled(&self, cancelled: &TransactionCanceledException) -> Result<Explained> {
        let reasons = cancelled.cancellation_reasons();
        if reasons.is_empty() || reasons.iter().any(is_unjudged) {
            return Ok(Explained::TryAgain);
        }
        let own = reasons.len().checked_sub(self.actions()).ok_or_else(of_another)?;
        let (yours, ours) = reasons.split_at(own);
        if let Some(explained) = self.ours(ours)? {
            return Ok(explained);
        }
        let index = yours.iter().position(|reason| !matches!(reason.code(), None | Some("None")));
        Ok(index.map_or(Explained::TryAgain, |index| Explained::Yours { index }))
    }

    /// Returns the explanation from the cancellation reasons of the items of these [`Parts`], if any.
    fn ours(&self, reasons: &[CancellationReason]) -> Result<Option<Explained>> {
        if let Some(error) = reasons.iter().filter_map(CancellationReason::code).find_map(error::reason) {
            return Err(error);
        }
        let mut refusals = reasons.iter().map(Refusal::of).collect::<Vec<_>>();
        if refusals.iter().any(|refusal| self.wrote(refusal)) {
            return Ok(Some(Explained::Committed));
        }
        for (call, planned) in self.calls.iter().enumerate() {
            let of_call = refusals.drain(..planned.actions).collect();
            match (planned.refused)(of_call) {
                Ok(outcome) => return Ok(Some(Explained::Ours { call, outcome })),
                Err(error) if error.kind() == ErrorKind::Contention => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Returns whether this transaction wrote the row that refused a write.
    fn wrote(&self, refusal: &Refusal) -> bool {
        let Refusal::Condition(Some(row)) = refusal else { return false };
        // The attribute `m` contains the tag of a token's creation.
        self.tag.is_on(row) || row.text("m") == Some(self.tag.as_str())
    }
}

/// Returns whether the service did not evaluate an item, so that the same transaction may be committed later.
fn is_unjudged(reason: &CancellationReason) -> bool {
    reason.code().and_then(error::reason).is_some_and(|error| error.is_retryable())
}

fn next_step(error: Error) -> Result<Explained> {
    match error.kind() {
        ErrorKind::OutcomeUnknown => Ok(Explained::Unknown),
        _ if error.is_retryable() => Ok(Explained::TryAgain),
        _ => Err(error),
    }
}

fn of_another() -> Error {
    bad("the error", "is of another transaction, which has fewer items than these parts")
}
