//! Sets and windows that keep of their operations the keys alone.

use std::collections::HashMap;
use std::time::Duration;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use storagebox_core::{
    Backend, Bounds, Cancelled, Change, Clock, Counted, Counter, ErrorKind, Key, ManualClock, Namespace, OpId, Result,
    Strategy,
};
use storagebox_dynamo::faults::Fault;
use storagebox_dynamo::{DynamoBuilder, WindowPlan};

use crate::scene::{Gate, recorded, with_place};
use crate::support::{Place, failed, longest_row};

const HOUR: Duration = Duration::from_secs(3_600);
/// A slot of a window of 16 minutes.
const MINUTE: Duration = Duration::from_secs(60);
const LIFETIME: Duration = Duration::from_secs(16 * 60);

const APPLIED: Counted = Counted::Applied { value: None };
const ALREADY: Counted = Counted::AlreadyApplied { value: None };

fn alone(place: &Place) -> DynamoBuilder {
    place.builder().keys_alone(true)
}

fn window(capacity: u32) -> Strategy {
    Strategy::Window { lifetime: LIFETIME, capacity }
}

fn change(op: &str, delta: i64) -> Result<Change> {
    Ok(Change::new(OpId::new(op)?, delta))
}

#[tokio::test]
async fn a_key_alone_tells_that_an_operation_was_applied_or_fenced() -> Result<()> {
    with_place(async |place| {
        let key = Key::new("key")?;
        for strategy in [Strategy::TokenSet { max: 3 }, window(3)] {
            let counter =
                alone(place).from_client(place.table.raw())?.counter(&format!("{strategy:?}").parse()?, strategy)?;
            assert_eq!(counter.cancel(&key, &OpId::new("early")?).await?, Cancelled::Cancelled);
            assert_eq!(counter.apply(&key, &change("early", 1)?).await?, Counted::Fenced);
            assert_eq!(counter.apply(&key, &change("op", 5)?).await?, APPLIED);
            assert_eq!(counter.apply(&key, &change("op", 5)?).await?, ALREADY);
            assert_eq!(counter.apply(&key, &change("op", 6)?).await?, ALREADY, "another delta");
            let known = Cancelled::AlreadyApplied { value: None };
            assert_eq!(counter.cancel(&key, &OpId::new("op")?).await?, known);
            assert_eq!(counter.apply(&key, &change("overflow", i64::MAX)?).await?, Counted::Overflow);
            let bounded = change("bounded", -6)?.within(Bounds::at_least(0));
            assert_eq!(counter.apply(&key, &bounded).await?, Counted::OutOfBounds);
            assert_eq!(counter.apply(&key, &change("third", -2)?).await?, APPLIED);
            assert_eq!(counter.apply(&key, &bounded).await?, Counted::OutOfBounds, "where it is full");
            assert_eq!(counter.apply(&key, &change("fourth", 1)?).await?, Counted::Full);
            assert_eq!(counter.cancel(&key, &OpId::new("fourth")?).await?, Cancelled::Full);
            assert_eq!(counter.apply(&key, &change("op", 5)?).await?, ALREADY, "where it is full");
            assert_eq!(counter.value(&key).await?, 3, "{strategy:?}");
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_call_finds_its_own_key_after_a_lost_reply() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, alone(place)).await?;
        for strategy in [Strategy::TokenSet { max: 9 }, window(9)] {
            let counter = store.counter(&format!("{strategy:?}").parse()?, strategy)?;
            let _ = counter.apply(&"key".parse()?, &Change::new("first".parse()?, 1)).await?;
            let lost =
                [Fault::DropBefore, Fault::DropAfter, Fault::Torn, Fault::ErrorAfter, Fault::Late, Fault::Parked];
            for (number, fault) in (0_i64..).zip(lost) {
                faults.script_for("UpdateItem", [fault]);
                assert_eq!(
                    counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 5)).await?,
                    APPLIED,
                    "{fault:?}"
                );
                faults.land().await;
                let value = counter.value(&Key::new("key")?).await?;
                assert_eq!(value, 6 + 5 * number, "{strategy:?} after {fault:?}");
            }
        }
        Ok(())
    })
    .await
}

/// It cannot be told any more whose the key is; it is never applied again.
#[tokio::test]
async fn a_lost_reply_behind_others_is_already_applied() -> Result<()> {
    with_place(async |place| {
        let gate = Gate::default();
        let (store, faults) = gate.store(&place.table, alone(place)).await?;
        let (mine, key) = (store.counter(&"set".parse()?, window(9))?, Key::new("key")?);
        let _ = mine.apply(&"key".parse()?, &Change::new("first".parse()?, 1)).await?;
        faults.script_for("UpdateItem", [Fault::DropAfter, Gate::HOLD]);
        let call = tokio::spawn(async move { mine.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await });
        gate.reached().await;
        let other = alone(place).from_client(place.table.raw())?.counter(&"set".parse()?, window(9))?;
        assert_eq!(other.apply(&"key".parse()?, &Change::new("other".parse()?, 1)).await?, APPLIED);
        gate.open();
        assert_eq!(call.await.map_err(failed)??, ALREADY);
        assert_eq!(other.value(&key).await?, 7);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_window_of_keys_forgets_by_the_slot_and_never_early() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, alone(place)).await?;
        let counter = store.counter(&"window".parse()?, window(17))?;
        for number in 0..17 {
            assert_eq!(
                counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1)).await?,
                APPLIED
            );
            place.clock.advance(MINUTE);
        }
        // The first is a lifetime and a slot old, and goes.
        assert_eq!(counter.apply(&"key".parse()?, &Change::new("late".parse()?, 1)).await?, APPLIED);
        for number in 1..17 {
            assert_eq!(
                counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1)).await?,
                ALREADY,
                "op-{number}"
            );
        }
        faults.reset();
        place.clock.advance(10 * LIFETIME);
        for number in 0..17 {
            assert_eq!(
                counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1)).await?,
                APPLIED,
                "op-{number} anew"
            );
        }
        // The first found a slot that was over.
        assert_eq!(faults.requests().get("UpdateItem"), Some(&18));
        assert_eq!(counter.apply(&"key".parse()?, &Change::new("beyond".parse()?, 1)).await?, Counted::Full);
        assert_eq!(counter.value(&Key::new("key")?).await?, 35);
        Ok(())
    })
    .await
}

/// Two processes whose clocks are apart by nearly what they may be, and a model of what must be known and what may be.
#[tokio::test]
async fn no_history_of_a_window_of_keys_forgets_early_or_counts_twice() -> Result<()> {
    const CAPACITY: usize = 12;
    const SKEW: Duration = Duration::from_secs(30);
    with_place(async |place| {
        let (ahead, behind) = (ManualClock::new(), ManualClock::new());
        ahead.advance(SKEW);
        let mut counters = vec![];
        for clock in [&ahead, &behind] {
            let builder = alone(place).max_skew(SKEW).clock(clock.clone());
            let store = builder.from_client(place.table.raw())?;
            counters.push(store.counter(&"window".parse()?, window(CAPACITY as u32))?);
        }
        let mut random = fastrand::Rng::with_seed(5);
        let (mut now, mut value, mut applied) = (Duration::ZERO, 0, HashMap::new());
        for step in 0..300 {
            let pass = Duration::from_secs(random.u64(0..90));
            now += pass;
            [&ahead, &behind].into_iter().for_each(|clock| clock.advance(pass));
            let op = random.u32(0..24);
            let counted = random
                .choice(&counters)
                .unwrap()
                .apply(&"key".parse()?, &Change::new(format!("op-{op}").parse()?, 1))
                .await?;
            let last = applied.get(&op).map(|at| now - *at);
            let at = format!("step {step}: op-{op} is {counted:?}, applied {last:?} ago");
            match counted {
                APPLIED => {
                    assert!(last.is_none_or(|last| last >= LIFETIME), "{at}");
                    (value, _) = (value + 1, applied.insert(op, now));
                }
                ALREADY => {
                    assert!(last.is_some_and(|last| last < LIFETIME + MINUTE + 2 * SKEW), "{at}");
                }
                Counted::Full => {
                    let held = |at: &&Duration| now - **at < LIFETIME + MINUTE + 2 * SKEW;
                    assert!(applied.values().filter(held).count() >= CAPACITY, "{at}");
                }
                _ => panic!("{at}"),
            }
        }
        assert!(value > 50, "{value} were applied");
        assert_eq!(counters[0].value(&Key::new("key")?).await?, value);
        Ok(())
    })
    .await
}

#[tokio::test]
async fn racing_keys_are_counted_once_across_slots() -> Result<()> {
    const OPS: i64 = 30;
    with_place(async |place| {
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let counter = alone(place).from_client(place.table.raw())?.counter(&"window".parse()?, window(100))?;
            let clock = place.clock.clone();
            calls.spawn(async move {
                let mut applied = 0;
                for number in 0..OPS {
                    applied += i64::from(
                        counter.apply(&"key".parse()?, &Change::new(format!("op-{number}").parse()?, 1)).await?
                            == APPLIED,
                    );
                    // The four of them make eight slots of it.
                    clock.advance(Duration::from_secs(4));
                }
                Ok::<_, storagebox_core::Error>(applied)
            });
        }
        let mut applied = 0;
        while let Some(call) = calls.join_next().await {
            applied += call.map_err(failed)??;
        }
        let counter = alone(place).from_client(place.table.raw())?.counter(&"window".parse()?, window(100))?;
        assert_eq!((applied, counter.value(&Key::new("key")?).await?), (OPS, OPS));
        Ok(())
    })
    .await
}

/// As long names as there are, and values of as many digits: the largest window just fits. Article 3's is 30,000.
#[tokio::test]
async fn a_row_holds_article_3s_window_of_30000_keys() -> Result<()> {
    with_place(async |place| {
        let most = u32::try_from(WindowPlan::for_rate(1, HOUR).keys_alone().largest_capacity()).unwrap();
        assert!(most >= 30_000, "{most}");
        let (name, key) = (Namespace::new("n".repeat(512))?, Key::new("k".repeat(512))?);
        let strategy = Strategy::Window { lifetime: LIFETIME, capacity: most };
        let store = place.builder().prefix("p".repeat(64)).keys_alone(true).from_client(place.table.raw())?;
        let counter = store.counter(&name, strategy)?;
        assert_eq!(counter.value(&key).await?, 0);
        fill(place, &name, &key, most - 1).await?;
        assert_eq!(counter.apply(&key, &change("last", -1)?).await?, APPLIED);
        assert_eq!(counter.apply(&key, &change("beyond", -1)?).await?, Counted::Full);
        assert_eq!(counter.apply(&key, &change("last", -1)?).await?, ALREADY);
        let whole = Place { prefix: "p".repeat(64), ..place.clone() };
        let bytes = longest_row(&whole).await?;
        assert!((12 * most as usize..=409_600).contains(&bytes), "{bytes} bytes");
        Ok(())
    })
    .await
}

/// Past the library, as that takes as many writes: seventeen slots.
async fn fill(place: &Place, name: &Namespace, key: &Key, count: u32) -> Result<()> {
    const SLOTS: u32 = 17;
    let newest = u32::try_from(place.clock.now().as_secs() / MINUTE.as_secs()).unwrap();
    let number = |number: i64| AttributeValue::N(number.to_string());
    let keys = |slot: u32| {
        let keys = (slot..count).step_by(SLOTS as usize);
        AttributeValue::Bs(keys.map(|key| Blob::new([&key.to_be_bytes()[..], &[0; 8]].concat())).collect())
    };
    let request = place.table.raw().put_item().table_name(&place.name);
    let pk = format!("{}counters:512:{name}:key:512:{key}:", "p".repeat(64));
    let request = (0..SLOTS).fold(request, |request, slot| request.item(format!("k{}", newest - slot), keys(slot)));
    let request = request
        .item("pk", AttributeValue::S(pk))
        .item("sk", AttributeValue::S("-".to_owned()))
        .item("v", number(i64::MIN + 2))
        .item("q", number(count.into()))
        .item("e", number(newest.into()))
        .item("b", number((newest - SLOTS + 1).into()));
    request.send().await.map(drop).map_err(failed)
}

#[tokio::test]
async fn a_namespace_keeps_the_form_that_it_was_made_with() -> Result<()> {
    with_place(async |place| {
        for (name, first) in [("whole", false), ("alone", true)] {
            for keys_alone in [first, !first] {
                let store = place.builder().keys_alone(keys_alone).from_client(place.table.raw())?;
                let counter = store.counter(&name.parse()?, Strategy::TokenSet { max: 9 })?;
                match counter.apply(&"key".parse()?, &Change::new(format!("{keys_alone}").parse()?, 1)).await {
                    Ok(counted) => assert!(keys_alone == first, "{counted:?}"),
                    Err(error) => {
                        assert_eq!((error.kind(), keys_alone), (ErrorKind::Misconfigured, !first));
                        assert!(error.to_string().contains("TokenSet of 9, keys alone"), "{error}");
                    }
                }
            }
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_lifetime_below_the_skew_is_refused() -> Result<()> {
    with_place(async |place| {
        let store = alone(place).max_skew(HOUR).from_client(place.table.raw())?;
        let error = store.counter(&"window".parse()?, window(9)).expect_err("a lifetime that is too short");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("max_skew"), "{error}");
        Ok(())
    })
    .await
}

/// What every row of the form has, taken away or made a text.
#[tokio::test]
async fn a_damaged_row_of_keys_is_corrupt_at_once() -> Result<()> {
    with_place(async |place| {
        let counter = alone(place).from_client(place.table.raw())?.counter(&"window".parse()?, window(9))?;
        for attribute in ["v", "q", "e", "b"] {
            for damage in ["REMOVE #a", "SET #a = :text"] {
                let key = format!("{damage} for {attribute}");
                let _ = counter.apply(&key.as_str().parse()?, &Change::new("op".parse()?, 1)).await?;
                damaged(place, &key, attribute, damage).await?;
                let error = counter
                    .apply(&key.as_str().parse().unwrap(), &Change::new("another".parse().unwrap(), 1))
                    .await
                    .expect_err(&key);
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{key}: {error}");
            }
        }
        Ok(())
    })
    .await
}

async fn damaged(place: &Place, key: &str, attribute: &str, damage: &str) -> Result<()> {
    let pk = format!("{}counters:6:window:key:{}:{key}:", place.prefix, key.len());
    let request = place.table.raw().update_item().table_name(&place.name);
    let request = request.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S("-".to_owned()));
    let request = request.update_expression(damage).expression_attribute_names("#a", attribute);
    let request = match damage.contains(":text") {
        true => request.expression_attribute_values(":text", AttributeValue::S("no number".to_owned())),
        false => request,
    };
    request.send().await.map(drop).map_err(failed)
}
