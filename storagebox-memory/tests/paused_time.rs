//! The default clock is tokio's, so that programs can test with paused time.

use std::time::Duration;

use storagebox_core::{Backend, ClaimId, Confirmed, End, Hold, Item, ItemBank, Result, Taken};
use storagebox_memory::MemoryStore;

#[tokio::test(start_paused = true)]
async fn hold_ends_when_a_paused_clock_is_advanced() -> Result<()> {
    let bank = MemoryStore::new().item_bank(&"seats".parse()?)?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    bank.add(&[Item::new("7A")?]).await?;
    let _ = bank.take(&ada, Hold::For(Duration::from_secs(3600))).await?;

    tokio::time::advance(Duration::from_secs(3599)).await;
    assert_eq!(bank.take(&bob, Hold::Forever).await?, Taken::Empty);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert!(bank.take(&bob, Hold::Forever).await?.item().is_some());
    assert_eq!(bank.confirm(&ada).await?, Confirmed::Ended(End::Expired));
    Ok(())
}
