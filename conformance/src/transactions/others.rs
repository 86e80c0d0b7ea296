//! J-1 beside other callers: their calls wait for the end of a transaction, or return `Contention`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use storagebox_core::{Change, Counter, Hold, ItemBank, OpId, Strategy, Taken};
use tokio::sync::oneshot;

use super::{begun, beside, claim, within};
use crate::failure::{Failure, Verdict, ensure_eq, ensure_matches};
use crate::progress::on_its_own;
use crate::world::World;

/// Takes an item for claim 0 in a transaction and, while the transaction ends, an item for the claim `other` outside.
/// Returns both answers.
async fn taken_beside(world: &World, other: usize, is_committed: bool) -> Result<(Taken, Taken), Failure> {
    let mut transaction = begun(world).await?;
    let taken = within(world, &mut *transaction)?.item_bank(&"bank".parse()?)?.take(&claim(0)?, Hold::Forever).await?;
    let (client, other) = (world.client().await?, claim(other)?);
    let bank = client.item_bank(&"bank".parse()?)?;
    let ((asks, asked), (ends, is_over)) = (oneshot::channel(), oneshot::channel());
    let call = tokio::spawn(on_its_own(async move {
        let _ = asks.send(());
        beside(is_over, || bank.take(&other, Hold::Forever)).await
    }));
    let _ = asked.await;
    tokio::task::yield_now().await;
    match is_committed {
        true => transaction.commit().await?,
        false => transaction.rollback().await?,
    }
    let _ = ends.send(());
    Ok((taken, call.await.map_err(|error| Failure::new(error.to_string()))??))
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

/// Pings the server until another caller has begun its transaction, and then so often that the server has most likely
/// read the next request of the other caller.
async fn let_others_ask(world: &World, has_begun: &AtomicBool) -> Verdict {
    // The number of pings is limited: on a store whose transactions begin one after the other, the other transaction
    // does not begin.
    const MOST: usize = 200;
    const AFTERWARDS: usize = 10;
    let mut left = MOST;
    while left > 0 {
        world.store().ping().await?;
        tokio::task::yield_now().await;
        let begun = has_begun.load(Ordering::Relaxed);
        left = if begun { left.min(AFTERWARDS) } else { left } - 1;
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
