//! Transactions: all of several writes, or none.

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::CancellationReason;
use aws_sdk_dynamodb::types::error::TransactionCanceledException;
use storagebox_core::{Error, ErrorKind, Result};

use super::Client;
use super::requests::row;
use super::write::{Write, request_token};
use crate::error;
use crate::row::Row;

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
        match Box::pin(request.send()).await {
            Ok(_) => Ok(Some(Transacted::Done)),
            Err(error) => match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => refused(cancelled).map(Some),
                Some(TransactWriteItemsError::IdempotentParameterMismatchException(_)) => Ok(None),
                _ => Err(error::of(error)),
            },
        }
    }
}

/// A condition that did not hold is an answer only if every other part was judged too. A part that met a conflict or a
/// throttle was not: it may be the one that would have answered, such as the marker of a change that was applied.
fn refused(cancelled: &TransactionCanceledException) -> Result<Transacted> {
    let reasons = cancelled.cancellation_reasons();
    if let Some(error) = reasons.iter().filter_map(CancellationReason::code).find_map(error::reason) {
        return Err(error);
    }
    let refusals: Vec<_> = reasons.iter().map(Refusal::of).collect();
    match refusals.iter().any(|refusal| matches!(refusal, Refusal::Condition(_))) {
        true => Ok(Transacted::Refused(refusals)),
        false => Err(Error::new(ErrorKind::Contention, "the transaction was cancelled").on("dynamo")),
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
                    Err(error) => assert!(!is_answer, "{codes:?}: {error}"),
                }
            }
        }
    }
}
