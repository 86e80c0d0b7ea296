//! S-4: a namespace is opened the way it was created.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Change, Counted, Counter, ErrorKind, Key, OrderedOptions, OrderedStore, Result, Retention, Stamp,
    Stamping, Strategy, Written,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::race::{answered, race};
use crate::world::World;

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// Returns different strategies that every backend has.
fn strategies() -> Vec<Strategy> {
    let (day, forever) = (Retention::For(DAY), Retention::Forever);
    let (free, floored) = (Bounds::NONE, Bounds::at_least(0));
    vec![
        Strategy::Atomic,
        Strategy::Marker { retention: day },
        Strategy::Marker { retention: forever },
        Strategy::Marker { retention: Retention::For(DAY * 2) },
        Strategy::Window { lifetime: DAY, capacity: 10 },
        Strategy::Window { lifetime: DAY, capacity: 11 },
        Strategy::Window { lifetime: DAY * 2, capacity: 10 },
        Strategy::Sharded { shards: 2, bounds: free, retention: day },
        Strategy::Sharded { shards: 3, bounds: free, retention: day },
        Strategy::Sharded { shards: 2, bounds: floored, retention: day },
        Strategy::Sharded { shards: 2, bounds: Bounds::at_most(0), retention: day },
        Strategy::Sharded { shards: 2, bounds: free, retention: forever },
    ]
}

/// Returns options whose times are so long that no stamp is out of range.
fn options() -> Vec<OrderedOptions> {
    let time = |skew: Option<Duration>, age| OrderedOptions {
        stamping: Stamping::Time { max_skew: skew },
        tombstone_age: age,
    };
    let years = DAY * 365 * 70;
    vec![
        time(None, years),
        time(None, years * 10 / 9),
        time(Some(DAY), years),
        time(Some(DAY * 2), years),
        OrderedOptions { stamping: Stamping::Sequence, tombstone_age: years },
        OrderedOptions { stamping: Stamping::Sequence, tombstone_age: DAY },
    ]
}

/// Returns the options that a store keeps: all except the skew, which belongs to each handle.
fn stored(options: OrderedOptions) -> (bool, Duration) {
    (options.stamping == Stamping::Sequence, options.tombstone_age)
}

async fn count(store: &dyn Backend, name: &str, strategy: Strategy, op: &str) -> Result<Counted> {
    store.counter(&name.parse()?, strategy)?.apply(&"key".parse()?, &Change::new(op.parse()?, 0)).await
}

async fn put(store: &dyn Backend, name: &str, options: OrderedOptions) -> Result<Written> {
    store
        .ordered_store(&name.parse()?, options)?
        .put(&"key".parse()?, &"value".try_into()?, &Stamp::new(1_000_000_000_000, "w".parse()?))
        .await
}

fn ensure_refused<T: std::fmt::Debug>(what: &str, answer: Result<T>) -> Verdict {
    let error = ensure_matches!(answer, Err(error) => error, "{what}");
    ensure_eq!(error.kind(), ErrorKind::Misconfigured, "the kind of {error}");
    Ok(())
}

/// Checks that the answer is a refusal, and that its error names the options of the namespace and the requested
/// options.
fn ensure_names_both<T: std::fmt::Debug>(created: &str, asked: &str, answer: Result<T>) -> Verdict {
    let shown = answer.as_ref().err().map(ToString::to_string).unwrap_or_default().to_lowercase();
    ensure_refused(&format!("{created} opened as {asked}"), answer)?;
    for options in [created, asked] {
        let name = options.split(|end: char| !end.is_alphanumeric()).next().unwrap_or(options);
        ensure!(shown.contains(&name.to_lowercase()), "{created} opened as {asked}: {shown:?} does not name {name}");
    }
    Ok(())
}

pub(super) async fn a_counter_is_opened_as_it_was_created(world: &World) -> Verdict {
    let (store, other) = (world.store(), world.client().await?);
    for (number, created) in strategies().into_iter().enumerate() {
        let name = format!("namespace-{number}");
        ensure_matches!(count(&**store, &name, created, "a").await?, Counted::Applied { .. }, "{created:?}");
        for asked in strategies() {
            let answer = count(&*other, &name, asked, "b").await;
            if asked == created {
                ensure_matches!(answer?, Counted::Applied { .. } | Counted::AlreadyApplied { .. }, "{asked:?}");
            } else {
                ensure_names_both(&format!("{created:?}"), &format!("{asked:?}"), answer)?;
            }
        }
    }
    Ok(())
}

pub(super) async fn an_ordered_store_is_opened_as_it_was_created(world: &World) -> Verdict {
    let (store, other) = (world.store(), world.client().await?);
    for (number, created) in options().into_iter().enumerate() {
        let name = format!("namespace-{number}");
        ensure_eq!(put(&**store, &name, created).await?, Written::Applied, "{created:?}");
        for asked in options() {
            let answer = put(&*other, &name, asked).await;
            if stored(asked) == stored(created) {
                ensure_eq!(answer?, Written::Duplicate, "{asked:?}");
            } else {
                let (created, asked) = (format!("{:?}", created.stamping), format!("{:?}", asked.stamping));
                ensure_names_both(&created, &asked, answer)?;
            }
        }
    }
    Ok(())
}

/// A handle may add, change or remove the skew of a namespace, and handles with different skews may be open at once.
pub(super) async fn a_skew_may_be_changed(world: &World) -> Verdict {
    let skews = [None, Some(DAY), Some(DAY * 2), None];
    let within = |skew| OrderedOptions { stamping: Stamping::Time { max_skew: skew }, ..OrderedOptions::time() };
    for first in 0..skews.len() {
        let (name, other) = (format!("namespace-{first}").parse()?, world.client().await?);
        let open = |number: usize| {
            let store = if number.is_multiple_of(2) { world.store() } else { &other };
            store.ordered_store(&name, within(skews[(first + number) % skews.len()]))
        };
        let handles = (0..skews.len()).map(open).collect::<Result<Vec<_>>>()?;
        for handle in handles.iter().chain(&handles) {
            ensure_matches!(handle.get(&Key::new("key")?).await?, None, "a look");
            let last = Stamp::new(i64::MAX, "w".parse()?);
            let _ = handle.delete(&"other".parse()?, &Stamp::new(0, "w".parse()?)).await?;
            let _ = handle.reset(&"key".parse()?, &last).await?;
        }
        for (number, handle) in handles.iter().enumerate() {
            let is_free = skews[(first + number) % skews.len()].is_none();
            let far = Stamp::new(i64::MAX, "w".parse()?);
            let written = handle.put(&format!("key-{number}").parse()?, &"value".try_into()?, &far).await;
            ensure_eq!(written.is_ok(), is_free, "whether a stamp far ahead was taken: {written:?}");
        }
    }
    Ok(())
}

pub(super) async fn a_refused_opening_changes_nothing(world: &World) -> Verdict {
    let store = &**world.store();
    let (created, asked) = (Strategy::Marker { retention: Retention::Forever }, Strategy::Atomic);
    let _ =
        store.counter(&"namespace".parse()?, created)?.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
    let opened = store.counter(&"namespace".parse()?, asked);
    if let Ok(counter) = opened {
        ensure_refused(
            "an addition by another strategy",
            counter.apply(&"key".parse()?, &Change::new("other".parse()?, 7)).await,
        )?;
        ensure_refused("a value by another strategy", counter.value(&Key::new("key")?).await)?;
    }
    let counter = store.counter(&"namespace".parse()?, created)?;
    ensure_eq!(counter.value(&Key::new("key")?).await?, 5, "the value after a refused opening");
    ensure_matches!(
        counter.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?,
        Counted::AlreadyApplied { .. },
        "the operation again"
    );

    let _ = store
        .ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?
        .put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?))
        .await?;
    if let Ok(ordered) = store.ordered_store(&"namespace".parse()?, OrderedOptions::time()) {
        ensure_refused(
            "a put by other options",
            ordered.put(&"key".parse()?, &"other".try_into()?, &Stamp::new(i64::MAX, "w".parse()?)).await,
        )?;
        ensure_refused("a get by other options", ordered.get(&Key::new("key")?).await)?;
        ensure_refused("a purge by other options", ordered.purge(Duration::from_millis(1), 10).await)?;
    }
    let found = store.ordered_store(&"namespace".parse()?, OrderedOptions::sequence())?.get(&Key::new("key")?).await?;
    ensure_matches!(found, Some(found) if found.stamp.at == 5, "the value after a refused opening");
    Ok(())
}

/// Returns the answer or the refusal of a change, which is repeated after an error that allows that.
async fn answer(store: &dyn Backend, name: &str, strategy: Strategy, op: &str) -> Result<Result<Counted>, Failure> {
    let call = || async {
        match count(store, name, strategy, op).await {
            Err(error) if !error.is_retryable() => Ok(Err(error)),
            answer => answer.map(Ok),
        }
    };
    answered(call).await
}

/// If first calls with different strategies race, one of these calls creates the namespace. Only calls with the
/// strategy of the namespace are served.
pub(super) async fn one_of_racing_strategies_creates_the_namespace(world: &World) -> Verdict {
    let asked = [Strategy::Atomic, Strategy::default(), Strategy::Window { lifetime: DAY, capacity: 100 }];
    for round in 0..world.profile().rounds * 2 {
        let name = format!("namespace-{round}");
        let answers = race(12, |number| {
            let (store, name) = (Arc::clone(world.store()), name.clone());
            async move { answer(&*store, &name, asked[number % 3], &format!("op-{number}")).await }
        })
        .await?;
        let served: Vec<_> = (0..12).filter(|number| answers[*number].is_ok()).map(|number| number % 3).collect();
        ensure_eq!(served.len(), 4, "callers that were served");
        ensure!(served.iter().all(|one| *one == served[0]), "callers of several strategies were served");
        for answer in answers.into_iter().filter(Result::is_err) {
            ensure_refused("another strategy", answer)?;
        }
    }
    Ok(())
}
