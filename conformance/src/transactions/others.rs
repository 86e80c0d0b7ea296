//! J-1 beside other callers: their calls wait for the end of a transaction, or return `Contention`. IB-9: takes of other
//! items do not.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use storagebox_core::{Change, Counter, Hold, ItemBank, OpId, Strategy, Taken};

use super::beside::{answered_after_the_end, let_others_ask};
use super::{begun, claim, within};
use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::held_up::{PATIENCE, answered_within};
use crate::world::World;

/// Takes an item for claim 0 in a transaction and, while the transaction ends, an item for the claim `other` outside.
/// Returns both answers.
async fn taken_beside(world: &World, other: usize, is_committed: bool) -> Result<(Taken, Taken), Failure> {
    let (bank, other) = (world.client().await?.item_bank(&"bank".parse()?)?, claim(other)?);
    // Another client that knows the bank asks the server with its first request.
    bank.counts().await?;
    let mut transaction = begun(world).await?;
    let taken = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?.take(&claim(0)?, Hold::Forever).await?;
    let call = move || {
        let (bank, other) = (Arc::clone(&bank), other.clone());
        async move { bank.take(&other, Hold::Forever).await }
    };
    Ok((taken, answered_after_the_end(world, transaction, is_committed, call).await?))
}

pub(super) async fn the_same_claim_waits_for_the_commit(world: &World) -> Verdict {
    world.filled(2).await?;
    let (taken, again) = taken_beside(world, 0, true).await?;
    let held = ensure_matches!(taken, Taken::New(held) => held, "the take in the transaction");
    ensure_eq!(again, Taken::Again(held), "the same take outside it");
    Ok(())
}

pub(super) async fn the_same_claim_takes_after_a_rollback(world: &World) -> Verdict {
    world.filled(1).await?;
    let (_, taken) = taken_beside(world, 0, false).await?;
    ensure_matches!(taken, Taken::New(_), "the same take after the rollback");
    Ok(())
}

/// If a transaction takes the last item, a call of `take` outside the transaction returns `Empty` only after the
/// commit.
pub(super) async fn the_last_item_is_not_gone_before_the_commit(world: &World) -> Verdict {
    world.filled(1).await?;
    let (_, other) = taken_beside(world, 1, true).await?;
    ensure_eq!(other, Taken::Empty, "a take beside the transaction that takes the last item");
    Ok(())
}

pub(super) async fn what_is_rolled_back_can_be_taken(world: &World) -> Verdict {
    world.filled(1).await?;
    let (_, other) = taken_beside(world, 1, false).await?;
    ensure_matches!(other, Taken::New(_), "a take beside the transaction that gave the last item back");
    Ok(())
}

/// Two transactions call `take` with the same claim. The second transaction waits for the first and then continues
/// without an error.
pub(super) async fn the_same_claim_in_two_transactions_is_one(world: &World) -> Verdict {
    for (is_committed, is_late) in [(true, false), (true, true), (false, false), (false, true)] {
        let name = format!("bank-{is_committed}-{is_late}");
        let bank = world.filled_bank(&name, 2).await?;
        let mut first = begun(world).await?;
        let taken = within(world, &mut *first)?.item_bank(&name.parse()?)?.take(&claim(0)?, Hold::Forever).await?;
        let held = ensure_matches!(taken, Taken::New(held) => held, "the first transaction");
        let is_begun = AtomicBool::new(false);
        let second = async {
            let mut second = begun(world).await?;
            is_begun.store(true, Ordering::Relaxed);
            let taken = within(world, &mut *second)?.item_bank(&name.parse()?)?.take(&claim(0)?, Hold::Forever).await?;
            second.commit().await?;
            Ok::<_, Failure>(taken)
        };
        let end = async {
            if is_late {
                let_others_ask(world, &is_begun).await?;
            }
            match is_committed {
                true => first.commit().await?,
                false => first.rollback().await?,
            }
            Ok::<_, Failure>(())
        };
        let (second, ended) = tokio::join!(second, end);
        ended?;
        match is_committed {
            true => ensure_eq!(second?, Taken::Again(held), "the second transaction"),
            false => ensure_matches!(second?, Taken::New(_), "the second transaction after a rollback"),
        }
        ensure_eq!(bank.counts().await?.free, 1, "free items");
    }
    Ok(())
}

pub(super) async fn many_transactions_take_different_items(world: &World) -> Verdict {
    const CALLERS: usize = 12;
    world.filled(CALLERS).await?;
    let callers = (0..CALLERS).map(|number| async move {
        let mut transaction = begun(world).await?;
        let bank = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?;
        let taken = bank.take(&claim(number)?, Hold::Forever).await?;
        drop(bank);
        transaction.commit().await?;
        Ok::<_, Failure>(ensure_matches!(taken, Taken::New(held) => held.item, "a take"))
    });
    let items = futures_util::future::try_join_all(callers).await?;
    ensure_eq!(items.iter().collect::<BTreeSet<_>>().len(), CALLERS, "different items");
    Ok(())
}

/// Transactions that all use the bank before the counter do not deadlock, and all commit.
pub(super) async fn transactions_in_one_order_all_commit(world: &World) -> Verdict {
    const CALLERS: usize = 12;
    world.filled(CALLERS).await?;
    let counter = Arc::clone(world.store()).counter(&"stock".parse()?, Strategy::default())?;
    let key = "key".parse()?;
    let callers = (0..CALLERS).map(|number| {
        let key = &key;
        async move {
            let mut transaction = begun(world).await?;
            let joined = within(world, &mut *transaction)?;
            let _ = joined.item_bank(&"bank".parse()?)?.take(&claim(number)?, Hold::Forever).await?;
            let change = Change::new(OpId::new(format!("op-{number}"))?, 1);
            let _ = joined.counter(&"stock".parse()?, Strategy::default())?.apply(key, &change).await?;
            drop(joined);
            Ok::<_, Failure>(transaction.commit().await?)
        }
    });
    futures_util::future::try_join_all(callers).await?;
    ensure_eq!(counter.value(&key).await?, CALLERS as i64, "the counter");
    ensure_eq!(world.bank()?.counts().await?.free, 0, "free items");
    Ok(())
}

/// A store in which a change of a counter waits for the transaction too has a single writer, and promises nothing here.
pub(super) async fn a_take_does_not_wait_for_a_transaction_that_took_another_item(world: &World) -> Verdict {
    let (bank, other) = (world.filled(2).await?, claim(1)?);
    let counter = world.store().counter(&"stock".parse()?, Strategy::default())?;
    let mut transaction = begun(world).await?;
    let taken = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?.take(&claim(0)?, Hold::Forever).await?;
    ensure_matches!(taken, Taken::New(_), "the take in the transaction");
    tokio::select! {
        taken = answered_within(Duration::MAX, || bank.take(&other, Hold::Forever)) => {
            ensure_matches!(taken?, Some(Taken::New(_)), "a take beside a transaction that took another item");
        }
        goes_on = others_write(&*counter) => {
            ensure!(!goes_on?, "a take of a free item waits for a transaction that took another item");
        }
    }
    Ok(transaction.rollback().await?)
}

/// Changes a counter so often that a take which waits for nobody has its answer. Returns false if a change waits.
#[allow(clippy::disallowed_methods, reason = "a store without a network answers all this at once")]
async fn others_write(counter: &dyn Counter) -> Result<bool, Failure> {
    let key = "key".parse()?;
    for number in 0..100 {
        let change = Change::new(OpId::new(format!("op-{number}"))?, 1);
        if answered_within(PATIENCE, || counter.apply(&key, &change)).await?.is_none() {
            return Ok(false);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(true)
}
