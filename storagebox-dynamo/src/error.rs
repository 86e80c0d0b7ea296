//! Maps the service's errors to ours, by code and status. The error says whether the call may have been applied (ER-1).

mod codes;
mod undelivered;

use std::error::Error as StdError;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use storagebox_core::{Error, ErrorKind};

use codes::{CODES, REASONS, known};
use undelivered::LOST;

pub(crate) use undelivered::lacks_credentials;

/// Converts an error of the driver, which becomes the source of the new error.
pub(crate) fn of<E>(error: SdkError<E, HttpResponse>) -> Error
where
    E: StdError + ProvideErrorMetadata + Send + Sync + 'static,
{
    judged(&error).caused_by(error)
}

/// Converts an error of the driver, which does not become the source of the new error.
pub(crate) fn judged<E>(error: &SdkError<E, HttpResponse>) -> Error
where
    E: StdError + ProvideErrorMetadata + 'static,
{
    let (kind, message) = judge(error);
    let judged = Error::new(kind, message).on("dynamo");
    match answered(error) {
        Some(status) => judged.with("status", status),
        None => judged,
    }
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

/// Returns the HTTP status of the reply, if there was a reply.
fn answered<E>(error: &SdkError<E, HttpResponse>) -> Option<u16> {
    error.raw_response().map(|answer| answer.status().as_u16())
}

/// Returns the error for a cancellation reason; `None` for a failed condition or no reason.
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

/// Converts the error of a read: a read changes nothing, so an unknown outcome becomes `Unavailable`.
pub(crate) fn reading(error: Error) -> Error {
    without_effect(error, "the answer to a read was lost")
}

/// Converts the error of opening a namespace: the call itself has changed nothing, so an unknown outcome becomes
/// `Unavailable`.
pub(crate) fn opening(error: Error) -> Error {
    without_effect(error, "the answer to the opening of the namespace was lost")
}

/// Converts the error of a probe by `setup`: a probe changes nothing, so an unknown outcome becomes `Unavailable`.
pub(crate) fn probing(error: Error) -> Error {
    without_effect(error, "the answer to the probe of the server was lost")
}

fn without_effect(error: Error, why: &'static str) -> Error {
    match error.kind() {
        ErrorKind::OutcomeUnknown => Error::new(ErrorKind::Unavailable, why).caused_by(error).on("dynamo"),
        _ => error,
    }
}

pub(crate) fn misconfigured(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::misconfigured(setting, why).on("dynamo")
}

/// Creates the `Contention` error, after which the client makes another attempt.
pub(crate) fn contention() -> Error {
    Error::new(ErrorKind::Contention, codes::CONFLICT).on("dynamo")
}

/// Creates the `InvalidInput` error of an argument.
pub(crate) fn bad(setting: &'static str, why: impl std::fmt::Display) -> Error {
    Error::invalid(setting, why).on("dynamo")
}

/// Converts the driver's error about a request that lacks a required part.
pub(crate) fn incomplete(error: BuildError) -> Error {
    bad("request", "lacks a required part").caused_by(error)
}
