//! The value of one counter: in one piece, or split over shards that each have a part of the bounds.

use std::hash::{DefaultHasher, Hash, Hasher};

use storagebox_core::{Bounds, Change, Counted, OpId};

/// Holds sums and differences of counter values without overflow.
type Wide = i128;

/// The value of a missing bound, larger than any sum of `i64` values.
const FAR: Wide = 1 << 100;

#[derive(Clone, Debug)]
pub(super) struct Shards {
    bounds: Bounds,
    shards: Vec<Shard>,
}

#[derive(Clone, Copy, Debug)]
struct Shard {
    value: Wide,
    floor: Wide,
    ceiling: Wide,
}

impl Shard {
    /// Returns how far the shard's value can move in the direction of `delta`.
    fn room(&self, delta: Wide) -> Wide {
        if delta < 0 { self.value - self.floor } else { self.ceiling - self.value }
    }

    /// Lowers the floor if `delta` is negative, and raises the ceiling otherwise.
    fn widen(&mut self, delta: Wide, by: Wide) {
        if delta < 0 { self.floor -= by } else { self.ceiling += by }
    }
}

impl Shards {
    pub(super) fn new(split: Option<(u16, Bounds)>) -> Self {
        let (count, bounds) = split.unwrap_or((1, Bounds::NONE));
        let part = |bound: Option<i64>, far: Wide, index: u16| {
            bound.map_or(far, |bound| share(bound.into(), count.into(), index.into()))
        };
        let shards = (0..count)
            .map(|index| Shard {
                value: 0,
                floor: part(bounds.floor(), -FAR, index),
                ceiling: part(bounds.ceiling(), FAR, index),
            })
            .collect();
        Self { bounds, shards }
    }

    pub(super) fn is_new(&self) -> bool {
        self.shards.iter().all(|shard| shard.value == 0)
    }

    pub(super) fn total(&self) -> i64 {
        let total: Wide = self.shards.iter().map(|shard| shard.value).sum();
        i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX })
    }

    /// Returns the total after the change, or the outcome if the counter refuses the change.
    pub(super) fn fits(&self, change: &Change) -> Result<i64, Counted> {
        let value = self.total().checked_add(change.delta).ok_or(Counted::Overflow)?;
        if self.bounds.contains(value) && change.bounds.contains(value) {
            return Ok(value);
        }
        Err(Counted::OutOfBounds)
    }

    /// Adds the delta to the shard of the operation, with room from other shards if needed (C-2). The total must have
    /// room for the delta.
    pub(super) fn add(&mut self, op: &OpId, delta: i64) {
        let delta = Wide::from(delta);
        let own = shard_of(op, self.shards.len());
        let mut missing = delta.abs() - self.shards[own].room(delta);
        for other in (0..self.shards.len()).filter(|other| *other != own) {
            let borrowed = self.shards[other].room(delta).min(missing).max(0);
            self.shards[other].widen(delta, -borrowed);
            self.shards[own].widen(delta, borrowed);
            missing -= borrowed;
        }
        self.shards[own].value += delta;
    }
}

/// Returns the part of `bound` that belongs to the shard `index` of `count` shards.
fn share(bound: Wide, count: Wide, index: Wide) -> Wide {
    bound / count + (bound % count).signum() * Wide::from(index < (bound % count).abs())
}

fn shard_of(op: &OpId, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    op.hash(&mut hasher);
    (hasher.finish() % count as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_a_bound_add_up_to_the_bound() {
        for bound in [-10, -1, 0, 1, 7, 64, i128::from(i64::MAX), i128::from(i64::MIN)] {
            for count in 1..=9 {
                assert_eq!((0..count).map(|index| share(bound, count, index)).sum::<i128>(), bound);
            }
        }
    }

    #[test]
    fn value_of_each_shard_stays_within_its_bounds() {
        let mut shards = Shards::new(Some((5, Bounds::between(-7, 11).unwrap())));
        for step in 0..1_000_i64 {
            let delta = (step * 7_919 % 13) - 6;
            let change = Change::new(OpId::new(step.to_string()).unwrap(), delta);
            if shards.fits(&change).is_ok() {
                shards.add(&change.op, delta);
            }
            assert!(shards.shards.iter().all(|shard| shard.floor <= shard.value && shard.value <= shard.ceiling));
            assert_eq!(shards.shards.iter().map(|shard| shard.ceiling).sum::<Wide>(), 11);
            assert_eq!(shards.shards.iter().map(|shard| shard.floor).sum::<Wide>(), -7);
        }
    }
}
