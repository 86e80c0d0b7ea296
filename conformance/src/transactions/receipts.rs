//! J-5: whether a transaction was committed.

use std::sync::Arc;

use storagebox_core::{Backend, CommitState, Receipt, settle};

use super::beside::answered_after_the_end;
use super::{begun, within};
use crate::failure::{Failure, Verdict, ensure_eq};
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
        let records = world.client().await?.dedup_repo(&Receipt::namespace()?)?;
        let call = move || {
            let (records, receipt) = (Arc::clone(&records), receipt.clone());
            async move { settle(&*records, &receipt).await }
        };
        let found = answered_after_the_end(world, transaction, is_committed, call).await?;
        ensure_eq!(found, expected, "a receipt that is asked while its transaction is open");
    }
    Ok(())
}
