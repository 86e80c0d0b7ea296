//! Transactions that wait for each other.

use std::time::Duration;

use storagebox_core::{Backend, Bounds, Change, Counter, ErrorKind, Hold, ItemBank, Strategy, Taken};
use storagebox_memory::{MemoryStore, MemoryTransaction};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::support::{assert_refused, bank, claim, filled, joined, take};

/// Takes an item in a transaction, and lets other tasks run before the commit.
async fn slowly(store: &MemoryStore, name: &str) -> Taken {
    let mut transaction = MemoryTransaction::begin();
    let taken = joined(store, &mut transaction).take(&claim(name), Hold::Forever).await.unwrap();
    for _ in 0..3 {
        yield_now().await;
    }
    transaction.commit().unwrap();
    taken
}

#[tokio::test]
async fn two_transactions_with_the_same_claim_get_the_same_item() {
    let store = filled(2).await;
    let taken = both(slowly(&store, "ada"), slowly(&store, "ada")).await;
    assert!(matches!(taken, [Taken::Again(_), Taken::New(_)]), "{taken:?}");
    assert_eq!(taken[0].item(), taken[1].item());
}

#[tokio::test]
async fn take_waits_for_the_transaction_that_has_the_last_item() {
    let store = filled(1).await;
    let taken = both(slowly(&store, "ada"), slowly(&store, "bob")).await;
    assert!(matches!(taken, [Taken::Empty, Taken::New(_)]), "{taken:?}");
}

/// Runs both takes in one task. Returns both answers, with `Taken::New` last.
async fn both(one: impl Future<Output = Taken>, other: impl Future<Output = Taken>) -> [Taken; 2] {
    let (one, other) = tokio::join!(one, other);
    if matches!(one, Taken::New(_)) { [other, one] } else { [one, other] }
}

/// Each transaction changes its own claim and its own item. Some claims and items of different transactions share a
/// lock.
#[tokio::test]
async fn transactions_with_different_claims_do_not_wait() {
    let store = filled(300).await;
    let mut open = vec![];
    for number in 0..300 {
        let mut transaction = MemoryTransaction::begin();
        take(&joined(&store, &mut transaction), &format!("claim-{number}")).await;
        open.push(transaction);
    }
    assert_eq!(bank(&store).counts().await.unwrap().free, 300);
    for (number, transaction) in open.into_iter().enumerate() {
        if number % 2 == 0 { transaction.commit().unwrap() } else { transaction.rollback() }
    }
    assert_eq!(bank(&store).counts().await.unwrap().free, 150);
}

#[tokio::test]
async fn one_of_two_transactions_in_a_deadlock_is_refused() {
    let store = filled(4).await;
    let (mut one, mut other) = (MemoryTransaction::begin(), MemoryTransaction::begin());
    take(&joined(&store, &mut one), "ada").await;
    take(&joined(&store, &mut other), "bob").await;
    let one = async {
        let taken = joined(&store, &mut one).take(&claim("bob"), Hold::Forever).await;
        // A refused caller rolls back.
        taken.inspect(|_| one.commit().unwrap())
    };
    let other = async {
        let taken = joined(&store, &mut other).take(&claim("ada"), Hold::Forever).await;
        taken.inspect(|_| other.commit().unwrap())
    };
    let (one, other) = tokio::join!(one, other);
    let (taken, refused) = if one.is_ok() { (one, other) } else { (other, one) };
    assert!(matches!(taken.unwrap(), Taken::New(_)));
    assert_refused(refused);
    assert_eq!(bank(&store).counts().await.unwrap().held, 2);
}

/// Another transaction created the counter with another strategy. Regression: the next call that failed, for whatever
/// reason, waited for the end of that transaction. The paused clock ends such a wait at once.
#[tokio::test(start_paused = true)]
async fn a_call_after_a_refused_opening_does_not_wait() {
    let (store, name) = (filled(1).await, "counters".parse().unwrap());
    let (mut creator, mut other) = (MemoryTransaction::begin(), MemoryTransaction::begin());
    store.within(&mut creator).unwrap().counter(&name, Strategy::Atomic).unwrap();
    let within = store.within(&mut other).unwrap();
    assert_refused(within.counter(&name, Strategy::default()));
    let ledger = within.counter(&"ledger".parse().unwrap(), Strategy::Ledger).unwrap();
    let change = Change::new("op".parse().unwrap(), 1).within(Bounds::at_least(0));
    let applied = timeout(Duration::from_secs(1), ledger.apply(&"key".parse().unwrap(), &change)).await;
    assert_eq!(applied.unwrap().unwrap_err().kind(), ErrorKind::Unsupported);
    drop(creator);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn transactions_on_many_threads_give_each_item_once() {
    let store = filled(40).await;
    let tasks = (0..8).map(|task| {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..50 {
                let mut transaction = MemoryTransaction::begin();
                let name = format!("claim-{}", (task * 7 + number) % 30);
                let taken = joined(&store, &mut transaction).take(&claim(&name), Hold::Forever).await;
                yield_now().await;
                match taken.is_ok() && number % 3 != 0 {
                    true => transaction.commit().unwrap(),
                    false => transaction.rollback(),
                }
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    let counts = bank(&store).counts().await.unwrap();
    assert_eq!((counts.total(), counts.held), (40, 30));
}
