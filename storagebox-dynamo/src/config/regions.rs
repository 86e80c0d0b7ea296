//! In which regions a store is used.

/// In which regions of a global table boxes are used.
///
/// A condition sees its own region alone, and of two regions' writes to a row the last one stands: what two regions write can
/// be given twice. So a box is at home in the region where it was made, and every program elsewhere is refused. A program
/// that had the box open before it knew of the other region is not: make boxes in one region before you go to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Regions {
    /// One. A box that is at home in another is `Misconfigured`.
    #[default]
    One,
    /// One, and it is this one from now on: each box that is opened moves its home here. After a failover, or for a table that
    /// was restored elsewhere. Stop the programs of the old region first; what they wrote and had not arrived is lost.
    Moved,
    /// Several, for ledgers alone; any other box is as with [`One`](Self::One). Such a ledger is another kind of box, which no
    /// store opens without this. It has no `compact` and no `cancel` (`Unsupported`): what they delete or overwrite in one
    /// region may be on its way from another, and would be counted twice, or never. So each change is one row wherever it and
    /// its retries are made, and is counted once everywhere as soon as it has arrived; a value is that of its own region. The
    /// same operation with different deltas in two regions ends as one of them, with no `Mismatch`.
    Several,
}
