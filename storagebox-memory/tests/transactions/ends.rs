//! How a transaction ends.

use storagebox_core::{Backend, Begun, ClaimState, ErrorKind, ItemBank, LeaseRepo, Payload, Retention};
use storagebox_memory::MemoryTransaction;

use crate::support::{TERM, bank, claim, filled, joined, store, take};

#[tokio::test]
async fn a_dropped_transaction_is_rolled_back() {
    let store = filled(1).await;
    let mut transaction = MemoryTransaction::begin();
    take(&joined(&store, &mut transaction), "ada").await;
    drop(transaction);
    assert_eq!(bank(&store).get(&claim("ada")).await.unwrap(), ClaimState::Unknown);
    take(&bank(&store), "bob").await;
}

#[tokio::test]
async fn panic_of_the_caller_rolls_the_transaction_back() {
    let store = filled(1).await;
    let caller = tokio::spawn({
        let store = store.clone();
        async move {
            let mut transaction = MemoryTransaction::begin();
            take(&joined(&store, &mut transaction), "ada").await;
            panic!("the caller fails");
        }
    });
    assert!(caller.await.unwrap_err().is_panic());
    assert_eq!(bank(&store).counts().await.unwrap().free, 1);
}

#[tokio::test]
async fn transaction_that_completes_an_ended_lease_is_rolled_back() {
    let store = filled(1).await;
    let leases = store.lease_repo(&"records".parse().unwrap()).unwrap();
    let begun = leases.begin(&"id".parse().unwrap(), &"ours".parse().unwrap(), TERM, None).await.unwrap();
    let Begun::Started(lease) = begun else { panic!("{begun:?}") };
    let _ = leases.abort(&lease).await.unwrap();

    let mut transaction = MemoryTransaction::begin();
    take(&joined(&store, &mut transaction), "ada").await;
    let within = store.within(&mut transaction).unwrap();
    let leases = within.lease_repo(&"records".parse().unwrap()).unwrap();
    let done = leases.complete(&lease, &Payload::default(), Retention::DEFAULT).await;
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Fenced);
    drop((leases, within));
    let error = transaction.commit().unwrap_err();
    assert!(error.to_string().contains("the lease has lapsed"), "{error}");
    assert_eq!(bank(&store).counts().await.unwrap().free, 1);
}

#[tokio::test]
async fn one_transaction_joins_several_stores() {
    let (one, other) = (filled(1).await, filled(1).await);
    for is_committed in [false, true] {
        let mut transaction = MemoryTransaction::begin();
        for store in [&one, &other] {
            take(&joined(store, &mut transaction), "ada").await;
        }
        if is_committed {
            transaction.commit().unwrap()
        } else {
            transaction.rollback()
        }
        for store in [&one, &other] {
            assert_eq!(bank(store).counts().await.unwrap().held, u64::from(is_committed));
        }
    }
}

#[tokio::test]
async fn joining_a_foreign_connection_is_misconfigured() {
    assert_eq!(store().0.within(&mut ()).unwrap_err().kind(), ErrorKind::Misconfigured);
}

#[tokio::test]
async fn a_call_that_outlives_the_transaction_is_refused() {
    let store = filled(1).await;
    let mut transaction = MemoryTransaction::begin();
    let within = store.within(&mut transaction).unwrap();
    let kept = within.run(async |store| Ok::<_, storagebox_core::Error>(store)).await.unwrap();
    drop(within);
    transaction.commit().unwrap();
    let bank_of_kept = kept.item_bank(&"bank".parse().unwrap()).unwrap();
    crate::support::assert_refused(bank_of_kept.take(&claim("ada"), storagebox_core::Hold::Forever).await);
    take(&bank(&store), "bob").await;
}
