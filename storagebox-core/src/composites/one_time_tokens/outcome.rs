//! The outcomes of the calls on one-time tokens.

use std::time::Duration;

use crate::contract::lease_repo::Fence;
use crate::values::value::{OpId, Payload, TokenId};

/// The right to use a token, from [`OneTimeTokens::begin`](crate::OneTimeTokens::begin) on. It is plain data: it can be
/// stored and passed on, and dropping it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TokenLease {
    /// The token.
    pub token: TokenId,
    /// The caller who gets the result again.
    pub caller: OpId,
    /// The operation that began the lease, a new one for each call of `begin`.
    pub op: OpId,
    /// A number that grows with every lease on the token. Other systems use it to fence off older holders (D-5).
    pub fence: Fence,
}

/// The outcome of [`OneTimeTokens::peek`](crate::OneTimeTokens::peek).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the token may be used"]
pub enum Peeked {
    /// The token can be used, now or after another caller's lease has ended without a result.
    Live,
    /// The token was used or discarded, or was never created.
    Gone,
}

/// The outcome of [`OneTimeTokens::begin`](crate::OneTimeTokens::begin).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another caller may be using the token"]
pub enum TokenBegun {
    /// This call may use the token.
    Started(TokenLease),
    /// Another call, perhaps of the same caller, is using the token. The lease of that call ends within this time
    /// unless it is extended.
    InUse {
        /// The remaining time of the lease by the store's clock.
        remaining: Duration,
    },
    /// This caller used the token before; this is the result.
    Replayed(Payload),
    /// Another caller used the token, or this caller's result can no longer be replayed, or the token was discarded or
    /// never created.
    Gone,
}

/// The outcome of [`OneTimeTokens::commit`](crate::OneTimeTokens::commit).
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "another caller may have used the token"]
pub enum TokenCommitted {
    /// The token is used. This is the result of the first commit with this lease.
    Committed(Payload),
    /// This call recorded nothing: the lease lapsed and another call has begun since, or the lease was aborted. A
    /// commit that is repeated after the time to replay the result also returns `Fenced`.
    Fenced,
}
