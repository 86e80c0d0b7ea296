//! A server that is paused during calls (SIGSTOP), and continues.

use std::sync::Arc;

use storagebox_core::{Backend, Certainty, ClaimId, ClaimState, ErrorKind, Hold, Item, ItemBank, Result, Taken};

use super::{failed, until};
use crate::Failure;

const ITEMS: u64 = 10;

/// Pauses the server while two clients take items. The client `hasty` has a short timeout, and its call must fail. The
/// client `patient` has none, and its call must wait. Checks after the pause that each claim has one item and that no
/// item is lost.
pub async fn lose_nothing<P>(
    hasty: &dyn Backend,
    patient: &dyn Backend,
    name: &str,
    pause: impl FnOnce() -> Result<P, Failure>,
) -> Result<()> {
    let (name, ada, bob) = (name.parse()?, ClaimId::new("ada")?, ClaimId::new("bob")?);
    let (soon, late) = (hasty.item_bank(&name)?, patient.item_bank(&name)?);
    late.add(&(0..ITEMS).map(|number| Item::new(format!("{number}"))).collect::<Result<Vec<_>>>()?).await?;
    until("an open namespace", async || Ok(soon.counts().await.is_ok())).await?;

    let paused = pause().map_err(failed)?;
    let waits = tokio::spawn(take(Arc::clone(&late), bob.clone()));
    let error = soon.take(&ada, Hold::Forever).await.expect_err("an answer of a server that stands still");
    let is_unsent = error.kind() == ErrorKind::Unavailable && error.certainty() == Certainty::NotApplied;
    assert!(is_unsent || error.kind() == ErrorKind::OutcomeUnknown, "{error:?}");
    assert!(error.is_retryable(), "{error:?}");
    assert!(!waits.is_finished(), "a call was over before the server went on");
    drop(paused);

    let bobs = waits.await.map_err(failed)??;
    let found = late.get(&ada).await?;
    assert!(!is_unsent || found == ClaimState::Unknown, "{error:?}, and {found:?}");
    let adas = take(Arc::clone(&late), ada.clone()).await?;
    assert_ne!(adas, bobs);
    let counts = late.counts().await?;
    assert_eq!((counts.free, counts.held, counts.total()), (ITEMS - 2, 2, ITEMS));
    until("the client that gave up", async || match soon.get(&ada).await {
        Ok(ClaimState::Held(held)) if held.item == adas => Ok(true),
        Ok(other) => Err(failed(format_args!("ada got {adas:?}, but now her claim is {other:?}"))),
        Err(_) => Ok(false),
    })
    .await
}

/// Takes an item, and returns the item of the claim.
async fn take(bank: Arc<dyn ItemBank>, claim: ClaimId) -> Result<Item> {
    match bank.take(&claim, Hold::Forever).await? {
        Taken::New(held) | Taken::Again(held) => Ok(held.item),
        other => Err(failed(format_args!("{claim:?} got {other:?}"))),
    }
}
