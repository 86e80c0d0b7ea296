//! The service's errors, by code. What is not in the table may have been applied (ER-1).

use std::error::Error as StdError;
use std::io;
use std::iter::successors;

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ConnectorError, ProvideErrorMetadata, SdkError};
use storagebox_core::{Error, ErrorKind};

const CODES: &[(&str, ErrorKind, &str)] = &[
    ("ResourceNotFoundException", ErrorKind::NotSetUp, "the table, or its index, does not exist"),
    ("ResourceInUseException", ErrorKind::Contention, "the table is being made or changed"),
    ("TableNotFoundException", ErrorKind::NotSetUp, "the table does not exist"),
    ("ContinuousBackupsUnavailableException", ErrorKind::Contention, "the table's backups are being turned on"),
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
        "a shard of the namespace is full (10 GB); make the namespace anew with more shards",
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
const UNSIGNED: &str = "there are no credentials to sign the request with";
const SHAPE: &str = "the table refused the request; it must have the keys and the index that the README describes";
const FOREIGN: &str =
    "a row of the call has an attribute of another type, or no room; it is not what this version of the library writes";
const SLOWER: &str = "the table, or a partition of it, is at its limit";
pub(crate) const CONFLICT: &str = "another write of the same row was under way";

/// Reasons of a cancelled transaction that are no conditions.
const REASONS: &[(&str, ErrorKind, &str)] = &[
    ("TransactionConflict", ErrorKind::Contention, CONFLICT),
    ("ThrottlingError", ErrorKind::Throttled, SLOWER),
    ("ProvisionedThroughputExceeded", ErrorKind::Throttled, SLOWER),
    ("ValidationError", ErrorKind::Corrupt, FOREIGN),
    (
        "ItemCollectionSizeLimitExceeded",
        ErrorKind::Unavailable,
        "a shard of the namespace is full (10 GB); make the namespace anew with more shards",
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

fn judge<E>(error: &SdkError<E, HttpResponse>) -> (ErrorKind, &'static str)
where
    E: StdError + ProvideErrorMetadata + 'static,
{
    match error {
        SdkError::ConstructionFailure(_) => (ErrorKind::Denied, UNSIGNED),
        SdkError::DispatchFailure(failure) => failure.as_connector_error().map_or(LOST, undelivered),
        SdkError::ServiceError(service) => service
            .err()
            .code()
            .and_then(|code| known(CODES, code))
            .unwrap_or((ErrorKind::OutcomeUnknown, "the service failed")),
        _ => LOST,
    }
}

const LOST: (ErrorKind, &str) = (ErrorKind::OutcomeUnknown, "the connection or the answer was lost");

/// Nothing can have been sent without credentials, or without a connection.
fn undelivered(error: &ConnectorError) -> (ErrorKind, &'static str) {
    match causes::<CredentialsError>(error).next() {
        Some(CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_)) => {
            (ErrorKind::Denied, UNSIGNED)
        }
        Some(_) => (ErrorKind::Unavailable, "the credentials could not be fetched"),
        None if causes::<io::Error>(error).any(|error| error.kind() == io::ErrorKind::ConnectionRefused) => {
            (ErrorKind::Unavailable, "the endpoint could not be reached")
        }
        None => LOST,
    }
}

/// The errors of this type among the causes, the last cause last.
fn causes<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a E> {
    successors(Some(error), |&error| error.source()).filter_map(|error| error.downcast_ref())
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
    without_effect(error, "the answer to a read was lost")
}

/// A namespace that may be there now is as good as one that is made later: nothing that was asked for has happened.
pub(crate) fn opening(error: Error) -> Error {
    without_effect(error, "the answer to the opening of the namespace was lost")
}

fn without_effect(error: Error, why: &'static str) -> Error {
    match error.kind() {
        ErrorKind::OutcomeUnknown => Error::new(ErrorKind::Unavailable, why).caused_by(error).on("dynamo"),
        _ => error,
    }
}

/// What makes no sense for the setting of this name.
pub(crate) fn misconfigured(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("dynamo")
}

/// What makes no sense for the argument of this name.
pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::invalid(setting, why).on("dynamo")
}
