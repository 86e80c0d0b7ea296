//! J-2 to J-4: what a transaction cannot do, and what must stop its commit.

use std::time::Duration;

use storagebox_core::{
    Begun, Change, ClaimState, Counter, ErrorKind, Hold, Item, ItemBank, Key, LeaseRepo, OpId, OrderedStore, Payload,
    Retention, Strategy, Taken,
};

use super::{begun, claim, within};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::link::drop_after;
use crate::part::Part;
use crate::store::steps::Step;
use crate::world::World;

/// The limit on the number of polls before a call is dropped. Every call finishes with fewer polls.
const MOST_POLLS: usize = 60;

/// A connection without a transaction is refused, either when it is joined or by each call.
pub(super) async fn a_connection_without_a_transaction_is_refused(world: &World) -> Verdict {
    // Otherwise each call would be committed by itself.
    for step in Part::STORED.iter().flat_map(|part| Step::all_of(*part)) {
        step.prepare(&**world.store()).await?;
        let mut connection = world.sandbox().connect().await?;
        let made = match within(world, &mut *connection) {
            Ok(joined) => joined.run(async |store| step.make(&*store).await).await,
            Err(refused) => Err(refused),
        };
        ensure!(made.is_err(), "`{}` is made on a connection without a transaction", step.name());
        drop(connection);
        if step.asks_only() {
            ensure!(!step.is_made(&**world.store()).await?, "`{}` was refused, but took effect", step.name());
        }
    }
    Ok(())
}

pub(super) async fn one_call_at_a_time(world: &World) -> Verdict {
    world.filled(2).await?;
    let mut transaction = begun(world).await?;
    {
        let bank = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?;
        let (first, second) = (claim(0)?, claim(1)?);
        let (taken, refused) = tokio::join!(bank.take(&first, Hold::Forever), bank.take(&second, Hold::Forever));
        ensure_matches!(taken?, Taken::New(_), "the first call");
        let error = ensure_matches!(refused, Err(error) => error, "a call beside it");
        ensure_eq!(error.kind(), ErrorKind::Contention, "a call beside it");
        ensure_matches!(bank.take(&second, Hold::Forever).await?, Taken::New(_), "a call after it");
    }
    transaction.commit().await?;
    ensure_eq!(world.bank()?.counts().await?.free, 0, "free items");
    Ok(())
}

/// A batch above the limit of [`InTransaction`](storagebox_core::InTransaction) is refused.
pub(super) async fn a_large_batch_is_refused(world: &World) -> Verdict {
    world.filled(1).await?;
    let mut transaction = begun(world).await?;
    {
        let bank = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?;
        let items = (0..1_001).map(|number| Item::new(format!("more-{number}"))).collect::<Result<Vec<_>, _>>()?;
        let error = ensure_matches!(bank.add(&items).await, Err(error) => error, "a batch of 1,001 items");
        ensure_eq!(error.kind(), ErrorKind::InvalidInput, "a batch of 1,001 items");
        ensure_eq!(bank.add(&items[..1_000]).await?.added, 1_000, "a batch of 1,000 items");
    }
    transaction.commit().await?;
    ensure_eq!(world.bank()?.counts().await?.free, 1_001, "free items");
    Ok(())
}

pub(super) async fn a_purge_is_refused(world: &World) -> Verdict {
    let mut transaction = begun(world).await?;
    let joined = within(world, &mut *transaction)?.ordered_store(&"values".parse()?, <_>::default())?;
    let error = ensure_matches!(joined.purge(Duration::ZERO, 1).await, Err(error) => error, "a purge");
    ensure_eq!(error.kind(), ErrorKind::Unsupported, "a purge");
    Ok(())
}

/// A call in a transaction is dropped at each point where it waits, after which the joined store refuses all calls.
/// Whether the caller then commits or rolls back, the dropped call takes effect as a whole or not at all.
pub(super) async fn a_call_that_is_dropped_is_never_half_committed(world: &World) -> Verdict {
    for polls in 0..MOST_POLLS {
        let is_over = [dropped_take(world, polls, true).await?, dropped_take(world, polls, false).await?];
        if is_over == [true, true] {
            break;
        }
    }
    Ok(())
}

/// Drops a call of `take` after this many polls, and ends the transaction. Returns whether the call finished before it
/// was dropped.
async fn dropped_take(world: &World, polls: usize, is_committed: bool) -> Result<bool, Failure> {
    let name = format!("bank-{polls}-{is_committed}");
    let bank = world.filled_bank(&name, 1).await?;
    let mut transaction = begun(world).await?;
    let is_over = {
        let joined = within(world, &mut *transaction)?.item_bank(&name.parse()?)?;
        let claim = claim(0)?;
        let is_over = drop_after(joined.take(&claim, Hold::Forever), polls).await.is_some();
        if !is_over {
            let error = ensure_matches!(joined.get(&claim).await, Err(error) => error, "a call after a dropped one");
            ensure_eq!(error.kind(), ErrorKind::Contention, "a call after a dropped one");
        }
        is_over
    };
    // A store may refuse the commit.
    let committed = match is_committed {
        true => transaction.commit().await.is_ok(),
        false => transaction.rollback().await.is_err(),
    };
    let (state, free) = (bank.get(&claim(0)?).await?, bank.counts().await?.free);
    match state {
        ClaimState::Held(_) => ensure!(committed && free == 0, "half a call is committed, after {polls} polls"),
        _ => ensure!(free == 1, "the item is lost, after {polls} polls: {state:?}"),
    }
    ensure!(!is_over || !is_committed || free == 0, "an answered call is not committed");
    Ok(is_over)
}

/// A change that is dropped in a transaction changes both the value and the record of its operation, or neither.
pub(super) async fn a_change_that_is_dropped_is_never_half_committed(world: &World) -> Verdict {
    for polls in 0..MOST_POLLS {
        if dropped_change(world, polls).await? {
            break;
        }
    }
    Ok(())
}

/// Drops a change of a counter after this many polls, commits, and makes the change again. Returns whether the change
/// had finished before it was dropped.
async fn dropped_change(world: &World, polls: usize) -> Result<bool, Failure> {
    let counter = world.counter(Strategy::default())?;
    let (key, change) = (Key::new(format!("key-{polls}"))?, Change::new(OpId::new("op")?, 1));
    // The read creates the namespace first, so that only the change itself is dropped.
    let _ = counter.value(&key).await?;
    let mut transaction = begun(world).await?;
    let is_over = {
        let joined = within(world, &mut *transaction)?.counter(&"counters".parse()?, Strategy::default())?;
        drop_after(joined.apply(&key, &change), polls).await.is_some()
    };
    let _ = transaction.commit().await;
    let _ = counter.apply(&key, &change).await?;
    ensure_eq!(counter.value(&key).await?, 1, "a change that was dropped after {polls} polls and made again");
    Ok(is_over)
}

/// If `complete` is refused because the lease is over, the transaction changes nothing, even if the caller commits it.
pub(super) async fn a_lease_that_is_over_cannot_be_completed_and_committed(world: &World) -> Verdict {
    let (leases, records) = (world.leases()?, world.dedup()?);
    let (id, ours, theirs) = ("id".parse()?, OpId::new("ours")?, OpId::new("theirs")?);
    let begin = leases.begin(&id, &ours, Duration::from_secs(3_600), None).await?;
    let lease = ensure_matches!(begin, Begun::Started(lease) => lease, "a lease");
    let _ = leases.abort(&lease).await?;
    ensure_matches!(
        leases.begin(&id, &theirs, Duration::from_secs(3_600), None).await?,
        Begun::Started(_),
        "the lease of another"
    );
    let bank = world.filled(1).await?;
    let mut transaction = begun(world).await?;
    {
        let joined = within(world, &mut *transaction)?;
        let _ = joined.item_bank(&"bank".parse()?)?.take(&claim(0)?, Hold::Forever).await?;
        let leases = joined.lease_repo(&"records".parse()?)?;
        let completed = leases.complete(&lease, &Payload::new("done")?, Retention::DEFAULT).await;
        let error = ensure_matches!(completed, Err(error) => error, "the end of a lease that is over");
        ensure_eq!(error.kind(), ErrorKind::Fenced, "the end of a lease that is over");
        ensure!(!error.is_retryable(), "the end of a lease that is over is called retryable: {error}");
    }
    // Some drivers report the rollback of a failed transaction as an error, and others as a success.
    let _ = transaction.commit().await;
    ensure_eq!(bank.counts().await?.free, 1, "free items: the transaction was committed");
    ensure_eq!(records.get(&id).await?, None, "the record");
    Ok::<_, Failure>(())
}
