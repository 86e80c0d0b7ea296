//! S-2: upkeep deletes only what no promise needs, a bounded amount per call.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Change, ClaimId, Counter, DedupRepo, Hold, ItemBank, Key, OpId, OrderedOptions, OrderedStore, Recorded,
    Result, Retention, Stamp, Strategy, Taken, TokenId,
};

use super::everything::Everything;
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::{Link, drop_after};
use crate::race::{answered, race};
use crate::world::{World, items};

pub(super) async fn upkeep_keeps_what_a_promise_needs(world: &World) -> Verdict {
    let everything = Everything::put(&**world.store()).await?;
    for budget in [0, 1, 10, 1_000] {
        let done = world.store().maintain(budget).await?;
        ensure_eq!(done.deleted, 0, "what upkeep deleted, and all of it is needed");
        everything.ensure_there(&**world.store()).await?;
    }
    everything.ensure_there(&*world.client().await?).await
}

/// Upkeep keeps live entries that are older than every default retention of the library.
pub(super) async fn upkeep_after_a_while_keeps_what_lives(world: &World) -> Verdict {
    let (bank, claim, spent) = (world.filled(3).await?, ClaimId::new("held")?, ClaimId::new("spent")?);
    let _ = bank.take(&claim, Hold::Forever).await?;
    let _ = bank.take(&spent, Hold::Forever).await?;
    let _ = bank.confirm(&spent).await?;
    let (tokens, token) = (world.tokens()?, TokenId::new("live")?);
    tokens.create_tokens(std::slice::from_ref(&token)).await?;
    let (records, counter) = (world.dedup()?, world.counter(Strategy::default())?);
    let _ = records.record(&"kept".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
    let _ =
        records.record(&"brief".parse()?, &"value".try_into()?, &"op".parse()?, Retention::For(world.short())).await?;
    let _ = counter.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?;
    let ordered = world.ordered(OrderedOptions::sequence())?;
    let _ = ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(1, "w".parse()?)).await?;
    let while_long = if world.can_travel() { Duration::from_secs(30 * 24 * 3_600) } else { world.short() * 2 };
    world.pass(while_long).await;
    while world.store().maintain(1).await?.more {}
    ensure_matches!(bank.take(&claim, Hold::Forever).await?, Taken::Again(_), "a held item");
    ensure_matches!(bank.take(&spent, Hold::Forever).await?, Taken::Again(_), "a spent item");
    ensure_eq!(bank.counts().await?.total(), 3, "items in all");
    ensure!(tokens.exists(&token).await?, "a live token is gone");
    let kept = records.record(&"kept".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
    ensure_matches!(kept, Recorded::Again(_), "a record that is kept forever");
    let brief = records.record(&"brief".parse()?, &"later".try_into()?, &"other".parse()?, Retention::Forever).await?;
    ensure_matches!(brief, Recorded::New(_), "a record whose time is over");
    ensure_eq!(counter.value(&Key::new("key")?).await?, 5, "the counter");
    ensure!(ordered.get(&Key::new("key")?).await?.is_some(), "an ordered value is gone");
    Ok(())
}

pub(super) async fn upkeep_is_bounded(world: &World) -> Verdict {
    let (records, short) = (world.dedup()?, world.short());
    for number in 0..20 {
        let _ = records
            .record(&format!("id-{number}").parse()?, &"value".try_into()?, &"op".parse()?, Retention::For(short))
            .await?;
    }
    let counter = world.counter(Strategy::Marker { retention: Retention::For(short) })?;
    for number in 0..20 {
        let _ = counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1)).await?;
    }
    for name in ["one", "two"] {
        end_some(&**world.store(), name).await?;
    }
    let while_long = if world.can_travel() { Duration::from_secs(30 * 24 * 3_600) } else { short * 2 };
    world.pass(while_long).await;
    ensure_eq!(world.store().maintain(0).await?.deleted, 0, "what upkeep deleted with a budget of 0");
    let mut more = true;
    while more {
        let done = world.store().maintain(3).await?;
        ensure!(done.deleted <= 3, "upkeep deleted {} with a budget of 3", done.deleted);
        ensure!(done.deleted > 0 || !done.more, "upkeep deletes nothing, and says that there is more");
        more = done.more;
    }
    ensure_eq!(counter.value(&Key::new("key")?).await?, 20, "the counter whose operations are forgotten");
    ensure_eq!(records.list(None, 100).await?.entries.len(), 0, "records past their retention that are listed");
    Ok(())
}

/// When upkeep says that nothing is left, a further upkeep deletes nothing.
pub(super) async fn upkeep_says_whether_there_is_more(world: &World) -> Verdict {
    let (records, short) = (world.dedup()?, world.short());
    for number in 0..20 {
        let (id, op) = (format!("id-{number}").parse()?, format!("op-{number}").parse()?);
        let _ = records.record(&id, &"value".try_into()?, &op, Retention::For(short)).await?;
    }
    end_some(&**world.store(), "one").await?;
    world.pass(if world.can_travel() { Duration::from_secs(30 * 24 * 3_600) } else { short * 2 }).await;
    for budget in [1, 7] {
        while world.store().maintain(budget).await?.more {}
        let left = world.store().maintain(1_000).await?;
        ensure_eq!((left.deleted, left.more), (0, false), "what is left when upkeep of {budget} says that nothing is");
    }
    Ok(())
}

/// Upkeep reports whether it leaves expired entries for later, even if there are more entries than a store deletes in
/// one step.
pub(super) async fn upkeep_of_much_says_whether_there_is_more(world: &World) -> Verdict {
    const MUCH: usize = 600;
    let tokens = world.tokens()?;
    let gone = (0..MUCH).map(|number| TokenId::new(format!("token-{number}"))).collect::<Result<Vec<_>>>()?;
    tokens.discard(&gone).await?;
    world.pass_memory().await;
    let mut deleted = 0;
    loop {
        let done = world.store().maintain(MUCH * 2).await?;
        deleted += done.deleted;
        if !done.more {
            break;
        }
    }
    let left = world.store().maintain(MUCH * 2).await?;
    ensure_eq!(
        (left.deleted, left.more),
        (0, false),
        "what is left when upkeep has deleted {deleted} and says that is all"
    );
    Ok(())
}

/// Ends claims and tokens in the namespaces with this name.
async fn end_some(store: &dyn Backend, name: &str) -> Verdict {
    let (bank, tokens) = (store.item_bank(&name.parse()?)?, store.token_store(&name.parse()?)?);
    for number in 0..5 {
        let _ = bank.release(&ClaimId::new(format!("claim-{number}"))?).await?;
        tokens.discard(&[TokenId::new(format!("token-{number}"))?]).await?;
    }
    Ok(())
}

pub(super) async fn upkeep_beside_callers_disturbs_nobody(world: &World) -> Verdict {
    for round in 0..world.profile().rounds {
        let bank = world.store().item_bank(&format!("bank-{round}").parse()?)?;
        bank.add(&items(16)?).await?;
        let served = race(12, |number| {
            let (store, bank) = (Arc::clone(world.store()), Arc::clone(&bank));
            async move {
                match number {
                    0..4 => maintain_often(&*store).await,
                    _ => live(&*store, &*bank, &format!("{round}/{number}")).await,
                }
            }
        })
        .await?;
        ensure_eq!(served.len(), 12, "callers that were served");
        ensure_eq!(bank.counts().await?.held, 8, "items held, one for each caller");
    }
    Ok(())
}

async fn maintain_often(store: &dyn Backend) -> Verdict {
    for _ in 0..20 {
        answered(|| store.maintain(5)).await?;
        tokio::task::yield_now().await;
    }
    Ok(())
}

/// Runs a caller that takes an item, creates a token and writes a record, and then checks often that all three are
/// kept.
async fn live(store: &dyn Backend, bank: &dyn ItemBank, name: &str) -> Result<(), Failure> {
    let (claim, op, token) = (ClaimId::new(name)?, OpId::new(name)?, TokenId::new(name)?);
    let (records, tokens) = (store.dedup_repo(&"records".parse()?)?, store.token_store(&"tokens".parse()?)?);
    let (id, value) = (name.parse()?, "value".try_into()?);
    let take = || bank.take(&claim, Hold::Forever);
    let record = || records.record(&id, &value, &op, Retention::Forever);
    let _ = answered(take).await?;
    answered(|| tokens.create_tokens(std::slice::from_ref(&token))).await?;
    let _ = answered(record).await?;
    for _ in 0..10 {
        ensure_matches!(answered(take).await?, Taken::Again(_), "the claim of {name}");
        ensure!(answered(|| tokens.exists(&token)).await?, "the token of {name} is gone");
        ensure_matches!(answered(record).await?, Recorded::Again(_), "the record of {name}");
        tokio::task::yield_now().await;
    }
    Ok(())
}

pub(super) async fn dropping_upkeep_loses_nothing(world: &World) -> Verdict {
    let everything = Everything::put(&**world.store()).await?;
    let far = Link::gated().before_store(world.store());
    let mut point = 0;
    while drop_after(Backend::maintain(&*far, 10), point).await.transpose()?.is_none() {
        everything.ensure_there(&*world.client().await?).await?;
        everything.ensure_there(&*far).await?;
        point += 1;
    }
    ensure!(point >= 2, "upkeep was dropped at only {point} points");
    Ok(())
}
