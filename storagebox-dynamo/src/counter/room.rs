//! The values to which a change can be applied.

use storagebox_core::{Change, Counted, Result};

use super::values::value_in;
use crate::client::Write;
use crate::error::contention;
use crate::row::Row;

/// The range of values for which the result of a change is within its bounds and within `i64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room<'a> {
    change: &'a Change,
    low: i128,
    high: i128,
}

impl<'a> Room<'a> {
    pub(super) fn of(change: &'a Change) -> Self {
        let (bounds, delta) = (change.bounds, i128::from(change.delta));
        let floor = i128::from(bounds.floor().unwrap_or(i64::MIN));
        let ceiling = i128::from(bounds.ceiling().unwrap_or(i64::MAX));
        // DynamoDB's conditions cannot add, so the delta is subtracted from the bounds.
        Self { change, low: floor - delta, high: ceiling - delta }
    }

    /// Returns the condition that the value is in the range. A counter without a row has the value 0.
    pub(super) fn condition(&self) -> &'static str {
        match (self.low..=self.high).contains(&0) {
            true => "(attribute_not_exists(v) OR v BETWEEN :low AND :high)",
            false => "v BETWEEN :low AND :high",
        }
    }

    /// Adds the delta to the value, under the condition that the value is in the range.
    pub(super) fn added(&self, write: Write) -> Write {
        let write = write.set_to("v", "if_not_exists(v, :zero) + :delta").value(":zero", 0_i64);
        let write = write.value(":delta", self.change.delta).value(":low", self.low).value(":high", self.high);
        write.only_if(self.condition())
    }

    /// Returns why the change cannot be applied to this value; `None` if it can be applied.
    pub(super) fn rejection(&self, value: i64) -> Option<Counted> {
        match value.checked_add(self.change.delta) {
            None => Some(Counted::Overflow),
            Some(result) if !self.change.bounds.contains(result) => Some(Counted::OutOfBounds),
            Some(_) => None,
        }
    }

    /// Returns why the counter's row refused the change.
    pub(super) fn rejected(&self, old: Option<&Row>) -> Result<Counted> {
        let value = old.map_or(Ok(0), value_in)?;
        self.rejection(value).ok_or_else(contention)
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::{Bounds, OpId};

    use super::*;

    #[test]
    fn the_condition_holds_exactly_for_the_values_that_are_accepted() {
        let ends = [i64::MIN, i64::MIN + 1, -7, -1, 0, 1, 7, i64::MAX - 1, i64::MAX];
        let all = [Bounds::NONE, Bounds::at_least(-7), Bounds::at_most(7), Bounds::between(0, 0).unwrap()];
        for bounds in all {
            for delta in ends {
                let change = Change::new(OpId::new("op").unwrap(), delta).within(bounds);
                let room = Room::of(&change);
                for value in ends {
                    let holds = (room.low..=room.high).contains(&value.into());
                    assert_eq!(holds, room.rejection(value).is_none(), "{delta} on {value} in {bounds:?}");
                }
            }
        }
    }
}
