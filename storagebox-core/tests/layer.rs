//! Layers around the memory backend.
#![allow(clippy::disallowed_methods, reason = "a test may fail where a library must not")]

mod heard;
#[path = "layer/layers.rs"]
mod layers;
#[path = "layer/spans.rs"]
mod spans;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use layers::{Arguments, Borrows, Counts, Fails, Lies, Loses, Parks, Silent, Slow, Twice};
use storagebox::bank::Hold;
use storagebox::bank::{Added, End, Retired};
use storagebox::layer::{Kind, Layer, Layered, Part, Policy, Response};
use storagebox::time::{Timer, TokioTimer};
use storagebox::values::{ClaimId, Item, Key};
use storagebox::{
    Certainty, Counted, ErrorKind, MemoryStore, Result, Retry, Strategy, Taken,
    parts::{Attempt, Backend, Change, Counter, ItemBank},
};

fn around(layer: impl Layer) -> Layered {
    put(layer, MemoryStore::new())
}

fn put(layer: impl Layer, backend: impl Backend) -> Layered {
    Layered::new(Arc::new(backend), Arc::new(layer))
}

fn retries() -> Policy {
    Policy { retry: Some(Retry::default()), deadline: None, timer: Arc::new(TokioTimer) }
}

fn deadline(seconds: u64) -> Policy {
    Policy { retry: None, deadline: Some(Duration::from_secs(seconds)), timer: Arc::new(TokioTimer) }
}

fn items(count: usize) -> Vec<Item> {
    (0..count).map(|number| Item::new(format!("item-{number}")).unwrap()).collect()
}

#[tokio::test]
async fn layer_gets_the_part_and_the_namespace_of_each_call() -> Result<()> {
    let counts = Arc::new(Counts::default());
    let store = around(Arc::clone(&counts));
    store.setup().await?;
    let bank = store.item_bank(&"vouchers".parse()?)?;
    bank.add(&items(1)).await?;
    let _taken = bank.take(&"ada".parse()?, Hold::Forever).await?;
    bank.counts().await?;
    let stock = store.counter(&"stock".parse()?, Strategy::Atomic)?;
    let _counted = stock.apply(&"red-shoes".parse()?, &Change::new("delivery-1".parse()?, 1)).await?;
    stock.value(&Key::new("red-shoes")?).await?;
    let told = |part, operation, namespace: Option<&str>, kind, repeatable| {
        format!("memory {part} {operation} {namespace:?} {kind:?} {repeatable}")
    };
    let vouchers = Some("vouchers");
    let expected = [
        told(Part::Store, "setup", None, Kind::Batch, true),
        told(Part::Bank, "add", vouchers, Kind::Batch, true),
        told(Part::Bank, "take", vouchers, Kind::Change, true),
        told(Part::Bank, "counts", vouchers, Kind::Read, true),
        told(Part::Counters, "apply", Some("stock"), Kind::Change, false),
        told(Part::Counters, "value", Some("stock"), Kind::Read, true),
    ];
    assert_eq!(counts.told(), expected);
    Ok(())
}

/// Neither the opening of a part nor a method without I/O calls the layer.
#[tokio::test]
async fn opening_a_part_does_not_go_through_the_layer() -> Result<()> {
    let counts = Arc::new(Counts::default());
    let store = around(Arc::clone(&counts));
    assert_eq!((store.backend(), store.promises()), ("memory", MemoryStore::new().promises()));
    assert!(store.counter(&"stock".parse()?, Strategy::default())?.promise().recognises_repeats());
    assert!(store.counter(&"stock".parse()?, Strategy::TokenSet { max: 0 }).is_err());
    assert_eq!(counts.told(), [""; 0]);
    Ok(())
}

#[tokio::test]
async fn second_answer_of_a_layer_replaces_the_first() -> Result<()> {
    let bank = around(Twice).item_bank(&"vouchers".parse()?)?;
    bank.add(&items(2)).await?;
    assert!(matches!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::Again(_)));
    assert_eq!(bank.counts().await?.held, 1);
    Ok(())
}

#[tokio::test]
async fn outer_layer_is_called_first() -> Result<()> {
    let (outer, inner) = (Arc::new(Counts::default()), Arc::new(Counts::default()));
    let bank = put(Arc::clone(&outer), put(Twice, around(Arc::clone(&inner)))).item_bank(&"vouchers".parse()?)?;
    bank.counts().await?;
    assert_eq!((outer.told().len(), inner.told().len()), (1, 2));
    Ok(())
}

#[tokio::test]
async fn a_layer_reads_the_arguments_of_a_call() -> Result<()> {
    let bank = around(Arguments).item_bank(&"vouchers".parse()?)?;
    bank.add(&items(2)).await?;
    let _taken = bank.take(&"ada".parse()?, Hold::Forever).await?;
    bank.list(None, 7).await?;
    Ok(())
}

#[tokio::test]
async fn a_detached_call_outlives_its_caller() -> Result<()> {
    let parks = Arc::new(Parks::default());
    let stock = around(Arc::clone(&parks)).counter(&"stock".parse()?, Strategy::Atomic)?;
    let error =
        stock.apply(&"red-shoes".parse().unwrap(), &Change::new("delivery-1".parse().unwrap(), 1)).await.unwrap_err();
    assert!(!error.is_retryable(), "{error}");
    let response = parks.land().await?;
    assert!(matches!(response, Response::Apply(Counted::Applied { value: Some(1) })), "{response:?}");
    Ok(())
}

/// The inner layers lose the first reply and retry, so the second attempt finds the item in the bank.
#[tokio::test(start_paused = true)]
async fn a_detached_call_goes_through_the_inner_layers() -> Result<()> {
    let (parks, loses) = (Arc::new(Parks::default()), Loses::first(1));
    let bank = put(Arc::clone(&parks), put(retries(), around(loses))).item_bank(&"vouchers".parse()?)?;
    bank.add(&items(1)).await.unwrap_err();
    let response = parks.land().await?;
    assert!(matches!(response, Response::AddItems(Added { already_present: 1, .. })), "{response:?}");
    Ok(())
}

#[tokio::test]
async fn layer_may_read_change_or_replace_an_outcome() -> Result<()> {
    let bank = around(Lies).item_bank(&"vouchers".parse()?)?;
    assert_eq!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::Ended(End::Released));
    bank.add(&items(1)).await?;
    assert_eq!(bank.counts().await?.free, 2);
    Ok(())
}

#[tokio::test]
async fn response_of_another_operation_is_an_error() -> Result<()> {
    let bank = around(Borrows::default()).item_bank(&"vouchers".parse()?)?;
    bank.counts().await?;
    let error = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_item_is_given_twice_if_replies_are_lost() -> Result<()> {
    let loses = Arc::new(Loses::each(3));
    let bank = put(retries(), around(Arc::clone(&loses))).item_bank(&"vouchers".parse()?)?;
    bank.add(&items(10_000)).await?;
    let mut given = HashSet::new();
    for number in 0..10_000 {
        let taken = bank.take(&format!("customer-{number}").parse()?, Hold::Forever).await?;
        assert!(given.insert(taken.item().cloned().expect("there are enough")), "an item was given twice");
    }
    let counts = bank.counts().await?;
    assert_eq!((counts.free, counts.held), (0, 10_000));
    assert!(loses.lost() >= 5_000, "only {} replies were lost", loses.lost());
    Ok(())
}

/// The layer loses the reply to the first attempt. The refusal of the retry makes the first attempt void (ER-5).
#[tokio::test(start_paused = true)]
async fn retried_take_on_an_empty_bank_returns_empty() -> Result<()> {
    let bank = put(retries(), around(Loses::first(1))).item_bank(&"vouchers".parse()?)?;
    assert_eq!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::Empty);
    Ok(())
}

/// The layer parks every attempt. The last parked attempt reaches the bank after its retry was refused.
#[tokio::test(start_paused = true)]
async fn take_that_arrives_after_its_retry_was_refused_takes_no_item() -> Result<()> {
    let (parks, store) = (Arc::new(Parks::default()), Arc::new(MemoryStore::new()));
    let bank = put(retries(), put(Arc::clone(&parks), Arc::clone(&store))).item_bank(&"vouchers".parse()?)?;
    let plain = store.item_bank(&"vouchers".parse()?)?;
    let attempt = Attempt::first();
    let error = bank.attempt_take(attempt, &"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    assert_eq!(plain.attempt_take(attempt.again(), &"ada".parse()?, Hold::Forever).await?, Taken::Empty);
    plain.add(&items(1)).await?;
    let response = parks.land().await?;
    assert!(matches!(response, Response::Take(Taken::Empty)), "{response:?}");
    assert_eq!(plain.counts().await?.free, 1);
    Ok(())
}

/// The layer loses the reply to the first attempt. The refusal of the retry makes the first attempt void (ER-5).
#[tokio::test(start_paused = true)]
async fn retried_retire_of_a_claim_with_an_item_returns_holding() -> Result<()> {
    let (store, claim) = (Arc::new(MemoryStore::new()), ClaimId::new("ada")?);
    let bank = store.item_bank(&"vouchers".parse()?)?;
    bank.add(&items(1)).await?;
    let _taken = bank.take(&"ada".parse()?, Hold::Forever).await?;
    let losing = put(retries(), put(Loses::first(1), store)).item_bank(&"vouchers".parse()?)?;
    assert_eq!(losing.retire(&claim).await?, Retired::Holding);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn lost_change_is_not_retried_if_operations_are_not_remembered() -> Result<()> {
    let key = Key::new("red-shoes")?;
    for (strategy, expected) in [(Strategy::Atomic, None), (Strategy::default(), Some(1))] {
        let stock = put(retries(), around(Loses::first(1))).counter(&"stock".parse()?, strategy)?;
        let counted = stock.apply(&"red-shoes".parse()?, &Change::new("delivery-1".parse()?, 1)).await;
        match expected {
            Some(value) => assert_eq!(counted?, Counted::AlreadyApplied { value: Some(value) }),
            None => {
                let error = counted.unwrap_err();
                assert_eq!((error.certainty(), error.is_retryable()), (Certainty::Unknown, false), "{error}");
            }
        }
        assert_eq!(stock.value(&key).await?, 1, "with {strategy:?}");
    }
    Ok(())
}

/// A retry is safe, because a refused change was not applied.
#[tokio::test(start_paused = true)]
async fn refused_change_is_retried_if_operations_are_not_remembered() -> Result<()> {
    let stock =
        put(retries(), around(Fails::first(2, ErrorKind::Contention))).counter(&"stock".parse()?, Strategy::Atomic)?;
    assert_eq!(
        stock.apply(&"red-shoes".parse()?, &Change::new("delivery-1".parse()?, 1)).await?,
        Counted::Applied { value: Some(1) }
    );
    Ok(())
}

/// The store does not remember operations, so a second call might apply the change twice.
#[tokio::test]
async fn lost_change_without_a_retry_layer_is_not_retryable() -> Result<()> {
    let stock = around(Loses::first(1)).counter(&"stock".parse()?, Strategy::Atomic)?;
    assert!(
        !stock
            .apply(&"red-shoes".parse().unwrap(), &Change::new("delivery-1".parse().unwrap(), 1))
            .await
            .unwrap_err()
            .is_retryable()
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn deadline_ends_a_call_that_is_not_answered() -> Result<()> {
    let bank = put(deadline(30), around(Silent)).item_bank(&"vouchers".parse()?)?;
    let begun = TokioTimer.now();
    let error = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
    assert_eq!(TokioTimer.now() - begun, Duration::from_secs(30));
    assert_eq!((error.kind(), error.operation()), (ErrorKind::OutcomeUnknown, Some("take")));
    let error = bank.counts().await.unwrap_err();
    assert_eq!((error.kind(), error.certainty()), (ErrorKind::Unavailable, Certainty::NotApplied));
    Ok(())
}

/// Attempts of nine seconds. A fourth attempt would be cut off, which a call begins only if the outcome is unknown
/// anyway.
#[tokio::test(start_paused = true)]
async fn a_deadline_bounds_all_attempts_together() -> Result<()> {
    for (failing, kind, attempts) in [
        (around(Fails::first(usize::MAX, ErrorKind::Throttled)), ErrorKind::Throttled, 3),
        (around(Loses::first(usize::MAX)), ErrorKind::OutcomeUnknown, 4),
    ] {
        let counts = Arc::new(Counts::default());
        let counted = put(Arc::clone(&counts), put(Slow(Duration::from_secs(9)), failing));
        let bank =
            put(Policy { retry: Some(Retry::default()), ..deadline(30) }, counted).item_bank(&"vouchers".parse()?)?;
        let begun = TokioTimer.now();
        let error = bank.take(&"ada".parse().unwrap(), Hold::Forever).await.unwrap_err();
        assert!(TokioTimer.now() - begun <= Duration::from_secs(30));
        assert_eq!((error.kind(), counts.told().len()), (kind, attempts));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_neither_timely_calls_nor_batches() -> Result<()> {
    let slow = Slow(Duration::from_secs(31));
    let bank = put(deadline(30), around(slow)).item_bank(&"vouchers".parse()?)?;
    assert_eq!(bank.add(&items(1)).await?.added, 1);
    let bank = put(deadline(32), around(slow)).item_bank(&"vouchers".parse()?)?;
    assert_eq!(bank.take(&"ada".parse()?, Hold::Forever).await?, Taken::Empty);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_retried_call_shows_its_attempts_in_its_span() -> Result<()> {
    let spans = spans::Spans::default();
    let _told = heard::here(spans.clone());
    let bank = put(retries(), around(Loses::first(2))).item_bank(&"vouchers".parse()?)?;
    bank.counts().await?;
    bank.counts().await?;
    assert_eq!(spans.told(), ["counts in vouchers, attempts 2 3", "counts in vouchers, attempts"]);
    Ok(())
}
