//! Whether the operations of a set fit its row, and what they cost (article 5, approach 7).

use storagebox_core::{Result, Strategy};

use super::costs::CounterPlan;
use crate::counter::most_entries;
use crate::error::bad;

/// A plan for [`Strategy::TokenSet`], which keeps every operation of its life in one row.
///
/// The row must be within 400 KB, and each change writes the whole of it: a write unit for every KB. So the set is the
/// cheapest exact strategy at first, and the dearest in the end.
///
/// # Guarantees
///
/// - C-1 a set with the plan's [`strategy`](Self::strategy) is not `Full` before it has that many operations, fences
///   included.
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
    /// A plan for so many operations in the whole life of a key.
    pub fn for_operations(operations: u64) -> Self {
        Self { operations, plan: CounterPlan::for_operations(operations) }
    }

    /// The same for a partition key of so many bytes, which is in the row too; 64 unless told otherwise. It changes what
    /// the operations cost; the room for them allows for the longest key.
    #[must_use]
    pub fn with_key_bytes(mut self, bytes: u32) -> Self {
        self.plan = self.plan.with_key_bytes(bytes);
        self
    }

    /// How many operations a row has room for, with a key of any length: for so many a store opens a set.
    pub fn largest_operations(&self) -> u64 {
        most_entries().into()
    }

    /// How many bytes the row has when it holds them all.
    pub fn row_bytes(&self) -> u64 {
        self.plan.row_with(self.operations)
    }

    /// How many write units the last of the operations costs.
    pub fn write_units(&self) -> u64 {
        self.plan.write_units_with(self.operations)
    }

    /// How many write units all of them cost together.
    pub fn total_write_units(&self) -> u64 {
        self.plan.growing(self.operations)
    }

    /// Whether the row has room.
    pub fn fits(&self) -> bool {
        self.operations <= self.largest_operations()
    }

    /// Whether all of them together cost less than with [`Strategy::Marker`], whose rows are larger with a longer key too.
    pub fn is_cheaper_than_marker(&self) -> bool {
        self.fits() && self.total_write_units() < self.plan.marker().saturating_mul(self.operations)
    }

    /// The strategy to open the counter with.
    ///
    /// # Errors
    ///
    /// `InvalidInput` if the row has no room for as many; it names the most, and what to use instead.
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
