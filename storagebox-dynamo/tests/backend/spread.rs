//! A large change is spread over all shards, as in article 5: `1,000 divided by N`.

use std::sync::Arc;

use storagebox_core::{Backend, Bounds, Cancelled, Change, Counted, Counter, Key, OpId, Result, Retention, Strategy};
use storagebox_testkit::dynamodb::faults::{Fault, Faults};

use crate::scene::{recorded, with_place};
use crate::support::Place;

const APPLIED: Counted = Counted::Applied { value: None };
const AGAIN: Counted = Counted::AlreadyApplied { value: None };

/// Returns a counter with ten shards (the bins of article 5) and a floor of 0.
async fn bins(place: &Place) -> Result<(Arc<dyn Counter>, Faults)> {
    let strategy = Strategy::Sharded { shards: 10, bounds: Bounds::at_least(0), retention: Retention::Forever };
    let (store, faults) = recorded(&place.table, place.builder()).await?;
    let bins = store.counter(&"stock".parse()?, strategy)?;
    // The first call reads the namespace.
    let _ = bins.apply(&"other".parse()?, &Change::new("first".parse()?, 1)).await?;
    faults.reset();
    Ok((bins, faults))
}

async fn apply(bins: &Arc<dyn Counter>, op: &str, delta: i64) -> Result<Counted> {
    bins.apply(&Key::new("abc123")?, &Change::new(OpId::new(op)?, delta)).await
}

async fn value(bins: &Arc<dyn Counter>) -> Result<i64> {
    bins.value(&Key::new("abc123")?).await
}

/// The delivery is spread over all shards, so each sale finds stock in its own shard.
#[test]
fn the_first_sales_after_a_delivery_borrow_nothing() -> Result<()> {
    with_place(async |place| {
        let (bins, faults) = bins(place).await?;
        assert_eq!(apply(&bins, "delivery", 1_000).await?, APPLIED);
        for sale in 0..60 {
            assert_eq!(apply(&bins, &format!("sale-{sale}"), -1).await?, APPLIED);
        }
        let requests = faults.requests();
        assert_eq!(requests.get("TransactWriteItems"), Some(&61), "{requests:?}");
        assert_eq!(requests.len(), 1, "{requests:?}");
        assert_eq!(value(&bins).await?, 940);
        Ok(())
    })
}

#[test]
fn a_delivery_is_sold_to_the_last_piece_and_not_beyond() -> Result<()> {
    with_place(async |place| {
        let (bins, _) = bins(place).await?;
        let _ = apply(&bins, "delivery", 103).await?;
        for sale in 0..34 {
            assert_eq!(apply(&bins, &format!("sale-{sale}"), -3).await?, APPLIED, "{sale}");
        }
        assert_eq!(apply(&bins, "two", -2).await?, Counted::OutOfBounds);
        assert_eq!(apply(&bins, "one", -1).await?, APPLIED);
        assert_eq!(value(&bins).await?, 0);
        Ok(())
    })
}

/// An attempt on all shards and an attempt on one shard write the same marker, so only one of them is applied.
#[test]
fn an_increment_on_all_shards_counts_once_after_lost_replies() -> Result<()> {
    with_place(async |place| {
        let (bins, faults) = bins(place).await?;
        let mut expected = 0;
        for fault in [
            Fault::ErrorBefore,
            Fault::ErrorAfter,
            Fault::DropBefore,
            Fault::DropAfter,
            Fault::Torn,
            Fault::Conflict,
            Fault::InProgress,
            Fault::Late,
            Fault::Parked,
            Fault::Twice,
        ] {
            for times in [1, 2] {
                let op = format!("{}-{times}", fault.name());
                faults.script_for("TransactWriteItems", std::iter::repeat_n(fault, times));
                assert_eq!(apply(&bins, &op, 500).await?, APPLIED, "{op}");
                faults.heal();
                faults.land().await;
                expected += 500;
                assert_eq!(value(&bins).await?, expected, "{op}");
                assert_eq!(apply(&bins, &op, 500).await?, AGAIN, "{op}");
                assert_eq!(apply(&bins, &op, 501).await?, Counted::Mismatch, "{op}");
            }
        }
        assert_eq!(value(&bins).await?, expected);
        Ok(())
    })
}

#[test]
fn a_delivery_that_was_cancelled_reaches_no_shard() -> Result<()> {
    with_place(async |place| {
        let (bins, _) = bins(place).await?;
        let (key, op) = (Key::new("abc123")?, OpId::new("delivery")?);
        assert_eq!(bins.cancel(&key, &op).await?, Cancelled::Cancelled);
        assert_eq!(apply(&bins, "delivery", 1_000).await?, Counted::Fenced);
        assert_eq!(value(&bins).await?, 0);
        Ok(())
    })
}

/// Some shards have too little room for their shares, but all shards together have enough.
#[test]
fn a_delivery_too_large_for_each_shard_uses_the_room_of_others() -> Result<()> {
    with_place(async |place| {
        let bounds = Bounds::between(0, 1_000)?;
        let strategy = Strategy::Sharded { shards: 10, bounds, retention: Retention::Forever };
        let bins = place.store().await?.counter(&"both".parse()?, strategy)?;
        for order in 0..30 {
            let _ = apply(&bins, &format!("order-{order}"), 9).await?;
        }
        assert_eq!(apply(&bins, "rest", 730).await?, APPLIED);
        assert_eq!(apply(&bins, "beyond", 100).await?, Counted::OutOfBounds);
        assert_eq!(value(&bins).await?, 1_000);
        Ok(())
    })
}
