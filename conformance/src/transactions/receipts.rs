//! J-5: whether a transaction was committed.

use storagebox_core::{Backend, CommitState, Receipt, settle};
use tokio::sync::oneshot;

use super::{begun, beside, within};
use crate::failure::{Failure, Verdict, ensure_eq};
use crate::progress::on_its_own;
use crate::race::answered;
use crate::world::World;

async fn asked(store: &dyn Backend, receipt: &Receipt) -> Result<CommitState, Failure> {
    let records = store.dedup_repo(&Receipt::namespace()?)?;
    answered(|| settle(&records, receipt)).await
}

/// Returns the receipt of a transaction that is then committed or rolled back.
async fn receipt(world: &World, is_committed: bool) -> Result<Receipt, Failure> {
    let mut transaction = begun(world).await?;
    let receipt = within(world, &mut *transaction)?.receipt().await?;
    match is_committed {
        true => transaction.commit().await?,
        false => transaction.rollback().await?,
    }
    // Another process knows the receipt by its text.
    Ok(receipt.to_string().parse()?)
}

pub(super) async fn a_receipt_of_what_was_committed_says_so(world: &World) -> Verdict {
    let receipt = receipt(world, true).await?;
    ensure_eq!(asked(&**world.store(), &receipt).await?, CommitState::Committed, "a receipt");
    Ok(())
}

pub(super) async fn a_receipt_of_what_was_rolled_back_says_so(world: &World) -> Verdict {
    let receipt = receipt(world, false).await?;
    ensure_eq!(asked(&**world.store(), &receipt).await?, CommitState::NotCommitted, "a receipt");
    Ok(())
}

pub(super) async fn an_answer_stays_the_same(world: &World) -> Verdict {
    for (is_committed, expected) in [(true, CommitState::Committed), (false, CommitState::NotCommitted)] {
        let receipt = receipt(world, is_committed).await?;
        for _ in 0..3 {
            ensure_eq!(asked(&*world.client().await?, &receipt).await?, expected, "a receipt that is asked again");
        }
    }
    Ok(())
}

pub(super) async fn an_answer_waits_for_the_end_of_the_transaction(world: &World) -> Verdict {
    for (is_committed, expected) in [(true, CommitState::Committed), (false, CommitState::NotCommitted)] {
        let mut transaction = begun(world).await?;
        let receipt = within(world, &mut *transaction)?.receipt().await?;
        let client = world.client().await?;
        let (ends, is_over) = oneshot::channel();
        let answer = tokio::spawn(on_its_own(async move {
            let records = client.dedup_repo(&Receipt::namespace()?)?;
            beside(is_over, || settle(&records, &receipt)).await
        }));
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        match is_committed {
            true => transaction.commit().await?,
            false => transaction.rollback().await?,
        }
        let _ = ends.send(());
        let found = answer.await.map_err(|error| Failure::new(error.to_string()))??;
        ensure_eq!(found, expected, "a receipt that is asked while its transaction is open");
    }
    Ok(())
}
