//! A machine that sleeps between two attempts of a call: its clock jumps by an hour, and its timers do not.

use std::time::Duration;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::{
    Attempt, Backend, Bounds, Change, Clock, Consumed, Counted, Counter, DedupRepo, ErrorKind, Key, ManualClock,
    Recorded, Result, Retention, Strategy, TokenStore,
};
use storagebox_dynamo::DynamoStore;
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::with_place;
use crate::support::Place;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3_600);

/// A clock that jumps by an hour after each fault.
#[derive(Debug)]
struct Sleeper {
    clock: ManualClock,
    faults: Faults,
}

impl Clock for Sleeper {
    fn now(&self) -> Duration {
        let slept = u32::try_from(self.faults.total()).unwrap_or(u32::MAX);
        self.clock.now() + HOUR * slept
    }
}

/// Returns a store whose clock jumps by an hour after each fault.
async fn sleeper(place: &Place) -> Result<(DynamoStore, Faults)> {
    let faults = Faults::new(place.table.http());
    let client = place.table.client(None, Some(SharedHttpClient::new(faults.clone()))).await;
    let clock = Sleeper { clock: place.clock.clone(), faults: faults.clone() };
    let builder = place.builder().remember(Retention::For(MINUTE));
    Ok((builder.clock(clock).from_client(&client)?, faults))
}

/// The machine sleeps for an hour after a fault. The call then makes no other attempt, because its operation is no
/// longer remembered.
#[test]
fn a_change_interrupted_by_a_sleep_is_applied_once() -> Result<()> {
    let retention = Retention::For(MINUTE);
    let strategies = [
        Strategy::Marker { retention },
        Strategy::Sharded { shards: 3, bounds: Bounds::NONE, retention },
        Strategy::Window { lifetime: MINUTE, capacity: 9 },
        Strategy::TransactionToken,
    ];
    for strategy in strategies {
        with_place(async |place| {
            let (store, faults) = sleeper(place).await?;
            let (counter, key) = (store.counter(&"namespace".parse()?, strategy)?, Key::new("key")?);
            let _ = counter.apply(&key, &Change::new("first".parse()?, 1)).await?;
            for fault in [Fault::DropAfter, Fault::Twice, Fault::DropBefore, Fault::Torn] {
                let change = Change::new(format!("{fault:?}").parse()?, 100);
                let before = counter.value(&key).await?;
                faults.script([fault]);
                let answer = counter.apply(&key, &change).await;
                let added = counter.value(&key).await? - before;
                match answer {
                    Ok(answer) => {
                        assert!(matches!(answer, Counted::Applied { .. }), "{strategy:?}, {fault:?}: {answer:?}");
                        assert_eq!(added, 100, "{strategy:?}, {fault:?}");
                    }
                    Err(error) => {
                        let applied = if fault == Fault::DropBefore { 0 } else { 100 };
                        assert_eq!((error.kind(), added), (ErrorKind::OutcomeUnknown, applied), "{fault:?}: {error}");
                        assert!(!error.is_retryable(), "{strategy:?}, {fault:?}: {error}");
                    }
                }
            }
            assert_eq!(faults.total(), 4);
            Ok(())
        })?;
    }
    Ok(())
}

/// The reply to the first attempt of the caller was lost. The machine sleeps while its second attempt waits after a
/// throttle.
#[test]
fn a_repeated_change_interrupted_by_a_sleep_is_applied_once() -> Result<()> {
    let retention = Retention::For(MINUTE);
    let strategies = [
        Strategy::Marker { retention },
        Strategy::Sharded { shards: 3, bounds: Bounds::NONE, retention },
        Strategy::Window { lifetime: MINUTE, capacity: 9 },
    ];
    for strategy in strategies {
        with_place(async |place| {
            let (store, faults) = sleeper(place).await?;
            let (counter, key, first) =
                (store.counter(&"namespace".parse()?, strategy)?, Key::new("key")?, Attempt::first());
            let change = Change::new("order".parse()?, 100);
            let _ = counter.attempt_apply(first, &key, &change).await?;
            faults.script([Fault::Throttle]);
            let error = counter.attempt_apply(first.again(), &key, &change).await.unwrap_err();
            assert_eq!(
                (error.kind(), error.is_retryable()),
                (ErrorKind::OutcomeUnknown, false),
                "{strategy:?}: {error}"
            );
            assert_eq!((counter.value(&key).await?, faults.total()), (100, 1), "{strategy:?}");
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn a_record_call_interrupted_by_a_sleep_has_the_outcome_new() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = sleeper(place).await?;
        let records = store.dedup_repo(&"namespace".parse()?)?;
        for fault in [Fault::DropAfter, Fault::Twice, Fault::DropBefore, Fault::Torn] {
            let (id, op) = (format!("{fault:?}").parse()?, format!("{fault:?}").parse()?);
            faults.script_for("PutItem", [fault]);
            let answer = records.record(&id, &"value".try_into()?, &op, Retention::For(MINUTE)).await?;
            assert!(matches!(answer, Recorded::New(_)), "{fault:?}: {answer:?}");
        }
        assert_eq!(faults.total(), 4);
        Ok(())
    })
}

#[test]
fn a_consume_call_interrupted_by_a_sleep_has_the_outcome_now() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = sleeper(place).await?;
        let tokens = store.token_store(&"namespace".parse()?)?;
        for fault in [Fault::DropAfter, Fault::Twice, Fault::DropBefore, Fault::Torn] {
            let (token, op) = (format!("{fault:?}").parse()?, format!("{fault:?}").parse()?);
            let _ = tokens.create_tokens(std::slice::from_ref(&token)).await?;
            place.clock.advance(Duration::from_millis(1));
            faults.script_for("UpdateItem", [fault]);
            assert_eq!(tokens.consume(&token, &op).await?, Consumed::Now, "{fault:?}");
        }
        assert_eq!(faults.total(), 4);
        Ok(())
    })
}
