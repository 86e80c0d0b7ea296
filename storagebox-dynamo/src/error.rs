//! The service's errors, by name and status. What is surely not applied is told from what may have been (ER-1).

mod codes;
mod undelivered;

use std::error::Error as StdError;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use storagebox_core::{Error, ErrorKind};

use codes::{CODES, REASONS, known};
use undelivered::LOST;

pub(crate) use codes::CONFLICT;
pub(crate) use undelivered::lacks_credentials;

/// The driver's error as ours, with what the service said as its source.
pub(crate) fn of<E>(error: SdkError<E, HttpResponse>) -> Error
where
    E: StdError + ProvideErrorMetadata + Send + Sync + 'static,
{
    let (kind, message) = judge(&error);
    let judged = Error::new(kind, message).on("dynamo");
    match answered(&error) {
        Some(status) => judged.with("status", status),
        None => judged,
    }
    .caused_by(error)
}

fn judge<E>(error: &SdkError<E, HttpResponse>) -> (ErrorKind, &'static str)
where
    E: StdError + ProvideErrorMetadata + 'static,
{
    match error {
        SdkError::ConstructionFailure(_) => undelivered::UNSIGNED,
        SdkError::DispatchFailure(failure) => failure.as_connector_error().map_or(LOST, undelivered::judge),
        SdkError::ServiceError(service) => {
            let named = service.err().code().and_then(|name| known(CODES, name));
            named.unwrap_or_else(|| codes::by_status(service.raw().status().as_u16()))
        }
        _ => LOST,
    }
}

/// What the answer says of itself, where the cause may not.
fn answered<E>(error: &SdkError<E, HttpResponse>) -> Option<u16> {
    error.raw_response().map(|answer| answer.status().as_u16())
}

/// Why a transaction was cancelled, if it was not by a condition.
pub(crate) fn reason(code: &str) -> Option<Error> {
    let known = match code {
        "None" | "ConditionalCheckFailed" => return None,
        code => known(REASONS, code),
    };
    let (kind, message) = known.unwrap_or((
        ErrorKind::Unavailable,
        "the transaction was cancelled for a reason that this library does not know",
    ));
    Some(Error::new(kind, message).with("reason", code).on("dynamo"))
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
