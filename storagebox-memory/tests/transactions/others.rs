//! What other callers see while a transaction is open.

use std::time::Duration;

use storagebox_core::{
    Backend, Change, ClaimState, Commit, Committed, Counter, DedupRepo, EntityChange, EntityLedger, ErrorKind, Hold,
    Item, ItemBank, ItemState, Joins, OrderedOptions, OrderedStore, Payload, Retention, Stamp, Strategy, TokenStore,
};
use storagebox_memory::MemoryTransaction;

use crate::support::{TERM, assert_refused, bank, claim, filled, items, joined, store, take};

#[tokio::test]
async fn reads_of_a_bank_show_only_committed_changes() {
    let store = filled(2).await;
    let mut transaction = MemoryTransaction::begin();
    let within = joined(&store, &mut transaction);
    let item = take(&within, "ada").await;
    within.add(&[Item::new("new").unwrap()]).await.unwrap();
    assert_eq!(within.counts().await.unwrap().total(), 3);

    let outside = bank(&store);
    assert_eq!(outside.get(&claim("ada")).await.unwrap(), ClaimState::Unknown);
    assert_eq!(outside.holder(&item).await.unwrap(), ItemState::Free);
    assert_eq!(outside.holder(&Item::new("new").unwrap()).await.unwrap(), ItemState::Unknown);
    assert_eq!((outside.counts().await.unwrap().free, outside.counts().await.unwrap().total()), (2, 2));
    let listed = outside.list(None, 10).await.unwrap().entries;
    assert!(listed.len() == 2 && listed.iter().all(|listed| listed.state == ItemState::Free), "{listed:?}");
    drop(within);
    transaction.commit().unwrap();
    assert_eq!(outside.counts().await.unwrap().total(), 3);
}

#[tokio::test]
async fn change_of_an_item_taken_in_an_open_transaction_is_refused() {
    let store = filled(2).await;
    let mut transaction = MemoryTransaction::begin();
    let taken = take(&joined(&store, &mut transaction), "ada").await;
    let outside = bank(&store);
    assert_refused(outside.release(&claim("ada")).await);
    assert_refused(outside.withdraw(std::slice::from_ref(&taken)).await);

    let other = items(2).into_iter().find(|item| *item != taken).unwrap();
    let half = outside.withdraw(&[other.clone(), taken]).await.unwrap_err();
    assert_eq!(half.kind(), ErrorKind::OutcomeUnknown, "an item was withdrawn: {half}");
    assert_eq!(outside.restore(std::slice::from_ref(&other)).await.unwrap().restored, 1);
    assert_eq!(take(&outside, "bob").await, other);
}

/// A rollback of the transaction would free the last item, so a take outside the transaction is refused.
#[tokio::test]
async fn take_is_refused_while_a_transaction_has_the_last_item() {
    let store = filled(1).await;
    let outside = bank(&store);
    let mut transaction = MemoryTransaction::begin();
    take(&joined(&store, &mut transaction), "ada").await;
    assert_refused(outside.take(&claim("bob"), Hold::Forever).await);
    transaction.rollback();
    take(&outside, "bob").await;

    let mut transaction = MemoryTransaction::begin();
    let _ = joined(&store, &mut transaction).release(&claim("bob")).await.unwrap();
    assert_eq!(outside.take(&claim("cy"), Hold::Forever).await.unwrap().item(), None, "it is still bob's");
    transaction.commit().unwrap();
    take(&outside, "cy").await;
}

#[tokio::test]
async fn reads_of_parts_other_than_banks_show_only_committed_changes() {
    let store = store().0;
    let (name, id) = ("name".parse().unwrap(), "id".parse().unwrap());
    let (records, values) =
        (store.dedup_repo(&name).unwrap(), store.ordered_store(&name, OrderedOptions::sequence()).unwrap());
    let (tokens, counter) = (store.token_store(&name).unwrap(), store.counter(&name, Strategy::default()).unwrap());
    let (key, token, stamp) = ("key".parse().unwrap(), "token".parse().unwrap(), Stamp::new(1, "w".parse().unwrap()));
    let (change, payload) = (Change::new("op".parse().unwrap(), 5), Payload::default());

    let mut transaction = MemoryTransaction::begin();
    let within = store.within(&mut transaction).unwrap();
    let op = "op".parse().unwrap();
    let _ = within.dedup_repo(&name).unwrap().record(&id, &payload, &op, Retention::Forever).await.unwrap();
    let _ = within.token_store(&name).unwrap().create_tokens(std::slice::from_ref(&token)).await.unwrap();
    let _ = within.counter(&name, Strategy::default()).unwrap().apply(&key, &change).await.unwrap();
    let _ = within.ordered_store(&name, OrderedOptions::sequence()).unwrap().put(&key, &payload, &stamp).await.unwrap();

    assert_eq!(records.get(&id).await.unwrap(), None);
    assert!(records.list(None, 10).await.unwrap().entries.is_empty());
    assert!(!tokens.exists(&token).await.unwrap());
    assert_eq!(counter.value(&key).await.unwrap(), 0);
    assert_eq!(values.get(&key).await.unwrap(), None);
    assert!(values.list(None, None, 10).await.unwrap().entries.is_empty());

    assert_refused(records.record(&id, &payload, &op, Retention::Forever).await);
    assert_refused(tokens.consume(&token, &op).await);
    assert_refused(counter.apply(&key, &change).await);
    assert_refused(values.delete(&key, &stamp).await);

    drop(within);
    transaction.commit().unwrap();
    assert!(records.get(&id).await.unwrap().is_some() && tokens.exists(&token).await.unwrap());
    assert_eq!((counter.value(&key).await.unwrap(), values.list(None, None, 10).await.unwrap().entries.len()), (5, 1));
}

#[tokio::test]
async fn a_value_deleted_in_an_open_transaction_is_still_listed() {
    let store = store().0;
    let values = store.ordered_store(&"values".parse().unwrap(), OrderedOptions::sequence()).unwrap();
    let (key, stamp) = ("key".parse().unwrap(), Stamp::new(1, "w".parse().unwrap()));
    let _ = values.put(&key, &Payload::default(), &stamp).await.unwrap();
    let mut transaction = MemoryTransaction::begin();
    let within = store.within(&mut transaction).unwrap();
    let _ = within
        .ordered_store(&"values".parse().unwrap(), OrderedOptions::sequence())
        .unwrap()
        .reset(&key, &stamp)
        .await
        .unwrap();
    assert_eq!(values.list(None, None, 10).await.unwrap().entries.len(), 1);
    drop(within);
    transaction.commit().unwrap();
    assert!(values.list(None, None, 10).await.unwrap().entries.is_empty());
}

#[tokio::test]
async fn an_entity_changes_all_of_its_tokens_or_none() {
    let store = store().0;
    let (incoming, outgoing) = ("in".parse().unwrap(), "out".parse().unwrap());
    let joins = Joins { incoming: Some("in".parse().unwrap()), outgoing: Some("out".parse().unwrap()) };
    let entities = store.entity_ledger(&"entities".parse().unwrap(), &joins).unwrap();
    let (consumed, created) = ("consumed".parse().unwrap(), ["a", "b"].map(|token| token.parse().unwrap()));
    store.token_store(&incoming).unwrap().create_tokens(std::slice::from_ref(&consumed)).await.unwrap();
    let commit = Commit {
        key: "key".parse().unwrap(),
        message: "message".parse().unwrap(),
        opened: None,
        change: EntityChange::Keep,
        attempt: "attempt".parse().unwrap(),
        entry: Some(Payload::default()),
        consume: Some(consumed.clone()),
        create: created.to_vec(),
    };

    let mut transaction = MemoryTransaction::begin();
    let within = store.within(&mut transaction).unwrap();
    within.token_store(&outgoing).unwrap().create_tokens(&created[1..]).await.unwrap();
    assert_refused(entities.commit(&commit).await);
    assert!(store.token_store(&incoming).unwrap().exists(&consumed).await.unwrap());
    assert!(!store.token_store(&outgoing).unwrap().exists(&created[0]).await.unwrap());
    assert_eq!(entities.open(&commit.key, &commit.message, None).await.unwrap().version, None);
    let error = within.run(async |store| store.entity_ledger(&"e".parse()?, &Joins::default())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    drop(within);
    transaction.rollback();
    assert_eq!(entities.commit(&commit).await.unwrap(), Committed::Committed);
}

#[tokio::test]
async fn upkeep_keeps_a_claim_that_a_transaction_has_changed() {
    let (store, clock) = store();
    let bank = bank(&store);
    bank.add(&items(1)).await.unwrap();
    let _ = bank.take(&claim("ada"), Hold::For(TERM)).await.unwrap();
    clock.advance(Duration::from_hours(24 * 30));
    let mut transaction = MemoryTransaction::begin();
    let _ = joined(&store, &mut transaction).release(&claim("ada")).await.unwrap();
    assert_eq!(store.maintain(10).await.unwrap().deleted, 0);
    transaction.rollback();
    assert_eq!(store.maintain(10).await.unwrap().deleted, 1);
}

/// After the transaction that created the namespace is rolled back, the namespace can be created with other options.
#[tokio::test]
async fn other_options_are_refused_while_a_namespace_is_uncommitted() {
    let name = "counters".parse().unwrap();
    for (is_committed, is_shared) in [(false, false), (true, false), (false, true)] {
        let store = store().0;
        let mut transaction = MemoryTransaction::begin();
        let within = store.within(&mut transaction).unwrap();
        within.counter(&name, Strategy::Atomic).unwrap();
        assert_refused(store.counter(&name, Strategy::default()));
        assert!(!is_shared || store.counter(&name, Strategy::Atomic).is_ok());
        drop(within);
        if is_committed {
            transaction.commit().unwrap()
        } else {
            transaction.rollback()
        }
        let kind = store.counter(&name, Strategy::default()).err().map(|error| error.kind());
        assert_eq!(kind, (is_committed || is_shared).then_some(ErrorKind::Misconfigured));
    }
}
