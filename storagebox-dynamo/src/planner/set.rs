//! Whether the operations of a set fit its row, and what they cost (article 5, approach 7).

use storagebox_core::{Result, Strategy};

use super::costs::CounterPlan;
use crate::counter::most_entries;
use crate::error::bad;

/// A plan for [`Strategy::TokenSet`], which stores every operation of a key in one row.
///
/// The row must be within 400 KB, and each change writes the whole row, at one write unit per KB. So a set is the
/// cheapest exact strategy at first and the most expensive in the end.
///
/// # Guarantees
///
/// - C-1 a set with the plan's [`strategy`](Self::strategy) does not return `Full` before it has that many operations,
///   fences included.
///
/// # Example
///
/// ```
/// use storagebox_dynamo::SetPlan;
///
/// let seats = SetPlan::for_operations(50);
/// assert!(seats.is_cheaper_than_marker() && seats.strategy().is_ok());
/// assert!(SetPlan::for_operations(1_000_000).strategy().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetPlan {
    operations: u64,
    plan: CounterPlan,
}

impl SetPlan {
    /// Creates a plan for this number of operations in the lifetime of a key.
    pub fn for_operations(operations: u64) -> Self {
        Self { operations, plan: CounterPlan::for_operations(operations) }
    }

    /// Sets the length of the partition key in bytes. Defaults to 64. The key is in the row too. Its length changes the
    /// cost of the operations; the capacity allows for the longest key.
    #[must_use]
    pub fn with_key_bytes(mut self, bytes: u32) -> Self {
        self.plan = self.plan.with_key_bytes(bytes);
        self
    }

    /// Returns how many operations fit in a row, with a key of any length. A store opens a set for at most this number.
    pub fn largest_operations(&self) -> u64 {
        most_entries().into()
    }

    /// Returns the size of the row in bytes when it holds all operations.
    pub fn row_bytes(&self) -> u64 {
        self.plan.row_with(self.operations)
    }

    /// Returns the number of write units that the last operation costs.
    pub fn write_units(&self) -> u64 {
        self.plan.write_units_with(self.operations)
    }

    /// Returns the number of write units that all operations cost together.
    pub fn total_write_units(&self) -> u64 {
        self.plan.growing(self.operations)
    }

    /// Returns whether the operations fit in the row.
    pub fn fits(&self) -> bool {
        self.operations <= self.largest_operations()
    }

    /// Returns whether all operations together cost less than with [`Strategy::Marker`], whose rows also grow with the
    /// key.
    pub fn is_cheaper_than_marker(&self) -> bool {
        self.fits() && self.total_write_units() < self.plan.marker().saturating_mul(self.operations)
    }

    /// Returns the strategy to open the counter with.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the operations do not fit in the row. The message names the maximum and what to use
    /// instead.
    pub fn strategy(&self) -> Result<Strategy> {
        if !self.fits() {
            let (most, asked) = (self.largest_operations(), self.operations);
            let why = format_args!("are {asked}, and a row holds {most}; use Marker with Retention::Forever");
            return Err(bad("operations", why));
        }
        let max = u32::try_from(self.operations).unwrap_or(u32::MAX).max(1);
        Strategy::TokenSet { max }.checked()
    }
}

#[cfg(test)]
mod tests {
    use storagebox_core::ErrorKind;

    use super::*;

    #[test]
    fn the_largest_set_fits_and_one_more_does_not() {
        let most = SetPlan::for_operations(1).largest_operations();
        assert!(SetPlan::for_operations(most).strategy().is_ok());
        let error = SetPlan::for_operations(most + 1).strategy().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&most.to_string()), "{error}");
        assert!(SetPlan::for_operations(u64::MAX).strategy().is_err());
    }

    /// "this is likely the most cost effective approach", while the number of updates is limited.
    #[test]
    fn article_5_a_small_set_is_the_cheapest_and_a_large_one_is_not() {
        let turns = (1..2_000).map(SetPlan::for_operations).find(|plan| !plan.is_cheaper_than_marker());
        let turns = turns.unwrap();
        assert!(turns.operations > 50 && turns.write_units() > 4, "{turns:?}");
        assert!(!SetPlan::for_operations(5_000).is_cheaper_than_marker());
    }

    /// What a store opens does not go by the key, and a row with the longest still has room.
    #[test]
    fn a_longer_key_makes_a_larger_row_and_leaves_as_much_room() {
        let plan = SetPlan::for_operations(5_235);
        let long = plan.with_key_bytes(1_110);
        assert_eq!([plan.largest_operations(), long.largest_operations()], [5_235; 2]);
        assert_eq!(long.row_bytes() - plan.row_bytes(), 1_110 - 64);
        assert!(long.row_bytes() <= u64::from(crate::counter::RECORD_BYTES));
    }
}
