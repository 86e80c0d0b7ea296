//! Transactions: several writes in one step, or several rows read at one moment.

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use aws_sdk_dynamodb::types::{CancellationReason, Get, TransactGetItem, TransactWriteItem};
use futures_util::FutureExt as _;
use storagebox_core::{Error, ErrorKind, Result};

use super::Client;
use super::requests::{read, row};
use super::write::{Write, Wrote, request_token};
use crate::error::{self, incomplete};
use crate::row::{Row, RowKey};

#[derive(Debug)]
pub(crate) enum Transacted {
    Done,
    /// No write was made. Contains one entry per write.
    Refused(Vec<Refusal>),
}

/// Whether one write of a refused transaction is a reason for the refusal.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The write is not a reason for the refusal.
    Not,
    /// The condition of the write was not met. Contains the present row, if the row exists.
    Condition(Option<Row>),
}

impl Transacted {
    /// Returns the outcome of the first write; `None` if only other writes were refused.
    pub(crate) fn of_first(self) -> Option<Wrote> {
        match self {
            Self::Done => Some(Wrote::Done(None)),
            Self::Refused(refusals) => match refusals.into_iter().next() {
                Some(Refusal::Condition(row)) => Some(Wrote::Refused(row)),
                _ => None,
            },
        }
    }
}

impl Client {
    /// Makes all of the writes or none. The request token is a hash of the writes: if the same transaction is sent
    /// again within ten minutes, the service returns the first outcome.
    pub(crate) async fn transact(&self, writes: &[Write]) -> Result<Transacted> {
        let transacted = self.transact_as(writes, &request_token(self.table(), writes)).await?;
        transacted.ok_or_else(|| Error::unknown("another transaction has the same token").on("dynamo"))
    }

    /// Makes all of the writes or none, with this request token. Returns `None` if another transaction has the same
    /// token.
    pub(crate) async fn transact_as(&self, writes: &[Write], token: &str) -> Result<Option<Transacted>> {
        let items = self.transact_items(writes)?;
        let request = self.driver().await.transact_write_items().set_transact_items(Some(items));
        let request = request.client_request_token(token).set_return_consumed_capacity(self.capacity());
        match request.send().boxed().await {
            Ok(_) => Ok(Some(Transacted::Done)),
            Err(error) => match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => refused(cancelled).map(Some),
                Some(TransactWriteItemsError::IdempotentParameterMismatchException(_)) => Ok(None),
                _ => Err(error::of(error)),
            },
        }
    }

    pub(crate) fn transact_items(&self, writes: &[Write]) -> Result<Vec<TransactWriteItem>> {
        writes.iter().map(|write| write.part(self.table())).collect()
    }

    /// Reads at most a hundred rows in one transaction. Returns the rows in the order of `keys`.
    pub(crate) async fn get_together(&self, keys: &[RowKey]) -> Result<Vec<Option<Row>>> {
        let gets = keys.iter().map(|key| get(self.table(), key)).collect::<Result<Vec<_>>>()?;
        let request = self.driver().await.transact_get_items().set_transact_items(Some(gets));
        let request = request.set_return_consumed_capacity(self.capacity());
        let answer = read(|| request.clone().send(), cancelled_read).await?;
        Ok(answer.responses.unwrap_or_default().into_iter().map(|found| row(found.item())).collect())
    }
}

fn get(table: &str, key: &RowKey) -> Result<TransactGetItem> {
    let get = Get::builder().table_name(table).set_key(Some(key.attributes())).build();
    Ok(TransactGetItem::builder().get(get.map_err(incomplete)?).build())
}

/// Converts the error of a transactional read, which another transaction may have cancelled.
fn cancelled_read(error: SdkError<TransactGetItemsError, HttpResponse>) -> Error {
    match error.as_service_error() {
        Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
            no_condition(cancelled).unwrap_or_else(without_reason)
        }
        _ => error::of(error),
    }
}

/// Returns an error for the first cancellation reason that is not a failed condition.
fn no_condition(cancelled: &TransactionCanceledException) -> Option<Error> {
    cancelled.cancellation_reasons().iter().filter_map(CancellationReason::code).find_map(error::reason)
}

fn without_reason() -> Error {
    Error::new(ErrorKind::Contention, "the service cancelled the transaction and gave no reason").on("dynamo")
}

/// Reads which conditions cancelled a transaction. Returns an error if the service did not evaluate every write.
fn refused(cancelled: &TransactionCanceledException) -> Result<Transacted> {
    // A write that was not evaluated may be the write that decides the outcome.
    if let Some(error) = no_condition(cancelled) {
        return Err(error);
    }
    let refusals: Vec<_> = cancelled.cancellation_reasons().iter().map(Refusal::of).collect();
    match refusals.iter().any(|refusal| matches!(refusal, Refusal::Condition(_))) {
        true => Ok(Transacted::Refused(refusals)),
        false => Err(without_reason()),
    }
}

impl Refusal {
    /// Converts the cancellation reason of a write that the service evaluated.
    pub(crate) fn of(reason: &CancellationReason) -> Self {
        match reason.code() {
            Some("ConditionalCheckFailed") => Self::Condition(row(reason.item())),
            _ => Self::Not,
        }
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::Certainty;

    use super::*;

    const CODES: [&str; 8] = [
        "None",
        "ConditionalCheckFailed",
        "TransactionConflict",
        "ThrottlingError",
        "ProvisionedThroughputExceeded",
        "ItemCollectionSizeLimitExceeded",
        "ValidationError",
        "SomethingNew",
    ];

    fn outcome(codes: [&str; 2]) -> Result<Transacted> {
        let reason = |code| CancellationReason::builder().code(code).build();
        let cancelled = TransactionCanceledException::builder();
        refused(&cancelled.set_cancellation_reasons(Some(codes.map(reason).to_vec())).build())
    }

    /// Returns whether the service evaluated a write with this cancellation code.
    fn was_evaluated(code: &str) -> bool {
        CODES[..2].contains(&code)
    }

    #[test]
    fn a_failed_condition_counts_only_if_all_writes_were_evaluated() {
        for first in CODES {
            for second in CODES {
                let codes = [first, second];
                let is_answer = codes.contains(&CODES[1]) && codes.into_iter().all(was_evaluated);
                match outcome(codes) {
                    Ok(Transacted::Refused(refusals)) => {
                        let is_condition = |refusal: &Refusal| matches!(refusal, Refusal::Condition(_));
                        let conditions: Vec<_> = refusals.iter().map(is_condition).collect();
                        assert!(is_answer, "{codes:?} was believed");
                        assert_eq!(conditions, codes.map(|code| code == CODES[1]), "{codes:?}");
                    }
                    Ok(Transacted::Done) => panic!("{codes:?} was made"),
                    Err(error) => {
                        assert!(!is_answer, "{codes:?}: {error}");
                        assert_eq!(error.certainty(), Certainty::NotApplied, "{codes:?}: {error}");
                    }
                }
            }
        }
    }
}
