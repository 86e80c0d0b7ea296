//! Write sharding (article 5): the counter in several rows, each with its part of the bounds, and a marker for each
//! operation that says that it was applied, wherever. A delivery has a share for each row.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use storagebox_core::{Bounds, Cancelled, Change, Counted, Key, OpId, Result, Retention};

use super::contention;
use super::marker::{Marked, Markers};
use super::parts::{Part, add_up, lenders, share};
use super::queue::Queue;
use super::room::Room;
use super::values::{Values, hash};
use crate::client::{Tag, Write};
use crate::row::RowKey;

/// A transaction has at most 100 parts; one is the marker, one the operation's own shard.
const LENDERS: usize = 98;
/// So one has room for so many shards beside the marker.
const MOST_SPREAD: u16 = 99;
/// From so much for each shard on, a change goes to all of them.
const SPREAD_FROM: u64 = 10;

#[derive(Debug)]
pub(super) struct Sharded {
    shards: u16,
    bounds: Bounds,
    markers: Markers,
    queue: Queue,
}

/// One call, through all its attempts.
struct Call<'a> {
    sharded: &'a Sharded,
    values: &'a Values,
    key: &'a Key,
    change: &'a Change,
    /// The operation's shard: always the same.
    own: u16,
    tag: Tag,
    /// Whether an attempt was made at all shards.
    was_spread: AtomicBool,
}

/// What the shards together have for a change.
enum Shift {
    /// They have too little.
    TooLittle,
    /// These writes lend the operation's shard what it lacks, and apply the change.
    Apply(Vec<Write>),
    /// These only lend, as more shards must than a transaction takes; after them it is looked at anew.
    Lend(Vec<Write>),
}

impl Sharded {
    pub(super) fn new(shards: u16, bounds: Bounds, retention: Retention) -> Self {
        Self { shards, bounds, markers: Markers::new(retention), queue: Queue::new() }
    }

    pub(super) async fn apply(&self, values: &Values, key: &Key, change: &Change) -> Result<Counted> {
        let (own, tag, was_spread) = (self.own(change), Tag::fresh(), AtomicBool::new(false));
        let call = &Call { sharded: self, values, key, change, own, tag, was_spread };
        values.changed(|| call.attempt()).await
    }

    pub(super) async fn cancel(&self, values: &Values, key: &Key, op: &OpId) -> Result<Cancelled> {
        self.markers.cancel(values, key, op).await
    }

    /// A sum that mixes what was there at different times may be one that never was.
    pub(super) async fn value(&self, values: &Values, key: &Key) -> Result<i64> {
        let sum = || async {
            values.ready().await?;
            let parts = self.parts(values, key).await?;
            i64::try_from(total(&parts)).map_err(|_| contention())
        };
        values.client().settled("value", sum).await
    }

    /// Whether a change is a delivery: it makes room that the shards would otherwise have to lend each other one by
    /// one.
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

    /// All parts, in the order of the shards; those that have no row yet are as they begin.
    async fn parts(&self, values: &Values, key: &Key) -> Result<Vec<Part>> {
        let keys: Vec<_> = (0..self.shards).map(|shard| self.row(values, key, shard.into())).collect();
        let rows = values.client().rows(&keys).await?;
        let rows: HashMap<_, _> = rows.iter().filter_map(|row| Some((row.text("pk")?, row))).collect();
        let part = |(shard, key): (u16, &RowKey)| match rows.get(key.partition.as_str()) {
            Some(row) => Part::read(row),
            None => Ok(Part::new(self.bounds, self.shards, shard)),
        };
        (0..self.shards).zip(&keys).map(part).collect()
    }
}

impl Call<'_> {
    /// A delivery goes to all shards, all else to the operation's own. The marker is in either transaction, so that of
    /// several attempts one is applied, whatever its shape and whenever it lands.
    async fn attempt(&self) -> Result<Counted> {
        if let Some(writes) = self.spread()
            && let Marked::Counted(counted) = self.marked(writes).await?
        {
            return Ok(counted);
        }
        self.narrowly().await
    }

    /// Once for each call: beside traffic on all shards it might be beaten for ever.
    fn spread(&self) -> Option<Vec<Write>> {
        let shards = self.sharded.shards;
        let is_due = self.sharded.is_delivery(self.change.delta) && !self.was_spread.swap(true, Relaxed);
        let write = |shard| {
            let part = Part::new(self.sharded.bounds, shards, shard);
            part.change(&self.row(shard.into()), share(self.change.delta, shards, shard))
        };
        is_due.then(|| (0..shards).map(write).collect())
    }

    /// The operation's own shard alone, and only if it is dry all of them.
    async fn narrowly(&self) -> Result<Counted> {
        let first = Part::new(self.sharded.bounds, self.sharded.shards, self.own);
        let own = self.row(self.own.into());
        match self.marked(vec![first.change(&own, self.change.delta.into())]).await? {
            Marked::Counted(counted) => Ok(counted),
            Marked::NoRoom(_) => self.widely().await,
        }
    }

    async fn widely(&self) -> Result<Counted> {
        let _turn = self.sharded.queue.turn(self.key).await;
        let parts = self.parts().await?;
        match self.shift(&parts) {
            Shift::TooLittle => self.rejected(&parts).await,
            Shift::Lend(writes) => self.values.client().transact(&writes).await.and(Err(contention())),
            Shift::Apply(writes) => match self.marked(writes).await? {
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

    /// Says no, if it is true: the parts were so at one moment, as none was written between two looks at them all, and
    /// the operation was not applied by then, maybe with the very room that is missing.
    async fn rejected(&self, parts: &[Part]) -> Result<Counted> {
        let is_true = self.parts().await? == parts && add_up(parts, self.sharded.bounds);
        let total = i64::try_from(total(parts)).ok().filter(|_| is_true).ok_or_else(contention)?;
        match self.sharded.markers.find(self.values, self.key, self.change, &self.tag).await? {
            Some(counted) => Ok(counted),
            None => self.rejection(total).ok_or_else(contention),
        }
    }

    fn rejection(&self, total: i64) -> Option<Counted> {
        let change = self.change.clone().within(self.sharded.bounds);
        Room::of(&change).rejection(total)
    }

    async fn marked(&self, writes: Vec<Write>) -> Result<Marked> {
        self.sharded.markers.write(self.values, self.key, self.change, &self.tag, writes).await
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
