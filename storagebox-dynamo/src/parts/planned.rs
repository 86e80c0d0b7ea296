//! A call that is planned as a share of a transaction of the caller.

use storagebox_core::Result;

use crate::client::{Refusal, Write};
use crate::error::contention;
use crate::row::Row;

/// Returns the outcome from the refusals of a call's writes; `Contention` if the call must be planned again.
pub(super) type Reading<T> = Box<dyn Fn(Vec<Refusal>) -> Result<T> + Send + Sync>;

/// The writes of a call, and its outcome if they are made.
pub(crate) struct Planned<T> {
    pub(super) outcome: T,
    pub(super) writes: Vec<Write>,
    pub(super) refused: Reading<T>,
}

impl<T> Planned<T> {
    /// Creates a call that writes nothing, because its outcome is already known.
    pub(crate) fn answer(outcome: T) -> Self {
        Self::new(outcome, vec![], |_| Err(contention()))
    }

    pub(crate) fn new(
        outcome: T,
        writes: Vec<Write>,
        refused: impl Fn(Vec<Refusal>) -> Result<T> + Send + Sync + 'static,
    ) -> Self {
        Self { outcome, writes, refused: Box::new(refused) }
    }

    /// Creates a call whose first write decides: `read` returns the outcome from the row that refused this write.
    pub(crate) fn by_first(
        outcome: T,
        writes: Vec<Write>,
        read: impl Fn(Option<Row>) -> Result<T> + Send + Sync + 'static,
    ) -> Self {
        Self::new(outcome, writes, move |refusals| match refusals.into_iter().next() {
            Some(Refusal::Condition(row)) => read(row),
            _ => Err(contention()),
        })
    }
}
