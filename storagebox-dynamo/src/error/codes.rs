//! What the error codes of the service mean: DynamoDB's own codes, and the codes that all AWS services share.

use storagebox_core::ErrorKind;

/// An error code of the service, the kind of our error, and its message.
type Code = (&'static str, ErrorKind, &'static str);

pub(super) const CODES: &[Code] = &[
    ("ResourceNotFoundException", ErrorKind::NotSetUp, "the table, or its index, does not exist"),
    ("ResourceInUseException", ErrorKind::Contention, "the table is being created or changed"),
    ("TableNotFoundException", ErrorKind::NotSetUp, "the table does not exist"),
    ("ContinuousBackupsUnavailableException", ErrorKind::Contention, "the table's backups are being turned on"),
    ("AccessDeniedException", ErrorKind::Denied, DENIED),
    ("AccessDenied", ErrorKind::Denied, DENIED),
    ("NotAuthorized", ErrorKind::Denied, DENIED),
    ("UnauthorizedOperation", ErrorKind::Denied, DENIED),
    ("OptInRequired", ErrorKind::Denied, "the account has not signed up for the service"),
    ("UnrecognizedClientException", ErrorKind::Denied, REFUSED),
    ("InvalidClientTokenId", ErrorKind::Denied, REFUSED),
    ("InvalidAccessKeyId", ErrorKind::Denied, REFUSED),
    ("AuthFailure", ErrorKind::Denied, REFUSED),
    ("InvalidSignatureException", ErrorKind::Denied, REFUSED),
    ("SignatureDoesNotMatch", ErrorKind::Denied, REFUSED),
    ("IncompleteSignatureException", ErrorKind::Denied, REFUSED),
    ("IncompleteSignature", ErrorKind::Denied, REFUSED),
    ("MissingAuthenticationTokenException", ErrorKind::Denied, REFUSED),
    ("MissingAuthenticationToken", ErrorKind::Denied, REFUSED),
    ("ExpiredTokenException", ErrorKind::Denied, EXPIRED),
    ("ExpiredToken", ErrorKind::Denied, EXPIRED),
    ("RequestExpired", ErrorKind::Denied, CLOCK),
    ("RequestInTheFuture", ErrorKind::Denied, CLOCK),
    ("RequestTimeTooSkewed", ErrorKind::Denied, CLOCK),
    ("UnknownOperationException", ErrorKind::Unsupported, LACKING),
    ("UnknownOperation", ErrorKind::Unsupported, LACKING),
    ("InvalidAction", ErrorKind::Unsupported, LACKING),
    ("MissingAction", ErrorKind::Unsupported, LACKING),
    ("InvalidEndpointException", ErrorKind::Misconfigured, "the endpoint is not of this account or region"),
    ("MalformedHttpRequestException", ErrorKind::Misconfigured, "the request was changed on its way to the service"),
    ("ValidationException", ErrorKind::InvalidInput, SHAPE),
    ("ValidationError", ErrorKind::InvalidInput, SHAPE),
    ("SerializationException", ErrorKind::InvalidInput, SHAPE),
    ("RequestEntityTooLargeException", ErrorKind::TooLarge, LARGE),
    ("PayloadTooLarge", ErrorKind::TooLarge, LARGE),
    ("ItemCollectionSizeLimitExceededException", ErrorKind::Unavailable, FULL),
    ("ProvisionedThroughputExceededException", ErrorKind::Throttled, SLOWER),
    ("ThrottlingException", ErrorKind::Throttled, SLOWER),
    ("Throttling", ErrorKind::Throttled, SLOWER),
    ("ThrottledException", ErrorKind::Throttled, SLOWER),
    ("RequestThrottledException", ErrorKind::Throttled, SLOWER),
    ("RequestThrottled", ErrorKind::Throttled, SLOWER),
    ("TooManyRequestsException", ErrorKind::Throttled, SLOWER),
    ("BandwidthLimitExceeded", ErrorKind::Throttled, SLOWER),
    ("SlowDown", ErrorKind::Throttled, SLOWER),
    ("RequestLimitExceeded", ErrorKind::Throttled, "the account is at its limit"),
    ("LimitExceededException", ErrorKind::Throttled, "too many tables are being changed"),
    ("TransactionConflictException", ErrorKind::Contention, CONFLICT),
    ("ReplicatedWriteConflictException", ErrorKind::Contention, "another region was writing the row"),
    ("TransactionInProgressException", ErrorKind::OutcomeUnknown, "the same transaction is still in progress"),
    ("IdempotentParameterMismatchException", ErrorKind::OutcomeUnknown, "another transaction has the same token"),
    ("RequestAbortedException", ErrorKind::OutcomeUnknown, GIVEN_UP),
    ("RequestTimeoutException", ErrorKind::OutcomeUnknown, GIVEN_UP),
    ("RequestTimeout", ErrorKind::OutcomeUnknown, GIVEN_UP),
    ("InternalServerError", ErrorKind::OutcomeUnknown, FAILED),
    ("InternalFailure", ErrorKind::OutcomeUnknown, FAILED),
    ("ServiceUnavailable", ErrorKind::OutcomeUnknown, FAILED),
];

/// The reasons of a cancelled transaction other than failed conditions.
pub(super) const REASONS: &[Code] = &[
    ("TransactionConflict", ErrorKind::Contention, CONFLICT),
    ("ThrottlingError", ErrorKind::Throttled, SLOWER),
    ("ProvisionedThroughputExceeded", ErrorKind::Throttled, SLOWER),
    ("ValidationError", ErrorKind::Corrupt, FOREIGN),
    ("ItemCollectionSizeLimitExceeded", ErrorKind::Unavailable, FULL),
];

const DENIED: &str = "the credentials lack a right; the README of storagebox-dynamo lists the necessary rights";
const REFUSED: &str = "the service refused the credentials";
const EXPIRED: &str = "the credentials have expired";
const CLOCK: &str = "the request's signing time differs from the service's time; this machine's clock may be wrong";
const LACKING: &str =
    "the server at the endpoint does not know the operation: it is not DynamoDB, or lacks a part of it";
const SHAPE: &str = "the table refused the request; it must have the keys and the index that the README describes";
const LARGE: &str = "the request is larger than the service, or a proxy before it, accepts";
const FULL: &str = "a shard of the namespace is full (10 GB); create a new namespace with more shards";
const FOREIGN: &str =
    "a row of the call has an attribute of the wrong type, or no room; this version of the library writes no such row";
const SLOWER: &str = "the table, or a partition of it, is at its limit";
pub(super) const CONFLICT: &str = "another write of the same row was in progress";
const GIVEN_UP: &str = "the service gave up on the request, which it may have begun";
const FAILED: &str = "the service failed";

pub(super) fn known(table: &[Code], name: &str) -> Option<(ErrorKind, &'static str)> {
    table.iter().find(|(known, ..)| *known == name).map(|(_, kind, message)| (*kind, *message))
}

/// Classifies a reply without a known code by its HTTP status.
pub(super) fn by_status(status: u16) -> (ErrorKind, &'static str) {
    match status {
        // With these statuses, a server gives up on a request that it may have begun.
        408 | 460 | 499 => (ErrorKind::OutcomeUnknown, GIVEN_UP),
        // With the other statuses from 300 to 499, the request changed nothing.
        401 | 403 | 407 => (ErrorKind::Denied, "the service, or a proxy before it, refused the request"),
        413 => (ErrorKind::TooLarge, LARGE),
        425 => (ErrorKind::Unavailable, "the service does not take the request yet"),
        429 => (ErrorKind::Throttled, SLOWER),
        501 => (ErrorKind::Unsupported, LACKING),
        300..=499 => (
            ErrorKind::Misconfigured,
            "the endpoint refused the request; it is not DynamoDB, or needs something that this library does not know",
        ),
        _ => (ErrorKind::OutcomeUnknown, FAILED),
    }
}
