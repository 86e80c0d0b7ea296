//! The faults that can happen to a request.

use std::time::Duration;

use super::batch::has_halves;
use super::request::Request;

/// What happens to one request. A client cannot tell some of them apart: a lost reply looks the same as a lost request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The server refuses the request because there are too many requests, with
    /// `ProvisionedThroughputExceededException` and `ThrottlingException` in turn. In `TransactWriteItems` the latter
    /// is a cancellation for `ThrottlingError`.
    Throttle,
    /// Another transaction conflicts with a write of one item, which gets `TransactionConflictException`, or with a
    /// transaction, which is cancelled for one of its items.
    Conflict,
    /// A transaction that the server refuses is also refused for a reason that is not a condition: another reason
    /// replaces one of its reasons, each other reason in turn in each place. Nothing is applied either way.
    Mixed,
    /// A transaction with the same token is in progress: `TransactionInProgressException`.
    InProgress,
    /// Half of a batch of two or more items is written or read, and the rest is returned as unprocessed.
    ///
    /// The request is changed after it was signed, so only servers that check no signature accept it.
    Unprocessed,
    /// The request is sent after this delay. Needs a driver that has a timer.
    Delay(Duration),
    /// The connection is lost, and the request is applied later: by `land`, or after one to
    /// three more requests.
    Late,
    /// The connection is lost, and the request is applied by `land`, however many others come
    /// before.
    Parked,
    /// The request is applied, and at once applied again; the second reply arrives. A proxy does the same if it resends
    /// a request that got no reply. Does not apply to `DeleteItem`, whose second reply says nothing about the first.
    Twice,
}

impl Fault {
    /// All faults, with a short delay.
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
        Self::Parked,
        Self::Twice,
    ];

    /// Returns the name under which the fault is counted: all delays have one.
    pub fn name(self) -> String {
        let shown = format!("{self:?}");
        shown.split('(').next().unwrap_or_default().to_owned()
    }

    /// Returns whether a request may be applied without its own reply.
    pub fn loses_answers(self) -> bool {
        matches!(self, Self::ErrorAfter | Self::DropAfter | Self::Torn | Self::Late | Self::Parked | Self::Twice)
    }

    /// Returns whether DynamoDB, or the network, can do this to a request.
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
