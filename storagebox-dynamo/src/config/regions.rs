//! The regions in which a store is used.

/// In which regions of a global table namespaces are used.
///
/// A condition reads only its own region, and if two regions write the same row, the last write wins. So an item could
/// be given twice. Therefore each namespace has a home, the region where it was created, and programs in other regions
/// are refused. The exception is a program that opened the namespace before it knew of the other region: create
/// namespaces in one region before you use others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Regions {
    /// One region. A namespace whose home is another region returns `Misconfigured`.
    #[default]
    One,
    /// One region. When the client opens a namespace, the client's region becomes the home of the namespace. Use this
    /// setting after a failover, or for a table that was restored in another region. Stop the programs in the old
    /// region first: their writes that have not reached the new region are lost.
    Moved,
    /// Several regions, for ledgers only; all other namespaces behave as with [`One`](Self::One). Such a ledger is a
    /// different kind of namespace, which no store opens without this setting. Its `compact` and `cancel` return
    /// `Unsupported`: a change that these calls delete or overwrite in one region may still arrive from another region,
    /// and would be counted twice, or never. Each change is one row, even if a retry is made in another region, and
    /// each region counts the change once as soon as the row has arrived. A value is the sum of the changes that have
    /// arrived in the region of the reader. If two regions make the same operation with different deltas, only one of
    /// the deltas remains, and no call returns `Mismatch`.
    Several,
}
