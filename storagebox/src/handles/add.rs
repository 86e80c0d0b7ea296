//! A change of a counter, before it is made.

use std::fmt;
use std::future::IntoFuture;
use std::ops::{Bound, RangeBounds};
use std::pin::Pin;

use storagebox_core::{Bounds, Change, Counted, Counter, Error, Key, OpId, Reason, Result};

use crate::handles::IntoValue;

/// A change of a counter. Awaiting it makes the change.
#[must_use = "a change is made when it is awaited"]
pub struct Add<'a> {
    counter: &'a dyn Counter,
    change: Result<(Key, Change)>,
}

impl<'a> Add<'a> {
    pub(crate) fn new(
        counter: &'a dyn Counter,
        key: impl IntoValue<Key>,
        op: impl IntoValue<OpId>,
        delta: i64,
    ) -> Self {
        let change = key.into_value().and_then(|key| Ok((key, Change::new(op.into_value()?, delta))));
        Self { counter, change }
    }

    /// Sets the range that the result must be within, such as `0..` or `-10..=10`. Defaults to the range of `i64`. An
    /// empty range makes the change return `InvalidInput`.
    pub fn within(mut self, range: impl RangeBounds<i64>) -> Self {
        self.change = self.change.and_then(|(key, change)| Ok((key, change.within(bounds(&range)?))));
        self
    }

    /// Sets the reason for the change, for the [log](crate::Counters::log).
    pub fn because(mut self, reason: impl IntoValue<Reason>) -> Self {
        self.change = self.change.and_then(|(key, change)| Ok((key, change.because(reason.into_value()?))));
        self
    }
}

/// Returns the inclusive bounds of a range.
fn bounds(range: &impl RangeBounds<i64>) -> Result<Bounds> {
    let empty = || Error::invalid("bounds", "are an empty range");
    let floor = match range.start_bound() {
        Bound::Included(floor) => Some(*floor),
        Bound::Excluded(below) => Some(below.checked_add(1).ok_or_else(empty)?),
        Bound::Unbounded => None,
    };
    let ceiling = match range.end_bound() {
        Bound::Included(ceiling) => Some(*ceiling),
        Bound::Excluded(above) => Some(above.checked_sub(1).ok_or_else(empty)?),
        Bound::Unbounded => None,
    };
    match (floor, ceiling) {
        (None, None) => Ok(Bounds::NONE),
        (Some(floor), None) => Ok(Bounds::at_least(floor)),
        (None, Some(ceiling)) => Ok(Bounds::at_most(ceiling)),
        (Some(floor), Some(ceiling)) => Bounds::between(floor, ceiling),
    }
}

impl<'a> IntoFuture for Add<'a> {
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

impl fmt::Debug for Add<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Add").field("change", &self.change).finish_non_exhaustive()
    }
}
