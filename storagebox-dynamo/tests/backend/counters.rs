//! Cases of counters that the suite cannot test: single lost requests, a full row, and many shards.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{
    Backend, Bounds, Change, Counted, Counter, ErrorKind, Key, Namespace, OpId, Result, Retention, Strategy,
};
use storagebox_testkit::dynamodb::faults::Fault;

use crate::scene::{Gate, recorded, with_place};
use crate::support::{Place, failed};

const MINUTE: Duration = Duration::from_secs(60);
/// The largest number of operations in one row of a counter, as the README says.
const MOST: u32 = 5_235;

fn applied(value: i64) -> Counted {
    Counted::Applied { value: Some(value) }
}

#[test]
fn a_lost_atomic_change_is_sent_again_only_with_retry_atomic() -> Result<()> {
    with_place(async |place| {
        for (sends_again, sent, value) in [(false, 1, 6), (true, 2, 11)] {
            let (store, faults) = recorded(&place.table, place.builder().retry_atomic(sends_again)).await?;
            let counter = store.counter(&format!("{sends_again}").parse()?, Strategy::Atomic)?;
            let _ = counter.apply(&"key".parse()?, &Change::new("first".parse()?, 1)).await?;
            faults.reset();
            faults.script_for("UpdateItem", [Fault::DropAfter]);
            let answer = counter.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await;
            match sends_again {
                true => assert_eq!(answer?, applied(11)),
                false => assert_eq!(answer.unwrap_err().kind(), ErrorKind::OutcomeUnknown),
            }
            assert_eq!(faults.requests().get("UpdateItem"), Some(&sent), "sent again: {sends_again}");
            assert_eq!(counter.value(&Key::new("key")?).await?, value, "sent again: {sends_again}");
        }
        Ok(())
    })
}

/// For each strategy except `Atomic`: the DynamoDB operation that a change sends, and whether the outcome contains the
/// value.
const SENT: [(Strategy, &str, bool); 7] = [
    (Strategy::Optimistic, "PutItem", true),
    (Strategy::OptimisticHistory { len: 5 }, "PutItem", true),
    (Strategy::TransactionToken, "TransactWriteItems", false),
    (Strategy::Marker { retention: Retention::Forever }, "TransactWriteItems", false),
    (Strategy::Ledger, "PutItem", false),
    (Strategy::TokenSet { max: 9 }, "UpdateItem", true),
    (Strategy::Sharded { shards: 3, bounds: Bounds::NONE, retention: Retention::Forever }, "TransactWriteItems", false),
];

#[test]
fn a_change_whose_request_or_reply_is_lost_returns_applied() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        for (number, (strategy, operation, tells)) in SENT.into_iter().enumerate() {
            let counter = store.counter(&format!("namespace-{number}").parse()?, strategy)?;
            let _ = counter.apply(&"key".parse()?, &Change::new("first".parse()?, 1)).await?;
            let lost =
                [Fault::DropBefore, Fault::DropAfter, Fault::Torn, Fault::ErrorAfter, Fault::Late, Fault::Parked];
            for (number, fault) in (0_i64..).zip(lost) {
                faults.script_for(operation, [fault]);
                let answer = counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 5)).await?;
                let value = 6 + 5 * number;
                let expected = Counted::Applied { value: tells.then_some(value) };
                assert_eq!(answer, expected, "{strategy:?} after {fault:?}");
                faults.land().await;
                assert_eq!(counter.value(&Key::new("key")?).await?, value, "{strategy:?} after {fault:?}");
            }
        }
        Ok(())
    })
}

/// After a lost reply, other callers make so many changes that the history no longer has the lost change.
#[test]
fn a_change_with_a_too_short_history_returns_outcome_unknown() -> Result<()> {
    with_place(async |place| {
        for (len, is_known) in [(2, false), (3, true)] {
            let answer = overtaken(place, Strategy::OptimisticHistory { len }, 2).await;
            match is_known {
                true => assert_eq!(answer?, Counted::Applied { value: Some(5) }),
                false => assert_eq!(answer.unwrap_err().kind(), ErrorKind::OutcomeUnknown),
            }
        }
        let answer = overtaken(place, Strategy::Optimistic, 1).await;
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        Ok(())
    })
}

/// Returns the outcome of a call whose reply was lost, after `others` changes by another caller.
async fn overtaken(place: &Place, strategy: Strategy, others: u32) -> Result<Counted> {
    let gate = Gate::default();
    let (store, faults) = gate.store(&place.table, place.builder()).await?;
    let name = format!("{strategy:?}");
    let (mine, other) =
        (store.counter(&name.parse()?, strategy)?, place.store().await?.counter(&name.parse()?, strategy)?);
    faults.script_for("PutItem", [Gate::PASS, Fault::DropAfter]);
    faults.script_for("GetItem", [Gate::PASS, Gate::HOLD]);
    let call = tokio::spawn(async move { mine.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await });
    let key = Key::new("key")?;
    while other.value(&key).await? == 0 {
        tokio::task::yield_now().await;
    }
    for number in 0..others {
        let _ = other.apply(&"key".parse()?, &Change::new(format!("other-{number}").parse()?, 1)).await?;
    }
    gate.open();
    let answer = call.await.map_err(failed)?;
    assert_eq!(other.value(&key).await?, 5 + i64::from(others), "what was counted");
    answer
}

/// With the longest names and values, the largest number of operations just fits.
#[test]
fn a_set_of_the_maximum_size_fits_into_one_row() -> Result<()> {
    with_place(async |place| {
        let store = place.builder().prefix("p".repeat(64)).from_client(place.table.raw())?;
        let (name, key) = (Namespace::new("n".repeat(512))?, Key::new("k".repeat(512))?);
        let set = |max| store.counter(&name, Strategy::TokenSet { max });
        assert!(set(MOST + 1).is_err());
        let counter = set(MOST)?;
        assert_eq!(counter.value(&key).await?, 0);
        fill(place, &name, &key, MOST - 1).await?;
        let change = |op: &str| Ok::<_, storagebox_core::Error>(Change::new(OpId::new(op)?, -1));
        assert_eq!(counter.apply(&key, &change("last")?).await?, applied(i64::MIN + 1));
        assert_eq!(counter.apply(&key, &change("beyond")?).await?, Counted::Full);
        let known = Counted::AlreadyApplied { value: Some(i64::MIN + 1) };
        assert_eq!(counter.apply(&key, &change("last")?).await?, known);
        Ok(())
    })
}

/// Writes a row with `count` operations directly, without the library.
async fn fill(place: &Place, name: &Namespace, key: &Key, count: u32) -> Result<()> {
    let names = (0..count).map(|number| format!("{number:022}"));
    let map = |value: AttributeValue| {
        AttributeValue::M(names.clone().map(|name| (name, value.clone())).collect::<HashMap<_, _>>())
    };
    let text = |text: String| AttributeValue::S(text);
    let number = AttributeValue::N((i64::MIN + 2).to_string());
    let request = place.table.raw().put_item().table_name(&place.name);
    let request = request
        .item("pk", text(format!("{}counters:512:{name}:key:512:{key}:", "p".repeat(64))))
        .item("sk", text("-".to_owned()))
        .item("v", number.clone())
        .item("d", map(AttributeValue::B(Blob::new([0; 20]))))
        .item("w", map(number));
    request.send().await.map(drop).map_err(failed)
}

#[test]
fn a_full_window_removes_many_lapsed_operations_at_once() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let counter = store.counter(&"window".parse()?, Strategy::Window { lifetime: MINUTE, capacity: 100 })?;
        for number in 0..100 {
            let _ = counter.apply(&"key".parse()?, &Change::new(format!("early-{number}").parse()?, 1)).await?;
        }
        place.clock.advance(MINUTE);
        faults.reset();
        for number in 0..100 {
            assert_eq!(
                counter.apply(&"key".parse()?, &Change::new(format!("late-{number}").parse()?, 1)).await?,
                applied(101 + number)
            );
        }
        // Every twentieth change is refused once, and then deletes twenty operations.
        assert_eq!(faults.requests().get("UpdateItem"), Some(&105));
        assert_eq!(counter.apply(&"key".parse()?, &Change::new("beyond".parse()?, 1)).await?, Counted::Full);
        Ok(())
    })
}

#[test]
fn a_change_can_use_the_room_of_three_hundred_shards() -> Result<()> {
    with_place(async |place| {
        let strategy =
            Strategy::Sharded { shards: 300, bounds: Bounds::between(0, 300)?, retention: Retention::Forever };
        let counter = place.store().await?.counter(&"sharded".parse()?, strategy)?;
        for (op, delta, expected) in [
            ("all", 300, Counted::Applied { value: None }),
            ("beyond", 1, Counted::OutOfBounds),
            ("all", 300, Counted::AlreadyApplied { value: None }),
            ("back", -300, Counted::Applied { value: None }),
            ("below", -1, Counted::OutOfBounds),
            ("overflow", i64::MIN, Counted::OutOfBounds),
        ] {
            assert_eq!(counter.apply(&"key".parse()?, &Change::new(op.parse()?, delta)).await?, expected, "{op}");
        }
        assert_eq!(counter.value(&Key::new("key")?).await?, 0);
        Ok(())
    })
}
