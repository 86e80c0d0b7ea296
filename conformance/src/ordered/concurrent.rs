//! Many concurrent writers.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Key, OrderedStore, Versioned, Written};

use super::order::Write;
use super::{SEQUENCE, delete_new, ensure_stale, put_new, shown, stamp};
use crate::failure::{Failure, Verdict, ensure, ensure_eq};
use crate::history::{Limits, Recorder, Specification, check};
use crate::race::{SIZES, answered, race, recorded};
use crate::world::World;

/// The specification of one key: the newest write so far is its value.
struct Cell;

#[derive(Clone, Debug)]
enum Op {
    Write(Write),
    Read,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    Written(Written),
    Read(Option<Versioned>),
}

/// A write as the checker stores it: its time, its writer, and whether it is a delete.
type Newest = Option<(i64, String, bool)>;

impl Specification for Cell {
    type State = Newest;
    type Op = Op;
    type Reply = Reply;

    fn initial(&self) -> Newest {
        None
    }

    fn step(&self, newest: &Newest, op: &Op) -> Vec<(Newest, Reply)> {
        let current = newest.as_ref().and_then(|(at, writer, deletes)| Write::new(*at, writer, *deletes).ok());
        vec![match op {
            Op::Read => (newest.clone(), Reply::Read(current.filter(|write| !write.deletes).and_then(versioned))),
            Op::Write(write) => match current {
                Some(current) if current > *write => {
                    (newest.clone(), Reply::Written(Written::Stale { current: current.stamp }))
                }
                Some(current) if current == *write => (newest.clone(), Reply::Written(Written::Duplicate)),
                _ => (Some(state(write)), Reply::Written(Written::Applied)),
            },
        }]
    }
}

fn versioned(write: Write) -> Option<Versioned> {
    Some(Versioned { value: write.content().ok()?, stamp: write.stamp })
}

fn state(write: &Write) -> (i64, String, bool) {
    (write.stamp.at, write.stamp.writer.as_str().to_owned(), write.deletes)
}

/// Returns a random operation with one of a few stamps, so that stamps repeat.
fn random_op(rng: &mut fastrand::Rng) -> Result<Op, Failure> {
    if rng.u8(..3) == 0 {
        return Ok(Op::Read);
    }
    let writer = ["a", "b"][rng.usize(..2)];
    Ok(Op::Write(Write::new(rng.i64(0..12), writer, rng.u8(..4) == 0)?))
}

pub(super) async fn racing_writes_of_one_key_are_linearizable(world: &World) -> Verdict {
    let mut rng = world.rng();
    for round in 0..world.profile().rounds * 8 {
        let (key, recorder) = (Key::new(format!("key-{round}"))?, Arc::new(Recorder::new()));
        let mut plans = Vec::new();
        for _ in 0..8 {
            let plan: Result<Vec<_>, _> = (0..6).map(|_| random_op(&mut rng)).collect();
            plans.push(plan?);
        }
        let store = world.ordered(SEQUENCE)?;
        race(plans.len(), |number| {
            let (store, key, recorder) = (Arc::clone(&store), key.clone(), Arc::clone(&recorder));
            let plan = plans[number].clone();
            async move { follow(&*store, &key, number, plan, &recorder).await }
        })
        .await?;
        let verdict = check(&Cell, &recorder.history(), Limits::default());
        ensure!(verdict.is_linearizable(), "round {round}: {verdict}");
    }
    Ok(())
}

async fn follow(
    store: &dyn OrderedStore,
    key: &Key,
    client: usize,
    plan: Vec<Op>,
    recorder: &Recorder<Op, Reply>,
) -> Verdict {
    for op in plan {
        let pending = recorder.invoke(client, op.clone());
        let reply = match &op {
            Op::Read => recorded(|| store.get(key)).await?.map(Reply::Read),
            Op::Write(write) => recorded(|| write.make(store, key)).await?.map(Reply::Written),
        };
        // Without a reply the attempt may have had an effect or not, and stays pending.
        if let Some(reply) = reply {
            pending.respond(reply);
        }
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Puts a value as the writer `w`.
async fn put(store: &dyn OrderedStore, key: &str, value: &str, at: i64) -> Result<Written, Failure> {
    let (key, value, stamp) = (key.parse()?, value.try_into()?, stamp(at, "w")?);
    answered(|| store.put(&key, &value, &stamp)).await
}

pub(super) async fn racing_writes_leave_the_newest(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 2 {
        for size in SIZES {
            let (store, key) = (world.ordered(SEQUENCE)?, format!("key-{round}-{size}"));
            let written = race(size, |number| {
                let (store, key) = (Arc::clone(&store), key.clone());
                async move { put(&*store, &key, &number.to_string(), number as i64).await }
            })
            .await?;
            let newest = size as i64 - 1;
            ensure_eq!(shown(&*store, &key).await?, Some((newest.to_string(), newest)), "the winner of {size}");
            ensure_eq!(written[size - 1], Written::Applied, "the answer to the newest of {size}");
            for (number, written) in written.iter().enumerate() {
                let beaten = matches!(written, Written::Stale { current } if current.at > number as i64);
                ensure!(beaten || *written == Written::Applied, "writer {number} was answered {written:?}");
            }
        }
    }
    Ok(())
}

pub(super) async fn racing_copies_of_one_write_are_applied_once(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 2 {
        for (deletes, size) in [(false, 8), (true, 8), (false, 64)] {
            let (store, key) = (world.ordered(SEQUENCE)?, Key::new(format!("key-{round}-{deletes}-{size}"))?);
            let write = Write::new(7, "w", deletes)?;
            let written = race(size, |_| {
                let (store, key, write) = (Arc::clone(&store), key.clone(), write.clone());
                async move { answered(|| write.make(&*store, &key)).await }
            })
            .await?;
            let applied = written.iter().filter(|written| **written == Written::Applied).count();
            let duplicates = written.iter().filter(|written| **written == Written::Duplicate).count();
            ensure_eq!((applied, duplicates), (1, size - 1), "copies that were applied, and duplicates");
            write.ensure_shown(&*store, &key).await?;
        }
    }
    Ok(())
}

/// Several writers put and delete with the same time, through two handles. In the end both handles show the greatest
/// write.
pub(super) async fn racing_writes_of_one_instant_converge(world: &World) -> Verdict {
    let mut writes = Vec::new();
    for writer in ["A", "a", "b", "é", "\u{ffff}", "\u{10000}"] {
        writes.push(Write::new(7, writer, false)?);
        writes.push(Write::new(7, writer, true)?);
    }
    let last = Write::new(7, "\u{10000}", true)?;
    let handles = [world.ordered(SEQUENCE)?, world.client().await?.ordered_store(&"ordered".parse()?, SEQUENCE)?];
    for round in 0..world.profile().rounds * 8 {
        let count = writes.len() - round % 2;
        let winner = &writes[count - 1];
        ensure!(round % 2 == 1 || *winner == last, "the writes are not in their order");
        let key = Key::new(format!("key-{round}"))?;
        race(2 * count, |number| {
            let (store, key) = (Arc::clone(&handles[number % 2]), key.clone());
            let write = writes[number * 7 % count].clone();
            async move { answered(|| write.make(&*store, &key)).await }
        })
        .await?;
        for store in &handles {
            winner.ensure_shown(&**store, &key).await?;
        }
    }
    Ok(())
}

/// After a delete has been acknowledged, no reader may see an older value of any writer.
pub(super) async fn a_deleted_key_never_shows_an_older_value(world: &World) -> Verdict {
    for round in 0..world.profile().rounds * 4 {
        let (store, key) = (world.ordered(SEQUENCE)?, format!("key-{round}"));
        put_new(&*store, &key, "0", 0).await?;
        race(9, |number| {
            let (store, key) = (Arc::clone(&store), key.clone());
            async move {
                match number {
                    0 => delete_and_look(&*store, &key).await,
                    _ => put_often(&*store, &key, number as i64).await,
                }
            }
        })
        .await?;
        ensure_eq!(shown(&*store, &key).await?, None, "a key whose newest write is a delete");
        ensure!(store.list(None, None, 100).await?.entries.is_empty(), "a deleted key is listed");
    }
    Ok(())
}

async fn delete_and_look(store: &dyn OrderedStore, key: &str) -> Verdict {
    delete_new(store, key, 100).await?;
    for _ in 0..20 {
        ensure_eq!(shown(store, key).await?, None, "a key after its delete was acknowledged");
        tokio::task::yield_now().await;
    }
    Ok(())
}

async fn put_often(store: &dyn OrderedStore, key: &str, first: i64) -> Verdict {
    for at in (first..100).step_by(8) {
        let _ = put(store, key, &at.to_string(), at).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Purges that run beside writers delete no young tombstone, so no older value is visible again.
pub(super) async fn purging_beside_writers_resurrects_nothing(world: &World) -> Verdict {
    let age = Duration::from_secs(3_600);
    for round in 0..world.profile().rounds {
        let store = world.ordered(SEQUENCE)?;
        let purged = race(8, |number| {
            let (store, key) = (Arc::clone(&store), format!("key-{round}-{number}"));
            async move {
                if number < 2 {
                    return purge_often(&*store, age).await;
                }
                put_new(&*store, &key, "old", 1).await?;
                for at in (10..50).step_by(2) {
                    delete_new(&*store, &key, at).await?;
                    ensure_stale(&put(&*store, &key, "old", 1).await?, at, "an old put beside a purger")?;
                    put_new(&*store, &key, "new", at + 1).await?;
                }
                Ok(0)
            }
        })
        .await?;
        ensure_eq!(purged.iter().sum::<u64>(), 0, "tombstones purged before the age that the purgers name");
    }
    Ok(())
}

async fn purge_often(store: &dyn OrderedStore, age: Duration) -> Result<u64, Failure> {
    let mut deleted = 0;
    for _ in 0..20 {
        deleted += answered(|| store.purge(age, 100)).await?.deleted;
        tokio::task::yield_now().await;
    }
    Ok(deleted)
}
