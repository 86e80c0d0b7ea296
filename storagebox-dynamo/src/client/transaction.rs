//! Transactions: all of several writes, or none; and several rows as they were at one moment.

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::transact_get_items::TransactGetItemsError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use aws_sdk_dynamodb::types::{CancellationReason, Get, TransactGetItem};
use futures_util::FutureExt as _;
use storagebox_core::{Error, ErrorKind, Result};

use super::Client;
use super::requests::{read_judged, row};
use super::write::{Write, request_token};
use crate::error;
use crate::row::{Row, RowKey};

/// What became of a transaction.
#[derive(Debug)]
pub(crate) enum Transacted {
    /// All of it was made.
    Done,
    /// None of it was made; one entry for each of its parts.
    Refused(Vec<Refusal>),
}

/// Why a part kept its transaction from being made.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It did not.
    Not,
    /// Its condition did not hold; the row as it is, if there is one.
    Condition(Option<Row>),
}

impl Client {
    /// All of the writes or none, with a token derived from them: the same transaction, sent again within ten minutes,
    /// is told its first answer.
    pub(crate) async fn transact(&self, writes: &[Write]) -> Result<Transacted> {
        let transacted = self.transact_as(writes, &request_token(self.table(), writes)).await?;
        transacted.ok_or_else(|| Error::unknown("another transaction has the same token").on("dynamo"))
    }

    /// The same with the caller's own token; `None` if that stands for another transaction.
    pub(crate) async fn transact_as(&self, writes: &[Write], token: &str) -> Result<Option<Transacted>> {
        let parts = writes.iter().map(|write| write.part(self.table())).collect::<Result<Vec<_>>>()?;
        let request = self.driver().await.transact_write_items().set_transact_items(Some(parts));
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

    /// The rows as they were at one moment, in the order of their keys. At most a hundred.
    pub(crate) async fn get_together(&self, keys: &[RowKey]) -> Result<Vec<Option<Row>>> {
        let gets = keys.iter().map(|key| get(self.table(), key)).collect::<Result<Vec<_>>>()?;
        let request = self.driver().await.transact_get_items().set_transact_items(Some(gets));
        let request = request.set_return_consumed_capacity(self.capacity());
        let answer = read_judged(|| request.clone().send(), unread).await?;
        Ok(answer.responses.unwrap_or_default().into_iter().map(|found| row(found.item())).collect())
    }
}

fn get(table: &str, key: &RowKey) -> Result<TransactGetItem> {
    let get = Get::builder().table_name(table).set_key(Some(key.attributes())).build();
    let get = get.map_err(|error| error::bad("keys", "lack a part").caused_by(error))?;
    Ok(TransactGetItem::builder().get(get).build())
}

/// A read that is cancelled met another's write.
fn unread(error: SdkError<TransactGetItemsError, HttpResponse>) -> Error {
    match error.as_service_error() {
        Some(TransactGetItemsError::TransactionCanceledException(cancelled)) => {
            no_condition(cancelled).unwrap_or_else(in_the_way)
        }
        _ => error::of(error),
    }
}

/// Why a transaction was cancelled, if it was not by a condition alone.
fn no_condition(cancelled: &TransactionCanceledException) -> Option<Error> {
    cancelled.cancellation_reasons().iter().filter_map(CancellationReason::code).find_map(error::reason)
}

fn in_the_way() -> Error {
    Error::new(ErrorKind::Contention, "the transaction was cancelled").on("dynamo")
}

/// A condition that did not hold is an answer only if every other part was judged too. A part that met a conflict or a
/// throttle was not: it may be the one that would have answered, such as the marker of a change that was applied.
fn refused(cancelled: &TransactionCanceledException) -> Result<Transacted> {
    if let Some(error) = no_condition(cancelled) {
        return Err(error);
    }
    let refusals: Vec<_> = cancelled.cancellation_reasons().iter().map(Refusal::of).collect();
    match refusals.iter().any(|refusal| matches!(refusal, Refusal::Condition(_))) {
        true => Ok(Transacted::Refused(refusals)),
        false => Err(in_the_way()),
    }
}

impl Refusal {
    /// Of a part that was judged.
    fn of(reason: &CancellationReason) -> Self {
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

    /// Judged: the condition held, or it did not.
    fn was_judged(code: &str) -> bool {
        CODES[..2].contains(&code)
    }

    #[test]
    fn a_condition_is_believed_only_beside_parts_that_were_judged() {
        for first in CODES {
            for second in CODES {
                let codes = [first, second];
                let is_answer = codes.contains(&CODES[1]) && codes.into_iter().all(was_judged);
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
