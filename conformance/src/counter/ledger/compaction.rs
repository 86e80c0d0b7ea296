//! Compaction: entries become one sum, and no reader notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use storagebox_core::{Counted, LedgerEntry, Maintained};

use super::{Book, ensure_kept};
use crate::counter::ambiguous::ensure_lost;
use crate::counter::{Kind, Subject};
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::link::{Fate, Link, drop_after};
use crate::race::race;
use crate::world::World;

/// Compactions between changes do not change the value. After the last compaction, the log has one entry, the sum.
pub(in crate::counter) async fn compaction_keeps_the_value_and_one_sum(world: &World) -> Verdict {
    let (book, mut rng) = (Book::of(world.store())?, world.rng());
    let (mut value, mut changes) = (0, 0);
    for round in 0..12 {
        for number in 0..rng.usize(..6) {
            let delta = rng.i64(-50..=50);
            book.add(&format!("op-{round}-{number}"), delta).await?;
            (value, changes) = (value + delta, changes + 1);
        }
        let limit = rng.usize(1..5);
        let merged = book.compact(Duration::ZERO, limit).await?;
        ensure!(merged.deleted <= limit as u64, "{merged:?} with a limit of {limit}");
        ensure_kept(&book, changes, value).await?;
    }
    while book.compact(Duration::ZERO, 4).await?.more {}
    ensure_kept(&book, changes, value).await?;
    let log = book.log(10).await?;
    ensure!(matches!(log[..], [LedgerEntry::Sum { .. }]), "the compacted log is not one sum: {log:?}");
    Ok(())
}

pub(in crate::counter) async fn compaction_leaves_what_is_younger(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    book.fill(3).await?;
    let untouched = book.compact(Duration::from_secs(3_600), 100).await?;
    ensure_eq!(untouched, Maintained::default(), "compacting what is an hour old");
    let age = world.short() * 4;
    world.pass(age).await;
    book.add("young", 100).await?;
    book.compact(age, 100).await?;
    let log = book.log(10).await?;
    ensure!(
        matches!(&log[..], [LedgerEntry::Sum { delta: 6, changes: 3, .. }, LedgerEntry::Change { op, .. }]
            if op.as_str() == "young"),
        "the log after compacting what is {age:?} old: {log:?}"
    );
    ensure_eq!(book.compact(Duration::ZERO, 0).await?.deleted, 0, "merged with a limit of 0");
    ensure_kept(&book, 4, 106).await
}

/// A retry after a compaction is recognised if the entry of its change was not merged. Merged changes still count.
pub(in crate::counter) async fn retries_after_a_compaction_are_exact_for_what_is_left(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    book.fill(2).await?;
    let age = world.short() * 4;
    world.pass(age).await;
    let counter = Subject::new(world, Kind::Ledger)?;
    let _ = counter.apply("young", 5).await?;
    book.compact(age, 100).await?;
    ensure_eq!(counter.apply("young", 5).await?, counter.already(5), "the retry of what was left");
    ensure_eq!(counter.apply("young", 6).await?, Counted::Mismatch, "another delta for it");
    ensure_kept(&book, 3, 8).await
}

/// Reads during compactions always return the right value.
pub(in crate::counter) async fn compaction_is_never_seen(world: &World) -> Verdict {
    let any = Book::of(world.store())?;
    for round in 0..world.profile().rounds {
        let book = any.at(format!("round-{round}"))?;
        book.fill(40).await?;
        let compacting = Arc::new(AtomicUsize::new(2));
        race(6, |number| {
            let (book, compacting) = (book.clone(), Arc::clone(&compacting));
            async move {
                if number < 2 {
                    compact_all(&book, &compacting).await
                } else {
                    look(&book, &compacting).await
                }
            }
        })
        .await?;
        ensure_kept(&book, 40, 820).await?;
    }
    Ok(())
}

async fn compact_all(book: &Book, compacting: &AtomicUsize) -> Verdict {
    let mut compacted = Ok(true);
    while let Ok(true) = compacted {
        compacted = book.compact(Duration::ZERO, 3).await.map(|merged| merged.more);
    }
    compacting.fetch_sub(1, Ordering::SeqCst);
    compacted.map(|_| ())
}

async fn look(book: &Book, compacting: &AtomicUsize) -> Verdict {
    while compacting.load(Ordering::SeqCst) > 0 {
        ensure_eq!(book.value().await?, 820, "the value during a compaction");
        tokio::task::yield_now().await;
    }
    Ok(())
}

pub(in crate::counter) async fn writers_and_compactions_lose_nothing(world: &World) -> Verdict {
    let any = Book::of(world.store())?;
    for round in 0..world.profile().rounds {
        let book = any.at(format!("round-{round}"))?;
        race(12, |number| {
            let book = book.clone();
            async move {
                for step in 0..6 {
                    book.add(&format!("op-{number}-{step}"), 1).await?;
                    book.compact(Duration::ZERO, number % 4).await?;
                }
                Ok(())
            }
        })
        .await?;
        ensure_kept(&book, 72, 72).await?;
    }
    Ok(())
}

/// A compaction whose request or reply is lost, late or doubled keeps the value.
pub(in crate::counter) async fn lost_compactions_are_repeated(world: &World) -> Verdict {
    let any = Book::of(world.store())?;
    for fate in [Fate::RequestLost, Fate::ReplyLost, Fate::Late, Fate::Twice] {
        let (book, link) = (any.at(format!("{fate:?}"))?, Link::script([fate]));
        let far = book.behind(&link);
        book.fill(6).await?;
        let answer = far.ledger.compact(&far.key, Duration::ZERO, 4).await;
        if fate != Fate::Twice {
            ensure_lost(answer)?;
        }
        far.compact(Duration::ZERO, 4).await?;
        book.add("between", 1).await?;
        link.land().await;
        ensure_kept(&book, 7, 22).await.map_err(|failure| failure.during(format!("{fate:?}")))?;
    }
    Ok(())
}

pub(in crate::counter) async fn a_compaction_can_be_dropped_anywhere(world: &World) -> Verdict {
    let any = Book::of(world.store())?;
    let mut points = 0;
    loop {
        let book = any.at(format!("point-{points}"))?;
        book.fill(6).await?;
        let gated = book.behind(&Link::gated());
        let compacting = gated.ledger.compact(&gated.key, Duration::ZERO, 4);
        let through = drop_after(compacting, points).await.transpose()?.is_some();
        // No listing here: a compaction that is still in flight may merge entries that the listing has not reached yet.
        ensure_eq!(book.value().await?, 21, "the value after a compaction that was dropped at point {points}");
        book.compact(Duration::ZERO, 100).await?;
        ensure_kept(&book, 6, 21).await?;
        if through {
            ensure!(points >= 2, "a compaction was dropped at only {points} points");
            return Ok(());
        }
        points += 1;
    }
}
