//! S-1: a store that is not set up says so, and stores nothing of the calls that it refuses.

use std::time::Duration;

use storagebox_core::{
    Backend, Change, Counter, DedupRepo, EntityLedger, EntryId, Error, ErrorKind, Hold, ItemBank, Joins, LeaseRepo,
    OrderedOptions, OrderedStore, Result, Retention, Stamp, Strategy, TokenStore,
};

use super::everything::Everything;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::neighbour::Neighbour;
use crate::part::Part;
use crate::race::race;
use crate::world::World;

const HOUR: Duration = Duration::from_secs(3_600);

/// Returns whether the store needs a setup, according to a ping before any setup.
async fn must_be_set_up(store: &dyn Backend) -> Result<bool, Failure> {
    match store.ping().await {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotSetUp => Ok(true),
        Err(error) => Err(Failure::from(error).during("a ping of a place that is not set up")),
    }
}

pub(super) async fn a_place_that_is_not_set_up_says_so(world: &World) -> Verdict {
    let place = world.bare().await?;
    let store = place.open().await?;
    if must_be_set_up(&*store).await? {
        for (call, answer) in calls(world, &*store).await? {
            ensure_refused(&*store, call, answer)?;
        }
        ensure_refused(&*store, "maintain", store.maintain(1).await.map(drop))?;
        ensure_refused(&*store, "a ping", store.ping().await)?;
    } else {
        let asked = world.bare().await?;
        ensure_answered(world, &*asked.open().await?, "a place whose ping was answered before it was set up").await?;
    }
    store.setup().await?;
    store.ping().await?;
    if world.has(Part::ItemBank) {
        ensure_eq!(store.item_bank(&"bank".parse()?)?.counts().await?.total(), 0, "items of refused calls");
    }
    ensure_answered(world, &*store, "the client that was refused").await?;
    ensure_answered(world, &*place.open().await?, "a new client").await
}

/// Makes calls of every part that the backend has.
async fn calls(world: &World, store: &dyn Backend) -> Result<Vec<(&'static str, Result<()>)>, Failure> {
    let mut calls = vec![];
    for part in Part::STORED.iter().chain([&Part::Entities]).filter(|part| world.has(**part)) {
        calls.extend(calls_of(store, *part).await?);
    }
    Ok(calls)
}

async fn ensure_answered(world: &World, store: &dyn Backend, whose: &str) -> Verdict {
    for (call, answer) in calls(world, store).await? {
        answer.map_err(|error| Failure::from(error).during(format!("{call} of {whose}")))?;
    }
    Ok(())
}

/// Makes reading and changing calls of a part, and returns the name and the answer of each.
async fn calls_of(store: &dyn Backend, part: Part) -> Result<Vec<(&'static str, Result<()>)>, Failure> {
    let (name, id, op) = ("bank".parse()?, "id".parse()?, "op".parse()?);
    Ok(match part {
        Part::ItemBank => {
            let bank = store.item_bank(&name)?;
            vec![
                ("add", bank.add(&["item".parse()?]).await.map(drop)),
                ("take", bank.take(&"claim".parse()?, Hold::Forever).await.map(drop)),
                ("get", bank.get(&"claim".parse()?).await.map(drop)),
                ("counts", bank.counts().await.map(drop)),
                ("list", bank.list(None, 1).await.map(drop)),
            ]
        }
        Part::Dedup => {
            let (records, leases) = (store.dedup_repo(&name)?, store.lease_repo(&name)?);
            vec![
                ("record", records.record(&id, &"value".try_into()?, &op, Retention::Forever).await.map(drop)),
                ("get", records.get(&id).await.map(drop)),
                ("list", records.list(None, 1).await.map(drop)),
                ("begin", leases.begin(&id, &op, HOUR, None).await.map(drop)),
            ]
        }
        Part::Tokens => {
            let tokens = store.token_store(&name)?;
            vec![
                ("create_tokens", tokens.create_tokens(&["token".parse()?]).await.map(drop)),
                ("consume", tokens.consume(&"token".parse()?, &op).await.map(drop)),
                ("exists", tokens.exists(&"token".parse()?).await.map(drop)),
            ]
        }
        Part::Counter => {
            let counter = store.counter(&name, Strategy::default())?;
            vec![
                ("apply", counter.apply(&"key".parse()?, &Change::new(op, 1)).await.map(drop)),
                ("value", counter.value(&"key".parse()?).await.map(drop)),
            ]
        }
        Part::Ordered => {
            let ordered = store.ordered_store(&name, OrderedOptions::sequence())?;
            let stamp = Stamp::new(1, "w".parse()?);
            vec![
                ("put", ordered.put(&"key".parse()?, &"value".try_into()?, &stamp).await.map(drop)),
                ("get", ordered.get(&"key".parse()?).await.map(drop)),
                ("list", ordered.list(None, None, 1).await.map(drop)),
            ]
        }
        _ => {
            let entities = store.entity_ledger(&name, &Joins::default())?;
            let (key, message, commit) = ("key".parse()?, "message".parse()?, op);
            let entry = EntryId { key, message, commit };
            vec![
                ("open", entities.open(&entry.key, &entry.message, None).await.map(drop)),
                ("remove", entities.remove(&entry).await.map(drop)),
            ]
        }
    })
}

/// Checks that the error is `NotSetUp` and names the backend and the operation.
fn ensure_refused(store: &dyn Backend, call: &str, answer: Result<()>) -> Verdict {
    let error: Error = ensure_matches!(answer, Err(error) => error, "{call} of a place that is not set up");
    ensure_eq!(error.kind(), ErrorKind::NotSetUp, "the kind of the error of {call}");
    ensure_eq!(error.backend(), Some(store.backend()), "the backend that the error of {call} names");
    ensure!(error.operation().is_some(), "the error of {call} names no operation");
    Ok(())
}

/// Concurrent setups create one store.
pub(super) async fn many_set_up_a_bare_place_at_once(world: &World) -> Verdict {
    for _ in 0..world.profile().rounds.div_ceil(2) {
        let place = world.bare().await?;
        let mut stores = vec![];
        for _ in 0..3 {
            stores.push(place.open().await?);
        }
        let set_up = race(stores.len(), |number| {
            let store = stores[number].clone();
            async move { Ok(store.setup().await?) }
        });
        set_up.await?;
        let everything = Everything::put(&*stores[0]).await?;
        for store in &stores {
            everything.ensure_there(&**store).await?;
        }
    }
    Ok(())
}

/// A setup that was acknowledged is complete, even if its process is killed directly afterwards.
pub(super) async fn a_killed_process_has_set_up(world: &World) -> Verdict {
    let place = world.bare().await?;
    let missing = || Failure::new("a sandbox must have an `address` if its harness declares processes");
    let mut other = Neighbour::start(&place.address().ok_or_else(missing)?).await?;
    other.set_up().await?;
    other.kill().await?;
    let store = place.open().await?;
    store.ping().await?;
    Everything::put(&*store).await?.ensure_there(&*store).await
}
