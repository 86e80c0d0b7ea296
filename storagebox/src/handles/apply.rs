//! A change of a counter, before it is made.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;

use storagebox_core::{Bounds, Change, Counted, Counter, Key, OpId, Reason, Result};

use crate::handles::IntoValue;

/// A change of a counter. Awaiting it makes the change.
#[must_use = "a change is made when it is awaited"]
pub struct Apply<'a> {
    counter: &'a dyn Counter,
    change: Result<(Key, Change)>,
}

impl<'a> Apply<'a> {
    pub(crate) fn new(
        counter: &'a dyn Counter,
        key: impl IntoValue<Key>,
        op: impl IntoValue<OpId>,
        delta: i64,
    ) -> Self {
        let change = key.into_value().and_then(|key| Ok((key, Change::new(op.into_value()?, delta))));
        Self { counter, change }
    }

    /// Sets the bounds that the result must be within. Defaults to the range of `i64`.
    pub fn within(mut self, bounds: Bounds) -> Self {
        self.change = self.change.map(|(key, change)| (key, change.within(bounds)));
        self
    }

    /// Sets the reason for the change, for the log of a [`Ledger`](crate::Ledger).
    pub fn because(mut self, reason: impl IntoValue<Reason>) -> Self {
        self.change = self.change.and_then(|(key, change)| Ok((key, change.because(reason.into_value()?))));
        self
    }
}

impl<'a> IntoFuture for Apply<'a> {
    type Output = Result<Counted>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Counted>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { counter, change } = self;
        Box::pin(async move {
            let (key, change) = change?;
            counter.apply(&key, &change).await
        })
    }
}

impl fmt::Debug for Apply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apply").field("change", &self.change).finish_non_exhaustive()
    }
}
