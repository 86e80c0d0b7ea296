//! The faults that can happen to a request.

use std::time::Duration;

use super::batch::has_halves;
use super::request::Request;

/// A fault of one request. A client cannot tell some faults apart: a lost reply looks the same as a lost request.
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
    /// The server refuses the request because there are too many requests. The error is
    /// `ProvisionedThroughputExceededException` and `ThrottlingException` in turn. Instead of `ThrottlingException`,
    /// `TransactWriteItems` gets a cancellation for `ThrottlingError`.
    Throttle,
    /// The request conflicts with another transaction. A write of one item gets `TransactionConflictException`, and a
    /// transaction is cancelled for one of its items.
    Conflict,
    /// The server refuses a transaction, and one reason of the refusal is replaced by a reason that is not a failed
    /// condition. Each further fault of this kind replaces the next place of the refusal, and after the last place uses
    /// the next such reason.
    Mixed,
    /// A transaction with the same token is in progress: `TransactionInProgressException`.
    InProgress,
    /// Half of a batch of two or more items is written or read, and the rest is returned as unprocessed.
    ///
    /// The fault removes the other half from the request, so the signature of the request is no longer valid. Only
    /// servers that check no signature accept it.
    Unprocessed,
    /// The request is sent after this delay. Needs a driver that has a timer.
    Delay(Duration),
    /// The connection is lost, and the request is applied after one to three more requests, or earlier by
    /// [`Faults::land`](super::Faults::land).
    Late,
    /// The connection is lost, and the request is applied only by [`Faults::land`](super::Faults::land).
    Parked,
    /// The request is applied twice, and the second reply arrives. A proxy that resends a request without a reply does
    /// the same. Does not apply to `DeleteItem`, because the second reply says nothing about the first deletion.
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

    /// Returns the name under which the fault is counted. All delays have the same name.
    pub fn name(self) -> String {
        let shown = format!("{self:?}");
        shown.split('(').next().unwrap_or_default().to_owned()
    }

    /// Returns whether a request may be applied without its own reply.
    pub fn loses_answers(self) -> bool {
        matches!(self, Self::ErrorAfter | Self::DropAfter | Self::Torn | Self::Late | Self::Parked | Self::Twice)
    }

    /// Returns whether this fault can happen to the request.
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
