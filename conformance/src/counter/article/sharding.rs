//! Write sharding: the stock is in several bins that are used in parallel.

use std::time::Duration;

use storagebox_core::{Bounds, Counted, Result, Retention, Strategy};

use super::lose;
use crate::counter::Subject;
use crate::failure::{Verdict, ensure, ensure_eq};
use crate::link::Fate;
use crate::race::race;
use crate::world::World;

/// Creates a counter of sold pieces, from 0 to 1,000, in ten shards.
fn bins(world: &World) -> Result<Subject> {
    let (bounds, hour) = (Bounds::between(0, 1_000)?, Retention::For(Duration::from_secs(3_600)));
    let strategy = Strategy::Sharded { shards: 10, bounds, retention: hour };
    Subject::open(world.store(), strategy, bounds)?.at("abc123")
}

/// Concurrent callers buy every piece of every shard, and not one piece more.
pub(in crate::counter) async fn write_sharding_sells_the_last_piece_of_every_bin(world: &World) -> Verdict {
    // Article 5: "One of the other items might have capacity."
    let counter = bins(world)?;
    let answers = race(25, |number| {
        let counter = counter.clone();
        async move {
            let mut sold = 0;
            for order in 0..11 {
                if counter.apply(&format!("order-{number}-{order}"), 4).await? != Counted::OutOfBounds {
                    sold += 1;
                }
            }
            Ok(sold)
        }
    })
    .await?;
    ensure_eq!(answers.iter().sum::<i64>(), 250, "orders of 4 served out of 1,000, of 275");
    ensure_eq!(counter.value().await?, 1_000, "what was sold");
    Ok(())
}

/// Callers buy pieces and repeat one delivery of 1,000 pieces. The delivery counts once, and every piece is sold.
pub(in crate::counter) async fn write_sharding_sells_a_delivery_to_the_last_piece(world: &World) -> Verdict {
    // Article 5: "Split equally between N items."
    let (bounds, hour) = (Bounds::at_least(0), Retention::For(Duration::from_secs(3_600)));
    let strategy = Strategy::Sharded { shards: 10, bounds, retention: hour };
    let stock = Subject::open(world.store(), strategy, bounds)?.at("abc123")?;
    lose(&stock, Fate::ReplyLost, "delivery", 1_000).await?;
    let sold = race(25, |number| {
        let stock = stock.clone();
        async move {
            let mut sold = 0;
            for order in 0..11 {
                ensure_eq!(stock.apply("delivery", 1_000).await?, stock.already(1_000), "the delivery again");
                if stock.apply(&format!("order-{number}-{order}"), -4).await? != Counted::OutOfBounds {
                    sold += 1;
                }
            }
            Ok(sold)
        }
    })
    .await?;
    ensure_eq!(sold.iter().sum::<i64>(), 250, "orders of 4 served out of 1,000, of 275");
    ensure_eq!(stock.value().await?, 0, "what is left");
    Ok(())
}

/// A change that is larger than the room of any one shard is split across the shards.
pub(in crate::counter) async fn write_sharding_splits_what_no_bin_holds(world: &World) -> Verdict {
    // Article 5: "The update quantity might have to be split across several items."
    let counter = bins(world)?;
    ensure_eq!(counter.apply("large", 950).await?, counter.applied(950), "950 with 100 in each bin");
    ensure_eq!(counter.apply("larger", 51).await?, Counted::OutOfBounds, "51 with 50 left in all");
    ensure_eq!(counter.apply("rest", 50).await?, counter.applied(1_000), "50 with 50 left in all");
    ensure_eq!(counter.apply("large", 950).await?, counter.already(950), "the retry of the large one");
    ensure_eq!(counter.value().await?, 1_000, "what was sold");
    Ok(())
}

/// The value of a sharded counter is the sum of its shards after every change.
pub(in crate::counter) async fn write_sharding_adds_up_the_bins(world: &World) -> Verdict {
    // Article 5: "The total value also requires reading all of the items and summing the parts."
    let counter = bins(world)?;
    for order in 1..=40 {
        let _ = counter.apply(&format!("order-{order}"), order).await?;
        ensure_eq!(counter.value().await?, order * (order + 1) / 2, "what was sold after {order} orders");
    }
    Ok(())
}

/// A retry finds the shard of its first attempt and is counted once.
pub(in crate::counter) async fn write_sharding_counts_a_retry_once(world: &World) -> Verdict {
    // Article 5: "Randomly select one of the items."
    let counter = bins(world)?;
    for order in 0..30_i64 {
        let op = format!("order-{order}");
        lose(&counter, Fate::ReplyLost, &op, 3).await?;
        for _ in 0..3 {
            let retried = counter.apply(&op, 3).await?;
            ensure!(retried == counter.already(3 * (order + 1)), "the retry of {op}: {retried:?}");
        }
    }
    ensure_eq!(counter.value().await?, 90, "what was sold by 30 orders of 3");
    Ok(())
}
