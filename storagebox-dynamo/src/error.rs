//! The service's errors, by code. What is not in the table may have been applied (ER-1).

use std::error::Error as StdError;
use std::io;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use storagebox_core::{Error, ErrorKind};

const CODES: &[(&str, ErrorKind, &str)] = &[
    ("ResourceNotFoundException", ErrorKind::NotSetUp, "the table, or its index, does not exist"),
    ("ResourceInUseException", ErrorKind::Contention, "the table is being made or changed"),
    ("TableNotFoundException", ErrorKind::NotSetUp, "the table does not exist"),
    ("AccessDeniedException", ErrorKind::Denied, DENIED),
    ("UnrecognizedClientException", ErrorKind::Denied, REFUSED),
    ("InvalidSignatureException", ErrorKind::Denied, REFUSED),
    ("IncompleteSignatureException", ErrorKind::Denied, REFUSED),
    ("MissingAuthenticationTokenException", ErrorKind::Denied, REFUSED),
    ("MissingAuthenticationToken", ErrorKind::Denied, REFUSED),
    ("ExpiredTokenException", ErrorKind::Denied, "the credentials have expired"),
    ("ValidationException", ErrorKind::InvalidInput, SHAPE),
    ("SerializationException", ErrorKind::InvalidInput, SHAPE),
    (
        "ItemCollectionSizeLimitExceededException",
        ErrorKind::Unavailable,
        "a shard of the box is full (10 GB); make the box anew with more shards",
    ),
    ("ProvisionedThroughputExceededException", ErrorKind::Throttled, SLOWER),
    ("ThrottlingException", ErrorKind::Throttled, SLOWER),
    ("RequestLimitExceeded", ErrorKind::Throttled, SLOWER),
    ("LimitExceededException", ErrorKind::Throttled, "too many tables are being changed"),
    ("TransactionConflictException", ErrorKind::Contention, CONFLICT),
    ("TransactionInProgressException", ErrorKind::OutcomeUnknown, "the same transaction is still under way"),
    ("ReplicatedWriteConflictException", ErrorKind::Contention, "another region was writing the row"),
];

const DENIED: &str = "the credentials lack a right; the README of storagebox-dynamo lists those it needs";
const REFUSED: &str = "the service refused the credentials";
const SHAPE: &str =
    "the table refused the request; it must have the keys and the index that the README describes";
const SLOWER: &str = "the table, or a partition of it, is at its limit";
pub(crate) const CONFLICT: &str = "another write of the same row was under way";

/// Reasons of a cancelled transaction that are no conditions.
const REASONS: &[(&str, ErrorKind, &str)] = &[
    ("TransactionConflict", ErrorKind::Contention, CONFLICT),
    ("ThrottlingError", ErrorKind::Throttled, SLOWER),
    ("ProvisionedThroughputExceeded", ErrorKind::Throttled, SLOWER),
    ("ValidationError", ErrorKind::InvalidInput, SHAPE),
    (
        "ItemCollectionSizeLimitExceeded",
        ErrorKind::Unavailable,
        "a shard of the box is full (10 GB); make the box anew with more shards",
    ),
];

/// The driver's error as ours, with what the service said as its source.
pub(crate) fn of<E>(error: SdkError<E, HttpResponse>) -> Error
where
    E: StdError + ProvideErrorMetadata + Send + Sync + 'static,
{
    let (kind, message) = judge(&error);
    Error::new(kind, message).caused_by(error).on("dynamo")
}

fn judge<E: ProvideErrorMetadata>(error: &SdkError<E, HttpResponse>) -> (ErrorKind, &'static str)
where
    E: StdError + 'static,
{
    match error {
        SdkError::ConstructionFailure(_) => {
            (ErrorKind::Denied, "the request could not be signed: no credentials")
        }
        SdkError::DispatchFailure(failure)
            if failure.as_connector_error().is_some_and(|error| is_refused(error)) =>
        {
            (ErrorKind::Unavailable, "the endpoint could not be reached")
        }
        SdkError::ServiceError(service) => service
            .err()
            .code()
            .and_then(|code| known(CODES, code))
            .unwrap_or((ErrorKind::OutcomeUnknown, "the service failed")),
        _ => (ErrorKind::OutcomeUnknown, "the connection or the answer was lost"),
    }
}

/// Whether no connection was made, so that nothing can have been sent.
fn is_refused(error: &(dyn StdError + 'static)) -> bool {
    let is_here =
        error.downcast_ref::<io::Error>().map(io::Error::kind) == Some(io::ErrorKind::ConnectionRefused);
    is_here || error.source().is_some_and(is_refused)
}

/// Why a transaction was cancelled, if it was not by a condition.
pub(crate) fn reason(code: &str) -> Option<Error> {
    let known = match code {
        "None" | "ConditionalCheckFailed" => return None,
        code => known(REASONS, code),
    };
    let (kind, message) = known.unwrap_or((ErrorKind::OutcomeUnknown, "the transaction was cancelled"));
    Some(Error::new(kind, message).with("reason", code).on("dynamo"))
}

fn known(table: &[(&str, ErrorKind, &'static str)], code: &str) -> Option<(ErrorKind, &'static str)> {
    table.iter().find(|(known, ..)| *known == code).map(|(_, kind, message)| (*kind, *message))
}

/// A failed read has changed nothing, whatever became of it.
pub(crate) fn reading(error: Error) -> Error {
    if error.kind() != ErrorKind::OutcomeUnknown {
        return error;
    }
    Error::new(ErrorKind::Unavailable, "the answer to a read was lost").caused_by(error).on("dynamo")
}

pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::invalid(setting, why).on("dynamo")
}
