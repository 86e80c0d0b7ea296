//! V-6: durations out of range are refused before anything happens, and the extremes within the range work.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Bounds, Change, ClaimId, ClaimState, Completed, Counted, Counter, DedupId, DedupRepo, ErrorKind,
    Extended, Hold, HoldState, ItemBank, Key, LeaseExtended, MAX_DURATION, MIN_DURATION, OpId, OrderedOptions,
    OrderedStore, Payload, Recorded, Result, Retention, Stamp, Stamping, Strategy, Taken,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::World;

const WRONG: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_nanos(999_999),
    Duration::from_secs(3_155_760_001),
    Duration::MAX,
];

fn ensure_refused<T: std::fmt::Debug>(what: &str, duration: Duration, answer: Result<T>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::InvalidInput, "{what} of {duration:?}");
    Ok(())
}

pub(super) async fn a_hold_lasts_1_ms_to_100_years(world: &World) -> Verdict {
    let bank = world.filled(4).await?;
    let (ada, bob) = (ClaimId::new("ada")?, ClaimId::new("bob")?);
    let _ = bank.take(&ada, Hold::Forever).await?;
    for wrong in WRONG {
        ensure_refused("a hold", wrong, bank.take(&bob, Hold::For(wrong)).await)?;
        ensure_refused("another hold", wrong, bank.take(&ada, Hold::For(wrong)).await)?;
        ensure_refused("an extended hold", wrong, bank.extend(&ada, Hold::For(wrong)).await)?;
        ensure_eq!(bank.get(&bob).await?, ClaimState::Unknown, "the claim that was refused");
        let held = bank.get(&ada).await?;
        ensure_matches!(held, ClaimState::Held(held) if held.hold == HoldState::Forever, "the hold there was");
        ensure_eq!(bank.counts().await?.free, 3, "free items after a refusal");
    }
    let long = bank.take(&bob, Hold::For(MAX_DURATION)).await?;
    let left = ensure_matches!(long, Taken::New(held) => held.hold, "a hold of 100 years");
    ensure_matches!(left, HoldState::Remaining(left) if left <= MAX_DURATION && left > MAX_DURATION / 2, "what is left");
    let extended = bank.extend(&bob, Hold::For(MAX_DURATION)).await?;
    ensure_matches!(extended, Extended::Extended(_), "extending it by 100 years");
    let brief = bank.take(&ClaimId::new("eve")?, Hold::For(MIN_DURATION)).await?;
    ensure_matches!(brief, Taken::New(_), "a hold of 1 ms");
    Ok(())
}

pub(super) async fn a_retention_lasts_1_ms_to_100_years(world: &World) -> Verdict {
    let (records, leases, id) = (world.dedup()?, world.leases()?, DedupId::new("id")?);
    let (op, value) = (OpId::new("op")?, Payload::try_from("value")?);
    let begun = leases.begin(&id, &op, Duration::from_secs(3_600), None).await?;
    let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
    for wrong in WRONG {
        let keep = Retention::For(wrong);
        ensure_refused(
            "a record",
            wrong,
            records.record(&"new".parse()?, &"value".try_into()?, &"op".parse()?, keep).await,
        )?;
        ensure_refused("a result", wrong, leases.complete(&lease, &value, keep).await)?;
        ensure_eq!(records.get(&DedupId::new("new")?).await?, None, "the record that was refused");
        ensure_eq!(records.get(&id).await?, None, "the result that was refused");
    }
    let completed = leases.complete(&lease, &value, Retention::For(MAX_DURATION)).await?;
    ensure_matches!(completed, Completed::Completed(_), "a result for 100 years");
    ensure!(records.get(&id).await?.is_some(), "a result for 100 years is gone at once");
    let recorded =
        records.record(&"new".parse()?, &"value".try_into()?, &"op".parse()?, Retention::For(MAX_DURATION)).await?;
    ensure_matches!(recorded, Recorded::New(_), "a record for 100 years, after refusals of the same operation");
    ensure!(records.get(&DedupId::new("new")?).await?.is_some(), "a record for 100 years is gone at once");
    let brief =
        records.record(&"brief".parse()?, &"value".try_into()?, &"op".parse()?, Retention::For(MIN_DURATION)).await?;
    ensure_matches!(brief, Recorded::New(_), "a record for 1 ms");
    Ok(())
}

pub(super) async fn a_lease_lasts_1_ms_to_100_years(world: &World) -> Verdict {
    let (leases, id, op) = (world.leases()?, DedupId::new("id")?, OpId::new("op")?);
    for wrong in WRONG {
        ensure_refused("a lease", wrong, leases.begin(&id, &op, wrong, None).await)?;
    }
    let other = leases.begin(&id, &OpId::new("other")?, MAX_DURATION, None).await?;
    let lease = ensure_matches!(other, Begun::Started(lease) => lease, "a lease of 100 years after refusals");
    for wrong in WRONG {
        ensure_refused("an extended lease", wrong, leases.extend(&lease, wrong).await)?;
        ensure_refused("a lease that lives", wrong, leases.begin(&id, &lease.op, wrong, None).await)?;
    }
    ensure_eq!(leases.extend(&lease, MAX_DURATION).await?, LeaseExtended::Extended, "extending by 100 years");
    let begun = leases.begin(&id, &op, MIN_DURATION, None).await?;
    let left = ensure_matches!(begun, Begun::InFlight { remaining } => remaining, "another during it");
    ensure!(left <= MAX_DURATION && left > MAX_DURATION / 2, "of 100 years {left:?} are left");
    let brief = leases.begin(&DedupId::new("brief")?, &op, MIN_DURATION, None).await?;
    ensure_matches!(brief, Begun::Started(_), "a lease of 1 ms");
    Ok(())
}

/// Options with a duration out of limits are refused, either when the namespace is opened or by the first call.
pub(super) async fn ordered_options_last_1_ms_to_100_years(world: &World) -> Verdict {
    for wrong in WRONG {
        let age = OrderedOptions { tombstone_age: wrong, ..OrderedOptions::time() };
        ensure_refused("a tombstone age", wrong, put_with(world, "namespace", age).await)?;
        let sequence = OrderedOptions { tombstone_age: wrong, ..OrderedOptions::sequence() };
        ensure_refused("a sequence's tombstone age", wrong, put_with(world, "namespace", sequence).await)?;
        let skew = OrderedOptions { stamping: time_within(wrong), ..OrderedOptions::time() };
        ensure_refused("a skew", wrong, put_with(world, "namespace", skew).await)?;
    }
    // A namespace that was refused was not created, so it can be opened with any options.
    let widest = OrderedOptions { stamping: time_within(MAX_DURATION), tombstone_age: MAX_DURATION };
    put_with(world, "namespace", widest).await?;
    let narrowest = OrderedOptions { stamping: Stamping::Sequence, tombstone_age: MIN_DURATION };
    put_with(world, "other", narrowest).await?;
    Ok(())
}

fn time_within(skew: Duration) -> Stamping {
    Stamping::Time { max_skew: Some(skew) }
}

/// Puts a value with a stamp in 1985, which is less than a hundred years from any present clock.
async fn put_with(world: &World, name: &str, options: OrderedOptions) -> Result<()> {
    let ordered = world.store().ordered_store(&name.parse()?, options)?;
    let _ = ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(500_000_000_000, "writer".parse()?)).await?;
    Ok(())
}

pub(super) async fn a_counter_remembers_1_ms_to_100_years(world: &World) -> Verdict {
    for wrong in WRONG {
        for (what, strategy) in strategies(wrong) {
            ensure_refused(what, wrong, count_with(world, what, strategy).await)?;
        }
    }
    for (what, strategy) in strategies(MAX_DURATION) {
        let counted = count_with(world, what, strategy).await?;
        ensure_matches!(counted, Counted::Applied { .. }, "counting with {what} for 100 years");
    }
    Ok(())
}

/// Returns one strategy of each kind that every backend has and that contains a duration.
fn strategies(duration: Duration) -> [(&'static str, Strategy); 3] {
    let retention = Retention::For(duration);
    let bounds = Bounds::NONE;
    [
        ("marker", Strategy::Marker { retention }),
        ("window", Strategy::Window { lifetime: duration, capacity: 10 }),
        ("sharded", Strategy::Sharded { shards: 2, bounds, retention }),
    ]
}

async fn count_with(world: &World, name: &str, strategy: Strategy) -> Result<Counted> {
    let counter = world.store().counter(&name.parse()?, strategy)?;
    let counted = counter.apply(&"key".parse()?, &Change::new("op".parse()?, 1)).await?;
    counter.value(&Key::new("key")?).await?;
    Ok(counted)
}
