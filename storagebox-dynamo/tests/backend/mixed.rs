//! Transactions in which one condition fails, and in which DynamoDB does not evaluate another part.

use storagebox_core::{
    Backend, Bounds, Change, ClaimId, Counted, Counter, Hold, Item, ItemBank, Key, OpId, Released, Result, Retention,
    Strategy,
};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{recorded, with_place};

/// How often the fault is injected: once per write and cancellation reason.
const MIXES: u64 = 8;

#[test]
fn an_applied_change_does_not_return_out_of_bounds() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (retention, bounds) = (Retention::Forever, Bounds::at_least(0));
        let strategies = [Strategy::Marker { retention }, Strategy::Sharded { shards: 1, bounds, retention }];
        for (number, strategy) in strategies.into_iter().enumerate() {
            let (counter, key) = (store.counter(&format!("stock-{number}").parse()?, strategy)?, Key::new("key")?);
            let change =
                |op: &str, delta| Ok::<_, storagebox_core::Error>(Change::new(OpId::new(op)?, delta).within(bounds));
            let _ = counter.apply(&key, &change("stock", 1)?).await?;
            let last = change("last", -1)?;
            assert_eq!(counter.apply(&key, &last).await?, Counted::Applied { value: None });
            faults.reset();
            for mix in 0..MIXES {
                faults.script_for("TransactWriteItems", [Fault::Mixed]);
                let again = counter.apply(&key, &last).await?;
                assert_eq!(again, Counted::AlreadyApplied { value: None }, "{strategy:?}, mix {mix}");
            }
            assert_eq!(faults.injected()["Mixed"], MIXES);
            assert_eq!(counter.apply(&key, &change("one more", -1)?).await?, Counted::OutOfBounds);
        }
        Ok(())
    })
}

/// Another client has released the claim, so both rows refuse the transaction.
#[test]
fn a_claim_that_another_client_released_is_not_corrupt() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, claim) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&[Item::new("code")?]).await?;
        let _ = bank.take(&claim, Hold::Forever).await?;
        assert_eq!(place.store().await?.item_bank(&"namespace".parse()?)?.release(&claim).await?, Released::Released);
        faults.reset();
        for mix in 0..MIXES {
            faults.script_for("TransactWriteItems", [Fault::Mixed]);
            assert_eq!(bank.release(&claim).await?, Released::Released, "mix {mix}");
        }
        assert_eq!(faults.injected()["Mixed"], MIXES);
        Ok(())
    })
}
