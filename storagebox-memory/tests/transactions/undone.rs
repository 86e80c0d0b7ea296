//! What a rollback restores: the bank is as it was before the transaction, and gives each item once.

use std::collections::BTreeSet;
use std::time::Duration;

use storagebox_core::{Attempt, ClaimState, Hold, Item, ItemBank, ListedItem, Taken};
use storagebox_memory::MemoryTransaction;

use crate::support::{TERM, bank, claim, filled, items, joined, store, take};

const ITEMS: usize = 6;
const CLAIMS: usize = 5;

/// Generates the same pseudo-random numbers in each run (a linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

async fn call(bank: &impl ItemBank, numbers: &mut Numbers) {
    let claim = claim(&format!("claim-{}", numbers.below(CLAIMS)));
    let items = [items(ITEMS + 2).swap_remove(numbers.below(ITEMS + 2))];
    match numbers.below(9) {
        0 => drop(bank.add(&items).await.unwrap()),
        1 | 2 => drop(bank.take(&claim, Hold::Forever).await.unwrap()),
        3 => drop(bank.take(&claim, Hold::For(TERM)).await.unwrap()),
        4 => drop(bank.extend(&claim, Hold::For(TERM * 2)).await.unwrap()),
        5 => drop(bank.confirm(&claim).await.unwrap()),
        6 => drop(bank.release(&claim).await.unwrap()),
        7 => drop(bank.withdraw(&items).await.unwrap()),
        _ => drop(bank.restore(&items).await.unwrap()),
    }
}

async fn seen(bank: &impl ItemBank) -> (Vec<ListedItem>, Vec<ClaimState>) {
    let mut listed = bank.list(None, 100).await.unwrap().entries;
    listed.sort_by(|one, other| one.item.cmp(&other.item));
    let mut claims = vec![];
    for number in 0..CLAIMS {
        claims.push(bank.get(&claim(&format!("claim-{number}"))).await.unwrap());
    }
    (listed, claims)
}

/// Takes items until none is free, and checks that each free item was given once.
async fn drain(bank: &impl ItemBank) {
    let counts = bank.counts().await.unwrap();
    let mut taken = BTreeSet::new();
    for number in 0.. {
        match bank.take(&claim(&format!("drain-{number}")), Hold::Forever).await.unwrap() {
            Taken::New(held) => assert!(taken.insert(held.item), "an item is given twice"),
            other => {
                assert_eq!(other, Taken::Empty);
                break;
            }
        }
    }
    assert_eq!(taken.len() as u64, counts.free);
}

#[tokio::test]
async fn a_rollback_restores_the_bank_after_any_calls() {
    for seed in 0..400 {
        let ((store, clock), mut numbers) = (store(), Numbers(seed));
        let bank = bank(&store);
        bank.add(&items(ITEMS)).await.unwrap();
        for _ in 0..3 {
            for _ in 0..numbers.below(8) {
                call(&bank, &mut numbers).await;
            }
            let before = seen(&bank).await;
            let mut transaction = MemoryTransaction::begin();
            for _ in 0..numbers.below(8) {
                call(&joined(&store, &mut transaction), &mut numbers).await;
                assert_eq!(seen(&bank).await, before, "seed {seed}: others see an open transaction");
            }
            let within = seen(&joined(&store, &mut transaction)).await;
            let is_committed = numbers.below(3) == 0;
            if is_committed {
                transaction.commit().unwrap()
            } else {
                transaction.rollback()
            }
            assert_eq!(seen(&bank).await, if is_committed { within } else { before }, "seed {seed}");
        }
        clock.advance(TERM * u32::from(seed % 2 == 0));
        drain(&bank).await;
    }
}

/// While an open transaction has withdrawn the items, takes outside the transaction fail. After the rollback, the items
/// are free.
#[tokio::test]
async fn withdrawn_items_are_free_after_the_rollback() {
    let (store, clock) = store();
    let bank = bank(&store);
    bank.add(&items(40)).await.unwrap();
    for number in 0..20 {
        let _ = bank.take(&claim(&format!("timed-{number}")), Hold::For(TERM)).await.unwrap();
    }
    let mut transaction = MemoryTransaction::begin();
    for number in 0..20 {
        let within = joined(&store, &mut transaction);
        let _ = within.extend(&claim(&format!("timed-{number}")), Hold::For(TERM * 3)).await.unwrap();
    }
    joined(&store, &mut transaction).withdraw(&items(40)).await.unwrap();
    clock.advance(TERM);
    for number in 0..10 {
        let error = bank.take(&claim(&format!("beside-{number}")), Hold::Forever).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
    }
    transaction.rollback();
    assert_eq!(bank.counts().await.unwrap().free, 40);
    drain(&bank).await;
}

#[tokio::test]
async fn a_rolled_back_add_leaves_no_item_in_the_bank() {
    let store = filled(0).await;
    let bank = bank(&store);
    for round in 0..3 {
        let mut transaction = MemoryTransaction::begin();
        joined(&store, &mut transaction).add(&items(100)).await.unwrap();
        take(&joined(&store, &mut transaction), "ada").await;
        if round < 2 {
            transaction.rollback()
        } else {
            transaction.commit().unwrap()
        }
        assert_eq!(bank.counts().await.unwrap().total(), if round < 2 { 0 } else { 100 });
    }
    bank.add(&[Item::new("other").unwrap()]).await.unwrap();
    assert_eq!(bank.list(None, 1_000).await.unwrap().entries.len(), 101);
    drain(&bank).await;
}

/// ER-5: a transaction makes a call void and is rolled back. The call can then take an item.
#[tokio::test]
async fn a_rollback_makes_a_void_call_valid_again() {
    let store = filled(0).await;
    let bank = bank(&store);
    let first = Attempt::first();
    let again = first.again();
    let mut transaction = MemoryTransaction::begin();
    let refused = joined(&store, &mut transaction).attempt_take(again, &claim("ada"), Hold::Forever).await.unwrap();
    assert_eq!(refused, Taken::Empty);
    transaction.rollback();
    bank.add(&items(1)).await.unwrap();
    let taken = bank.attempt_take(again, &claim("ada"), Hold::For(Duration::from_secs(1))).await.unwrap();
    assert!(matches!(taken, Taken::New(_)), "{taken:?}");
}
