//! Ledgers: their log, their compaction, and reads that may be slightly stale.

pub(super) mod compaction;
pub(super) mod reasons;

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Change, Counted, Counter, Cursor, ErrorKind, Key, Ledger, LedgerEntry, Maintained, Result,
    Retention, Strategy,
};

use super::{Kind, Subject};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::Link;
use crate::pages::after;
use crate::race::answered;
use crate::world::World;

/// A ledger and one of its keys.
#[derive(Clone)]
pub(super) struct Book {
    pub(super) ledger: Arc<dyn Ledger>,
    pub(super) key: Key,
}

impl Book {
    pub(super) fn of(store: &Arc<dyn Backend>) -> Result<Self> {
        Ok(Self { ledger: store.ledger(&"counters".parse()?)?, key: Key::new("key")? })
    }

    fn at(&self, key: impl Into<Arc<str>>) -> Result<Self> {
        Ok(Self { key: Key::new(key)?, ..self.clone() })
    }

    fn behind(&self, link: &Arc<Link>) -> Self {
        Self { ledger: link.before(&self.ledger), ..self.clone() }
    }

    /// Applies a change, and checks that the answer is `Applied`.
    pub(super) async fn add(&self, op: &str, delta: i64) -> Verdict {
        let counter = Subject::of(Arc::clone(&self.ledger) as _)?.at(self.key.as_str())?;
        ensure_matches!(counter.apply(op, delta).await?, Counted::Applied { .. }, "a new change, {op} of {delta}");
        Ok(())
    }

    /// Applies `op-0`, `op-1` and so on, with the deltas 1, 2 and so on.
    async fn fill(&self, count: usize) -> Verdict {
        for number in 0..count {
            self.add(&format!("op-{number}"), number_of(number + 1)).await?;
        }
        Ok(())
    }

    pub(super) async fn value(&self) -> Result<i64, Failure> {
        answered(|| self.ledger.value(&self.key)).await
    }

    pub(super) async fn compact(&self, older_than: Duration, limit: usize) -> Result<Maintained, Failure> {
        answered(|| self.ledger.compact(&self.key, older_than, limit)).await
    }

    /// Reads the whole log in pages of `limit` entries.
    pub(super) async fn log(&self, limit: usize) -> Result<Vec<LedgerEntry>, Failure> {
        let (mut entries, mut cursor) = (Vec::new(), None);
        loop {
            let page = answered(|| self.ledger.log(&self.key, cursor.as_ref(), limit)).await?;
            ensure!(page.entries.len() <= limit, "{} entries on a page of {limit}", page.entries.len());
            entries.extend(page.entries);
            cursor = after(cursor.as_ref(), page.next)?;
            if cursor.is_none() {
                return Ok(entries);
            }
        }
    }
}

fn number_of(count: usize) -> i64 {
    i64::try_from(count).unwrap_or_default()
}

/// Returns the sum of a log and the number of its changes.
fn sum(log: &[LedgerEntry]) -> (i64, u64) {
    log.iter().fold((0, 0), |(sum, count), entry| match entry {
        LedgerEntry::Change { delta, .. } => (sum + delta, count + 1),
        LedgerEntry::Sum { delta, changes, .. } => (sum + delta, count + changes),
    })
}

/// Checks that the log has at most one sum entry, followed by the changes in the order of time and operation id.
pub(super) fn ensure_in_order(log: &[LedgerEntry]) -> Verdict {
    let mut last = None;
    for (number, entry) in log.iter().enumerate() {
        match entry {
            LedgerEntry::Sum { .. } => ensure_eq!(number, 0, "the place of a sum in {log:?}"),
            LedgerEntry::Change { op, at_millis, .. } => {
                let place = Some((at_millis, op));
                ensure!(last < place, "{place:?} after {last:?}");
                last = place;
            }
        }
    }
    Ok(())
}

/// Checks, for several page lengths, that the log holds this many changes and that their sum is `value`.
async fn ensure_kept(book: &Book, changes: usize, value: i64) -> Verdict {
    for limit in [1, 3, 1_000] {
        let log = book.log(limit).await?;
        ensure_in_order(&log)?;
        ensure_eq!(sum(&log), (value, changes as u64), "the sum of a log by {limit}, and its changes");
    }
    ensure_eq!(book.value().await?, value, "the value");
    Ok(())
}

pub(super) async fn the_log_shows_each_change_once(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    ensure_eq!(book.log(10).await?, vec![], "the log of an absent counter");
    for number in 0..12 {
        book.add(&format!("op-{number}"), 1 << number).await?;
        // A retry adds no entry.
        let _ = book.ledger.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1 << number)).await?;
        book.at("other")?.add(&format!("op-{number}"), 7).await?;
    }
    let _ = book.ledger.cancel(&book.key, &"cancelled".try_into()?).await?;
    ensure_kept(&book, 12, (1 << 12) - 1).await?;
    for limit in [1, 5, 12, 13] {
        let log = book.log(limit).await?;
        let mut deltas: Vec<_> = log.iter().filter_map(delta_of).collect();
        deltas.sort_unstable();
        let expected: Vec<_> = (0..12).map(|number| 1 << number).collect();
        ensure_eq!(deltas, expected, "the changes of a log by {limit}");
    }
    Ok(())
}

fn delta_of(entry: &LedgerEntry) -> Option<i64> {
    match entry {
        LedgerEntry::Change { delta, .. } => Some(*delta),
        LedgerEntry::Sum { .. } => None,
    }
}

pub(super) async fn a_page_of_nothing_and_foreign_cursors_are_refused(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    book.fill(2).await?;
    let asked = [(None, 0), (Some(Cursor::new("foreign")), 5), (Some(Cursor::new("")), 5)];
    for (cursor, limit) in asked {
        let refused = book.ledger.log(&book.key, cursor.as_ref(), limit).await;
        let kind = refused.err().map(|error| error.kind());
        ensure_eq!(kind, Some(ErrorKind::InvalidInput), "a page of {limit} after {cursor:?}");
    }
    Ok(())
}

pub(super) async fn a_ledger_and_its_counter_are_one_namespace(world: &World) -> Verdict {
    let (book, counter) = (Book::of(world.store())?, Subject::new(world, Kind::Ledger)?);
    book.add("op", 5).await?;
    ensure_eq!(counter.apply("op", 5).await?, counter.already(5), "the ledger's operation by its counter");
    let _ = counter.apply("other", 2).await?;
    ensure_kept(&book, 2, 7).await?;
    let marker = Strategy::Marker { retention: Retention::Forever };
    let _ = world
        .store()
        .counter(&"markers".parse()?, marker)?
        .apply(&"key".parse()?, &Change::new("op".parse()?, 1))
        .await?;
    let key = Key::new("key")?;
    let opened = match world.store().ledger(&"markers".parse()?) {
        Ok(ledger) => ledger.value(&key).await,
        Err(error) => Err(error),
    };
    let kind = opened.err().map(|error| error.kind());
    ensure_eq!(kind, Some(ErrorKind::Misconfigured), "a ledger where the namespace has markers");
    Ok(())
}

/// On every client, a read with the maximum age 0 shows every change. Other reads show a value that is no older than
/// their maximum age.
pub(super) async fn cached_reads_are_as_old_as_they_say(world: &World) -> Verdict {
    let (mine, other) = (Book::of(world.store())?, Book::of(&world.client().await?)?);
    let age = world.short();
    for number in 1..=20 {
        mine.add(&format!("op-{number}"), 1).await?;
        for book in [&mine, &other] {
            let strong = answered(|| book.ledger.value_within(&book.key, Duration::ZERO)).await?;
            ensure_eq!(strong, number, "a read of no age");
            let cached = answered(|| book.ledger.value_within(&book.key, age)).await?;
            ensure!((0..=number).contains(&cached), "{cached} after {number} changes of 1");
        }
        if number % 10 == 0 {
            world.pass(age * 2).await;
            let cached = answered(|| other.ledger.value_within(&other.key, age)).await?;
            ensure_eq!(cached, number, "a read of {age:?} after nothing happened for as long");
        }
    }
    Ok(())
}

/// A change that takes the sum beyond 64 bits returns `Overflow`, or later reads fail. No call returns a wrong sum.
pub(super) async fn a_sum_beyond_64_bits_is_told(world: &World) -> Verdict {
    let counter = Subject::new(world, Kind::Ledger)?;
    let _ = counter.apply("start", i64::MAX).await?;
    match counter.apply("over", 5).await? {
        Counted::Overflow => {
            ensure_eq!(counter.value().await?, i64::MAX, "the value after an overflow");
            let back = counter.apply("over", -5).await?;
            ensure_matches!(back, Counted::Applied { .. }, "the operation with another delta");
        }
        counted => {
            ensure_matches!(counted, Counted::Applied { .. }, "a change that the ledger takes");
            let kind = counter.counter.value(&counter.key).await.err().map(|error| error.kind());
            ensure_eq!(kind, Some(ErrorKind::TooLarge), "a read of a sum beyond 64 bits");
            let back = counter.apply("back", -10).await?;
            ensure_matches!(back, Counted::Applied { .. }, "a change that brings it back");
        }
    }
    ensure_eq!(counter.value().await?, i64::MAX - 5, "the value in the end");
    Ok(())
}

/// A ledger refuses bounds, because it has no stored value to test them on.
pub(super) async fn bounds_of_a_ledger_are_unsupported(world: &World) -> Verdict {
    let book = Book::of(world.store())?;
    for bounds in [Bounds::at_least(0), Bounds::at_most(10), Bounds::between(-5, 5)?] {
        let change = Change::new("op".try_into()?, 1).within(bounds);
        let refused = book.ledger.apply(&book.key, &change).await;
        let error = refused.err().ok_or_else(|| Failure::new(format!("{bounds:?} of a ledger")))?;
        ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of {error}");
        ensure!(error.to_string().contains("Marker"), "the error does not name a strategy with bounds: {error}");
    }
    ensure_kept(&book, 0, 0).await?;
    book.add("op", 1).await?;
    ensure_kept(&book, 1, 1).await
}
