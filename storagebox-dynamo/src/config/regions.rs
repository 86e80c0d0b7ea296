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
    /// One region, from now on this region: each namespace that is opened moves its home here. Use it after a failover,
    /// or for a table that was restored elsewhere. Stop the programs in the old region first: their writes that had not
    /// arrived are lost.
    Moved,
    /// Several regions, for ledgers only; all other namespaces behave as with [`One`](Self::One). Such a ledger is a
    /// different kind of namespace, which no store opens without this setting. It has no `compact` and no `cancel`
    /// (`Unsupported`): the changes that they delete or overwrite in one region may still arrive from another region,
    /// and would be counted twice, or never. So each change is one row, whichever regions it and its retries are made
    /// in, and each region counts it once as soon as it has arrived there. A value is the sum of the changes that have
    /// arrived in the region of the reader. If two regions make the same operation with different deltas, one of them
    /// remains, with no `Mismatch`.
    Several,
}
