//! Write sharding (article 5): the counter has several rows, each with a part of the bounds. The marker of an operation
//! says that the operation was applied, but not to which rows. A delivery is a large change that has a share for each
//! row.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use storagebox_core::{Attempt, Bounds, Cancelled, Change, Counted, Key, OpId, Result, Retention};

use super::marker::{Marked, MarkedAttempt, Markers};
use super::parts::{Part, add_up, lenders, share};
use super::queue::Queue;
use super::room::Room;
use super::values::{Values, hash};
use crate::client::{Tag, Write};
use crate::error::contention;
use crate::row::RowKey;

/// The largest number of shards that lend room in one transaction. Of its 100 writes, one is the marker and one changes
/// the operation's own shard.
const LENDERS: usize = 98;
/// The largest number of shards that one transaction can change together with the marker.
const MOST_SPREAD: u16 = 99;
/// A change is spread over all shards if each shard's share is at least this large.
const SPREAD_FROM: u64 = 10;

#[derive(Debug)]
pub(super) struct Sharded {
    shards: u16,
    bounds: Bounds,
    markers: Markers,
    queue: Queue,
}

struct ShardedCall<'a> {
    sharded: &'a Sharded,
    values: &'a Values,
    key: &'a Key,
    change: &'a Change,
    /// The operation's shard, which is the same in all attempts.
    own: u16,
    tag: Tag,
    /// Whether an attempt has already tried to spread the change over all shards.
    was_spread: AtomicBool,
}

/// How the shards together can make a change.
enum Shift {
    TooLittle,
    /// These writes lend the operation's shard the missing room, and apply the change.
    Apply(Vec<Write>),
    /// These writes only lend, because more shards must lend than fit into one transaction. Another attempt follows.
    Lend(Vec<Write>),
}

impl Sharded {
    pub(super) fn new(shards: u16, bounds: Bounds, retention: Retention) -> Self {
        Self { shards, bounds, markers: Markers::new(retention), queue: Queue::new() }
    }

    pub(super) async fn apply(&self, values: &Values, first: Attempt, key: &Key, change: &Change) -> Result<Counted> {
        let (own, tag, was_spread) = (self.own(change), Tag::fresh(), AtomicBool::new(false));
        let call = &ShardedCall { sharded: self, values, key, change, own, tag, was_spread };
        values.changed(first, |attempt| call.attempt(attempt)).await
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.markers.cancel(values, key, op).await
    }

    /// Returns the sum of the shards. The shards are read at different times, so the counter may never have had this
    /// value.
    pub(super) async fn value(&self, values: &Values, key: &Key) -> Result<i64> {
        let sum = || async {
            values.ready().await?;
            let parts = self.parts(values, key).await?;
            i64::try_from(total(&parts)).map_err(|_| contention())
        };
        values.client().settle("value", sum).await
    }

    /// Returns whether a change is a delivery: a large change that is spread over all shards, so that later changes in
    /// the other direction find room in each shard.
    fn is_delivery(&self, delta: i64) -> bool {
        let opposite = if delta < 0 { self.bounds.ceiling() } else { self.bounds.floor() };
        let is_large = delta.unsigned_abs() >= SPREAD_FROM * u64::from(self.shards);
        opposite.is_some() && is_large && (2..=MOST_SPREAD).contains(&self.shards)
    }

    fn own(&self, change: &Change) -> u16 {
        let hash = hash(&change.op);
        u16::from_be_bytes([hash[0], hash[1]]) % self.shards
    }

    fn row(&self, values: &Values, key: &Key, shard: usize) -> RowKey {
        RowKey::alone(values.partition("shard", key, &shard.to_string()))
    }

    /// Reads the rows of all shards, in the order of the shards.
    async fn parts(&self, values: &Values, key: &Key) -> Result<Vec<Part>> {
        let keys: Vec<_> = (0..self.shards).map(|shard| self.row(values, key, shard.into())).collect();
        let rows = values.client().rows(keys.iter().map(RowKey::attributes).collect()).await?;
        let rows: HashMap<_, _> = rows.iter().filter_map(|row| Some((row.text("pk")?, row))).collect();
        let part = |(shard, key): (u16, &RowKey)| match rows.get(key.partition.as_str()) {
            Some(row) => Part::read(row),
            None => Ok(Part::new(self.bounds, self.shards, shard)),
        };
        (0..self.shards).zip(&keys).map(part).collect()
    }
}

impl ShardedCall<'_> {
    /// Makes one attempt. Spreads a large change over all shards, or else changes the operation's own shard.
    async fn attempt(&self, attempt: Attempt) -> Result<Counted> {
        // Each transaction writes the marker, so at most one attempt of a call is applied.
        if let Some(writes) = self.spread()
            && let Marked::Counted(counted) = self.marked(attempt, writes).await?
        {
            return Ok(counted);
        }
        self.narrowly(attempt).await
    }

    /// Returns the writes that spread a large change over all shards. Only the first attempt spreads the change.
    fn spread(&self) -> Option<Vec<Write>> {
        let shards = self.sharded.shards;
        // Under heavy traffic, a transaction on all shards may never succeed.
        let is_due = self.sharded.is_delivery(self.change.delta) && !self.was_spread.swap(true, Relaxed);
        let write = |shard| {
            let part = Part::new(self.sharded.bounds, shards, shard);
            part.change(&self.row(shard.into()), share(self.change.delta, shards, shard))
        };
        is_due.then(|| (0..shards).map(write).collect())
    }

    /// Changes the operation's own shard. Other shards lend room only if this shard has too little room.
    async fn narrowly(&self, attempt: Attempt) -> Result<Counted> {
        let first = Part::new(self.sharded.bounds, self.sharded.shards, self.own);
        let own = self.row(self.own.into());
        match self.marked(attempt, vec![first.change(&own, self.change.delta.into())]).await? {
            Marked::Counted(counted) => Ok(counted),
            Marked::NoRoom(_) => self.widely(attempt).await,
        }
    }

    async fn widely(&self, attempt: Attempt) -> Result<Counted> {
        let _flight = self.sharded.queue.next(self.key).await;
        let parts = self.parts().await?;
        match self.shift(&parts) {
            Shift::TooLittle => self.rejected(attempt, &parts).await,
            Shift::Lend(writes) => self.values.client().transact(&writes).await.and(Err(contention())),
            Shift::Apply(writes) => match self.marked(attempt, writes).await? {
                Marked::Counted(counted) => Ok(counted),
                Marked::NoRoom(_) => Err(contention()),
            },
        }
    }

    fn shift(&self, parts: &[Part]) -> Shift {
        let (own, delta) = (usize::from(self.own), i128::from(self.change.delta));
        let Some(mut lenders) = lenders(parts, own, delta) else {
            return Shift::TooLittle;
        };
        let is_too_many = lenders.len() > LENDERS;
        lenders.truncate(LENDERS);
        let lent = lenders.iter().map(|(_, lent)| lent).sum();
        let widened = parts[own].widened(delta, lent);
        let own = if is_too_many { widened } else { widened.changed(delta) };
        let lend =
            |(lender, lent): (usize, i128)| parts[lender].widened(delta, -lent).write(&self.row(lender), &self.tag);
        let own = own.write(&self.row(self.own.into()), &self.tag);
        let writes = std::iter::once(own).chain(lenders.into_iter().map(lend)).collect();
        if is_too_many { Shift::Lend(writes) } else { Shift::Apply(writes) }
    }

    /// Rejects the change, unless an earlier attempt has applied the operation. Returns `Contention` if the shards
    /// changed during the read.
    async fn rejected(&self, attempt: Attempt, parts: &[Part]) -> Result<Counted> {
        // Two reads that return the same rows are a consistent view.
        let is_true = self.parts().await? == parts && add_up(parts, self.sharded.bounds);
        let total = i64::try_from(total(parts)).ok().filter(|_| is_true).ok_or_else(contention)?;
        // An earlier attempt of the operation may have used the room that is missing now.
        let call = self.marking(attempt);
        match self.sharded.markers.find(call).await? {
            Some(counted) => Ok(counted),
            None => self.sharded.markers.refused(call, self.rejection(total).ok_or_else(contention)?).await,
        }
    }

    fn rejection(&self, total: i64) -> Option<Counted> {
        let change = self.change.clone().within(self.sharded.bounds);
        Room::of(&change).rejection(total)
    }

    async fn marked(&self, attempt: Attempt, writes: Vec<Write>) -> Result<Marked> {
        self.sharded.markers.write(self.marking(attempt), writes).await
    }

    fn marking(&self, attempt: Attempt) -> MarkedAttempt<'_> {
        MarkedAttempt { values: self.values, key: self.key, change: self.change, tag: &self.tag, attempt }
    }

    async fn parts(&self) -> Result<Vec<Part>> {
        self.sharded.parts(self.values, self.key).await
    }

    fn row(&self, shard: usize) -> RowKey {
        self.sharded.row(self.values, self.key, shard)
    }
}

fn total(parts: &[Part]) -> i128 {
    parts.iter().map(|part| part.value).sum()
}
