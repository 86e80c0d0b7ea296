//! The total order of stamps: time, then writer, then delete over put.

use std::cmp::Ordering;

use storagebox_core::{Key, OrderedStore, Payload, Stamp, Written};

use super::{SEQUENCE, ensure_stale, put_new, shown, stamp};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::world::World;

/// A write whose content is derived from its stamp, so that no two writes differ in content alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) stamp: Stamp,
    pub(super) deletes: bool,
}

impl Write {
    pub(super) fn new(at: i64, writer: &str, deletes: bool) -> Result<Self, Failure> {
        Ok(Self { stamp: stamp(at, writer)?, deletes })
    }

    pub(super) fn content(&self) -> Result<Payload, Failure> {
        Ok(Payload::try_from(format!("{}/{}", self.stamp.at, self.stamp.writer).into_bytes())?)
    }

    pub(super) async fn make(&self, store: &dyn OrderedStore, key: &Key) -> Result<Written, storagebox_core::Error> {
        if self.deletes {
            return store.delete(key, &self.stamp).await;
        }
        let content = format!("{}/{}", self.stamp.at, self.stamp.writer);
        store.put(key, &Payload::try_from(content.into_bytes())?, &self.stamp).await
    }

    /// Checks that the key shows the result of this write.
    pub(super) async fn ensure_shown(&self, store: &dyn OrderedStore, key: &Key) -> Verdict {
        let found = store.get(key).await?.map(|found| (found.value, found.stamp));
        let expected = if self.deletes { None } else { Some((self.content()?, self.stamp.clone())) };
        ensure_eq!(found, expected, "what the key shows after {self:?}");
        Ok(())
    }
}

impl PartialOrd for Write {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Write {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.stamp, self.deletes).cmp(&(&other.stamp, other.deletes))
    }
}

/// Makes the two writes of every pair in both orders, and checks that the greater write wins.
async fn ensure_ordered(world: &World, ascending: &[Write]) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for (high, newer) in ascending.iter().enumerate() {
        for (low, older) in ascending[..high].iter().enumerate() {
            let during = |failure: Failure| failure.during(format_args!("{older:?} and {newer:?}"));
            let up = Key::new(format!("up-{low}-{high}"))?;
            ensure_eq!(older.make(&*store, &up).await?, Written::Applied, "{older:?} alone");
            ensure_eq!(newer.make(&*store, &up).await?, Written::Applied, "{newer:?} after {older:?}");
            newer.ensure_shown(&*store, &up).await.map_err(during)?;
            let down = Key::new(format!("down-{low}-{high}"))?;
            ensure_eq!(newer.make(&*store, &down).await?, Written::Applied, "{newer:?} alone");
            let stale = Written::Stale { current: newer.stamp.clone() };
            ensure_eq!(older.make(&*store, &down).await?, stale, "{older:?} after {newer:?}");
            newer.ensure_shown(&*store, &down).await.map_err(during)?;
        }
    }
    Ok(())
}

pub(super) async fn every_pair_of_stamps_has_one_winner(world: &World) -> Verdict {
    let mut ascending = Vec::new();
    for at in [i64::MIN, -10, -9, 0, 9, 10, i64::MAX] {
        for writer in ["a", "b"] {
            ascending.push(Write::new(at, writer, false)?);
            ascending.push(Write::new(at, writer, true)?);
        }
    }
    ensure_ordered(world, &ascending).await
}

/// Neighbouring sequence numbers are distinguished at the precision limit of a double, at the limits of 32 bits, and
/// where they would sort differently as text.
pub(super) async fn numbers_close_to_each_other_are_told_apart(world: &World) -> Verdict {
    let ends =
        [i64::MIN + 1, -(1 << 53), i64::from(i32::MIN), -1, 99, i64::from(i32::MAX), 1 << 32, 1 << 53, i64::MAX - 2];
    let mut numbers: Vec<i64> = ends.into_iter().flat_map(|end| [end - 1, end, end + 1, end + 2]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let ascending: Result<Vec<_>, _> = numbers.into_iter().map(|at| Write::new(at, "w", false)).collect();
    let ascending = ascending?;
    ensure_ordered(world, &ascending).await?;
    let store = world.ordered(SEQUENCE)?;
    for write in ascending {
        let key = Key::new(format!("alone-{}", write.stamp.at))?;
        let _ = write.make(&*store, &key).await?;
        ensure_eq!(write.make(&*store, &key).await?, Written::Duplicate, "{write:?} again");
        write.ensure_shown(&*store, &key).await?;
    }
    Ok(())
}

/// Writers are compared by their bytes, and not as UTF-16 or a collation would order them.
pub(super) async fn writers_are_compared_byte_by_byte(world: &World) -> Verdict {
    let longest = "z".repeat(512);
    let writers = [
        " ",
        "A",
        "B",
        "Z",
        "a",
        "a ",
        "a:",
        "aa",
        "ab",
        "b",
        "e\u{301}",
        "z",
        &longest[..511],
        &longest,
        "é",
        "שלום",
        "\u{ffff}",
        "\u{10000}",
    ];
    ensure!(writers.is_sorted(), "the writers are not in the order of their bytes");
    let ascending: Result<Vec<_>, _> = writers.iter().map(|writer| Write::new(7, writer, false)).collect();
    ensure_ordered(world, &ascending?).await
}

pub(super) async fn a_delete_is_over_a_put_of_its_stamp(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    put_new(&*store, "one", "value", 5).await?;
    ensure_eq!(
        store.delete(&"one".parse()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Applied,
        "a delete at the stamp of the put"
    );
    ensure_eq!(shown(&*store, "one").await?, None, "what the key shows after it");
    ensure_eq!(
        store.delete(&"two".parse()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Applied,
        "a delete of nothing"
    );
    for key in ["one", "two"] {
        for value in ["value", "other", ""] {
            let late = store.put(&key.parse()?, &value.try_into()?, &Stamp::new(5, "w".parse()?)).await?;
            ensure_stale(&late, 5, "a put at the stamp of the delete")?;
        }
        ensure_eq!(shown(&*store, key).await?, None, "what the key shows after the puts");
        ensure_eq!(
            store.delete(&key.parse()?, &Stamp::new(5, "w".parse()?)).await?,
            Written::Duplicate,
            "the delete again"
        );
        ensure_eq!(
            store.put(&key.parse()?, &"value".try_into()?, &Stamp::new(5, "x".parse()?)).await?,
            Written::Applied,
            "a put of a greater writer"
        );
    }
    Ok(())
}

/// The same writes arrive in several orders, some of them twice, and the same write wins each time.
pub(super) async fn any_order_of_arrival_has_one_winner(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    let mut rng = world.rng();
    for round in 0..world.profile().rounds * 10 {
        let mut writes = Vec::new();
        for _ in 0..12 {
            let writer = ["a", "b", "é"][rng.usize(..3)];
            writes.push(Write::new(rng.i64(-2..3), writer, rng.u8(..3) == 0)?);
        }
        for order in 0..3 {
            rng.shuffle(&mut writes);
            let key = Key::new(format!("{round}/{order}"))?;
            let mut newest: Option<&Write> = None;
            for write in &writes {
                let written = write.make(&*store, &key).await?;
                let expected = match newest {
                    Some(newest) if newest == write => Written::Duplicate,
                    Some(newest) if newest > write => Written::Stale { current: newest.stamp.clone() },
                    _ => Written::Applied,
                };
                ensure_eq!(written, expected, "{write:?} after {newest:?}");
                newest = newest.max(Some(write));
            }
            if let Some(winner) = writes.iter().max() {
                winner.ensure_shown(&*store, &key).await?;
            }
        }
    }
    Ok(())
}

pub(super) async fn sequence_numbers_may_be_anything(world: &World) -> Verdict {
    let store = world.ordered(SEQUENCE)?;
    for (number, at) in
        [i64::MIN, i64::MIN + 1, -1_000_000, -1, 0, 1, 1_000_000, i64::MAX - 1, i64::MAX].into_iter().enumerate()
    {
        let alone = format!("alone-{number}");
        put_new(&*store, &alone, "value", at).await?;
        ensure_eq!(shown(&*store, &alone).await?, Some(("value".to_owned(), at)), "a value at {at}");
        put_new(&*store, "rising", "value", at).await?;
        ensure_eq!(
            store.delete(&"rising".parse()?, &Stamp::new(at, "w".parse()?)).await?,
            Written::Applied,
            "a delete at {at}"
        );
    }
    let late = store.put(&"rising".parse()?, &"value".try_into()?, &Stamp::new(i64::MAX, "v".parse()?)).await?;
    ensure_stale(&late, i64::MAX, "a put of a lesser writer at the last number")?;
    Ok(())
}
