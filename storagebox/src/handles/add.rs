//! A change of a counter before it is made.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use storagebox_core::{Bounds, Change, Counted, Error, Key, OpId, Reason, Result};

use crate::handles::IntoValue;
use crate::handles::unfinished::Made;

/// A change of a counter, which needs its operation id. [`by`](Add::by) makes it.
#[must_use = "the call is made by the step that completes it"]
pub struct Add<'a> {
    change: Box<dyn FnOnce(Key, Change) -> Made<'a, Counted> + Send + 'a>,
    of: Result<(Key, Bounds, Option<Reason>)>,
    delta: i64,
}

impl<'a> Add<'a> {
    pub(crate) fn new(
        change: impl FnOnce(Key, Change) -> Made<'a, Counted> + Send + 'a,
        key: Result<Key>,
        delta: i64,
    ) -> Self {
        Self { change: Box::new(change), of: key.map(|key| (key, Bounds::NONE, None)), delta }
    }

    /// Sets the range that the result must be within, such as `0..` or `-10..=10`. Defaults to the range of `i64`. An
    /// empty range makes the change return `InvalidInput`.
    pub fn within(mut self, range: impl RangeBounds<i64>) -> Self {
        self.of = self.of.and_then(|(key, _, reason)| Ok((key, bounds(&range)?, reason)));
        self
    }

    /// Sets the reason for the change, for the [log](crate::Counters::log).
    pub fn because(mut self, reason: impl IntoValue<Reason>) -> Self {
        self.of = self.of.and_then(|(key, bounds, _)| Ok((key, bounds, Some(reason.into_value()?))));
        self
    }

    /// Makes the change under this operation id. After a dropped future or a
    /// [retryable](crate::Error::is_retryable) error, make the same call again with the same id.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if a text breaks its limit, the range is empty, or the counters have bounds of their own
    /// and the change names other bounds. Returns `Unsupported` if the strategy cannot keep bounds or a reason.
    pub async fn by(self, op: impl IntoValue<OpId>) -> Result<Counted> {
        let (key, bounds, reason) = self.of?;
        let change = Change { reason, ..Change::new(op.into_value()?, self.delta).within(bounds) };
        (self.change)(key, change).await
    }
}

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

impl fmt::Debug for Add<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Add").field("of", &self.of).field("delta", &self.delta).finish_non_exhaustive()
    }
}
