//! What can go wrong with a request.

use std::time::Duration;

use super::batch::has_halves;
use super::request::Request;

/// What becomes of one request.
///
/// The client cannot tell some of them apart, and that is their point: after a lost reply and a lost request it knows
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// The server fails with status 500, and nothing was applied.
    ErrorBefore,
    /// The server fails with status 500 although the request was applied.
    ErrorAfter,
    /// The connection is lost before the request arrives.
    DropBefore,
    /// The request is applied, and its reply is lost.
    DropAfter,
    /// The request is applied, and its reply of status 200 is cut in the middle. Refusals arrive whole.
    Torn,
    /// The request is refused because there are too many: by `ProvisionedThroughputExceededException` and
    /// `ThrottlingException` in turn; in `TransactWriteItems` the latter is a cancellation for `ThrottlingError`.
    Throttle,
    /// Another transaction is in the way of a write of one item, by `TransactionConflictException`, or of a
    /// transaction, which is cancelled for one of its items.
    Conflict,
    /// A transaction that the server refuses is also refused for a reason that is no condition: in the place of one of its
    /// reasons stands another, each of them in turn in each place. Nothing was applied either way.
    Mixed,
    /// A transaction of the same token is under way: `TransactionInProgressException`.
    InProgress,
    /// Half of a batch of two or more is written, or read, and the rest comes back unprocessed.
    ///
    /// The request is changed after it was signed, so that only servers that check no signature take it.
    Unprocessed,
    /// The request is sent after this time. It takes a driver that has a timer.
    Delay(Duration),
    /// The connection is lost, and the request is applied later: by [`land`](super::Faults::land), or after one to
    /// three more requests.
    Late,
    /// The request is applied, and at once applied again; the second answer arrives. So does a proxy that sends again what
    /// it got no answer to. Not of a `DeleteItem`, whose second answer tells nothing of the first.
    Twice,
}

impl Fault {
    /// All of them, with a short delay.
    pub const ALL: &[Self] = &[
        Self::ErrorBefore,
        Self::ErrorAfter,
        Self::DropBefore,
        Self::DropAfter,
        Self::Torn,
        Self::Throttle,
        Self::Conflict,
        Self::Mixed,
        Self::InProgress,
        Self::Unprocessed,
        Self::Delay(Duration::from_millis(5)),
        Self::Late,
        Self::Twice,
    ];

    /// As it is counted: delays are one kind, however long.
    pub fn name(self) -> &'static str {
        match self {
            Self::ErrorBefore => "ErrorBefore",
            Self::ErrorAfter => "ErrorAfter",
            Self::DropBefore => "DropBefore",
            Self::DropAfter => "DropAfter",
            Self::Torn => "Torn",
            Self::Throttle => "Throttle",
            Self::Conflict => "Conflict",
            Self::Mixed => "Mixed",
            Self::InProgress => "InProgress",
            Self::Unprocessed => "Unprocessed",
            Self::Delay(_) => "Delay",
            Self::Late => "Late",
            Self::Twice => "Twice",
        }
    }

    /// Whether a request may be applied without its own answer.
    pub fn loses_answers(self) -> bool {
        matches!(self, Self::ErrorAfter | Self::DropAfter | Self::Torn | Self::Late | Self::Twice)
    }

    /// Whether DynamoDB, or the way to it, can do this to a request.
    pub(super) fn fits(self, request: &Request) -> bool {
        let operation = request.operation.as_str();
        match self {
            Self::Conflict => is_transaction(operation) || is_single_write(operation),
            Self::InProgress | Self::Mixed => operation == "TransactWriteItems",
            Self::Twice => operation != "DeleteItem",
            Self::Unprocessed => is_batch(operation) && has_halves(request),
            _ => true,
        }
    }
}

pub(super) fn is_transaction(operation: &str) -> bool {
    matches!(operation, "TransactWriteItems" | "TransactGetItems")
}

fn is_batch(operation: &str) -> bool {
    matches!(operation, "BatchWriteItem" | "BatchGetItem")
}

fn is_single_write(operation: &str) -> bool {
    matches!(operation, "PutItem" | "UpdateItem" | "DeleteItem")
}
