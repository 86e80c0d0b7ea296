//! S-5: a store refuses what it cannot do, and never does something weaker.

use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Certainty, Change, Counted, Counter, Error, ErrorKind, Joins, Key, Namespace, OrderedOptions,
    Result, Retention, Strategy,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::part::Part;
use crate::world::World;

pub(super) async fn the_promises_are_said(world: &World) -> Verdict {
    let promises = world.store().promises();
    ensure_eq!(promises.backend, world.store().backend(), "whose promises they are");
    ensure!(!promises.entries.is_empty(), "nothing is promised");
    let mut subjects = std::collections::BTreeSet::new();
    for promise in &promises.entries {
        let (about, statement) = (promise.about, promise.statement.trim());
        ensure!(!about.is_empty() && !statement.is_empty(), "a promise is empty: {promise:?}");
        ensure!(subjects.insert(about), "two promises about {about}");
    }
    ensure!(subjects.contains("durability"), "no promise is about durability: {subjects:?}");
    ensure_eq!(world.client().await?.promises(), promises, "what another client is promised");
    Ok(())
}

fn every_strategy() -> [Strategy; 9] {
    let (retention, lifetime) = (Retention::Forever, Duration::from_secs(3_600));
    [
        Strategy::Atomic,
        Strategy::Optimistic,
        Strategy::OptimisticHistory { len: 10 },
        Strategy::TransactionToken,
        Strategy::Marker { retention },
        Strategy::Ledger,
        Strategy::TokenSet { max: 10 },
        Strategy::Window { lifetime, capacity: 10 },
        Strategy::Sharded { shards: 2, bounds: Bounds::NONE, retention },
    ]
}

/// Every strategy counts as it should, or is refused with the name of a better strategy.
pub(super) async fn a_strategy_works_or_names_a_better_one(world: &World) -> Verdict {
    for (number, strategy) in every_strategy().into_iter().enumerate() {
        match count(&**world.store(), &format!("namespace-{number}"), strategy).await {
            Ok(value) => ensure_eq!(value, 5, "the value of {strategy:?}"),
            Err(error) => ensure_names_another(&error, strategy)?,
        }
    }
    Ok(())
}

async fn count(store: &dyn Backend, name: &str, strategy: Strategy) -> Result<i64> {
    let counter = store.counter(&name.parse()?, strategy)?;
    let attempts = if strategy == Strategy::Atomic { 1 } else { 2 };
    for _ in 0..attempts {
        let _ = counter.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
    }
    counter.value(&Key::new("key")?).await
}

fn ensure_names_another(error: &Error, asked: Strategy) -> Verdict {
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "the kind of {error}");
    ensure!(!error.is_retryable(), "{error} is retryable");
    let names = ["Atomic", "Marker", "Window", "Sharded"];
    let shown = error.to_string();
    let named = names.iter().any(|name| shown.contains(name) && !format!("{asked:?}").starts_with(name));
    ensure!(named, "{error} names no strategy to use instead");
    Ok(())
}

/// A part that the backend leaves out returns `Unsupported`, when the part is opened or at its first call.
pub(super) async fn what_is_left_out_is_unsupported(world: &World) -> Verdict {
    for part in world.left_out() {
        let refused = opened(&**world.store(), part).await;
        if let Some(refused) = refused {
            let kind = ensure_matches!(refused, Err(error) => error.kind(), "opening {part:?}, which is left out");
            ensure_eq!(kind, ErrorKind::Unsupported, "the kind of the refusal of {part:?}");
        }
    }
    Ok(())
}

/// Opens a namespace of a part and reads from it. Returns `None` for parts that have no namespaces.
async fn opened(store: &dyn Backend, part: Part) -> Option<Result<()>> {
    let name = Namespace::new("left-out").ok()?;
    let joins = Joins { incoming: Some(name.clone()), outgoing: Some(name.clone()) };
    Some(match part {
        Part::ItemBank => async { store.item_bank(&name)?.counts().await.map(drop) }.await,
        Part::Dedup => async { store.dedup_repo(&name)?.list(None, 1).await.map(drop) }.await,
        Part::Tokens => async { store.token_store(&name)?.exists(&"token".parse()?).await.map(drop) }.await,
        Part::Entities => {
            async { store.entity_ledger(&name, &Joins::default())?.pending(None, 1).await.map(drop) }.await
        }
        Part::JoinedEntities => async { store.entity_ledger(&name, &joins)?.pending(None, 1).await.map(drop) }.await,
        Part::Counter => {
            async { store.counter(&name, Strategy::default())?.value(&"key".parse()?).await.map(drop) }.await
        }
        Part::Ordered => {
            let sequence = OrderedOptions::sequence();
            async { store.ordered_store(&name, sequence)?.get(&"key".parse()?).await.map(drop) }.await
        }
        // The strategies that a backend lacks have their own case.
        _ => return None,
    })
}

/// A store opens every part that its backend has, with the options and strategies that all backends have.
pub(super) async fn what_every_backend_has_is_there(world: &World) -> Verdict {
    let store = world.store();
    store.item_bank(&"namespace".parse()?)?.counts().await?;
    store.dedup_repo(&"namespace".parse()?)?.list(None, 1).await?;
    store.lease_repo(&"namespace".parse()?)?;
    store.token_store(&"namespace".parse()?)?.create_tokens(&[]).await?;
    for options in [OrderedOptions::time(), OrderedOptions::sequence()] {
        store.ordered_store(&format!("{:?}", options.stamping).parse()?, options)?.list(None, None, 1).await?;
    }
    let retention = Retention::For(Duration::from_secs(60));
    for (number, strategy) in [
        Strategy::Atomic,
        Strategy::Marker { retention },
        Strategy::Window { lifetime: Duration::from_secs(60), capacity: 5 },
        Strategy::Sharded { shards: 4, bounds: Bounds::at_least(0), retention },
    ]
    .into_iter()
    .enumerate()
    {
        let counter = store.counter(&format!("namespace-{number}").parse()?, strategy)?;
        match counter.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await {
            // A change of this strategy is not retried after a lost answer. The strategy exists nevertheless.
            Err(error) if error.certainty() == Certainty::Unknown && !counter.promise().recognises_repeats() => {}
            counted => ensure_matches!(counted?, Counted::Applied { .. }, "{strategy:?}"),
        }
    }
    Ok(())
}
