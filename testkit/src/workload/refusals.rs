//! Calls that a store must refuse, about unknown ids: no such call leaves a trace, however often it is made.

use std::time::Duration;

use storagebox_core::{
    Backend, Bounds, Change, ClaimId, Completed, Confirmed, Consumed, Counted, Counter, DedupId, DedupRepo, Error,
    Extended, Fence, Forgotten, Hold, Item, ItemBank, Key, Lease, LeaseExtended, LeaseRepo, OpId, OrderedOptions,
    OrderedStore, Payload, Replaced, Restored, Result, Retention, Retired, Stamp, Strategy, Taken, TokenId, TokenStore,
    Version, Withdrawn, WriterId, Written,
};

const HOUR: Duration = Duration::from_secs(3_600);
/// A number of shards that some stores cannot create in one step.
const SHARDS: u16 = 20;

/// Makes calls that every store must refuse, with ids that begin with `name`. A test that counts the contents of a
/// store calls this function once before, to register the namespaces.
///
/// # Errors
///
/// Returns an error if a call is not refused, and the errors of the store.
pub async fn refused(store: &dyn Backend, name: &str) -> Result<()> {
    by_a_bank(store, name).await?;
    by_records(store, name).await?;
    by_tokens(store, name).await?;
    by_counters(store, name).await?;
    by_ordered_values(store, name).await
}

fn ensure<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<()> {
    match found == expected {
        true => Ok(()),
        false => Err(Error::corrupt("a refusal", format_args!("{found:?} instead of {expected:?}"))),
    }
}

async fn by_a_bank(store: &dyn Backend, name: &str) -> Result<()> {
    let (bank, claim, item) = (store.item_bank(&"refusals".parse()?)?, ClaimId::new(name)?, [Item::new(name)?]);
    ensure(&bank.take(&claim, Hold::Forever).await?, &Taken::Empty)?;
    ensure(&bank.confirm(&claim).await?, &Confirmed::Unknown)?;
    ensure(&bank.extend(&claim, Hold::Forever).await?, &Extended::Unknown)?;
    ensure(&bank.retire(&claim).await?, &Retired::Unknown)?;
    ensure(&bank.withdraw(&item).await?, &Withdrawn { unknown: 1, ..Withdrawn::default() })?;
    ensure(&bank.restore(&item).await?, &Restored { unknown: 1, ..Restored::default() })
}

async fn by_records(store: &dyn Backend, name: &str) -> Result<()> {
    let (records, leases) = (store.dedup_repo(&"refusals".parse()?)?, store.lease_repo(&"refusals".parse()?)?);
    let (id, op, value) = (DedupId::new(name)?, OpId::new(name)?, Payload::try_from(name)?);
    ensure(&records.replace(&id, Version::new(1), &value, &op).await?, &Replaced::Stale(None))?;
    ensure(&records.forget(&id, Version::new(1)).await?, &Forgotten::Absent)?;
    let lease = Lease { id, op, fence: Fence::new(1) };
    ensure(&leases.extend(&lease, HOUR).await?, &LeaseExtended::Fenced)?;
    let completed = leases.complete(&lease, &value, Retention::Forever).await?;
    ensure(&completed, &Completed::Fenced)
}

async fn by_tokens(store: &dyn Backend, name: &str) -> Result<()> {
    let tokens = store.token_store(&"refusals".parse()?)?;
    ensure(&tokens.consume(&TokenId::new(name)?, &OpId::new(name)?).await?, &Consumed::AlreadyGone)
}

async fn by_counters(store: &dyn Backend, name: &str) -> Result<()> {
    let bounds = Bounds::between(-10, 10)?;
    let (retention, key) = (Retention::For(HOUR), Key::new(name)?);
    let strategies = [
        Strategy::Atomic,
        Strategy::Marker { retention },
        Strategy::Window { lifetime: HOUR, capacity: 10 },
        Strategy::Sharded { shards: SHARDS, bounds, retention },
    ];
    for (number, strategy) in strategies.into_iter().enumerate() {
        let counters = store.counter(&format!("refusals {number}").parse()?, strategy)?;
        for delta in [11, -11] {
            let change = Change::new(OpId::new(format!("{name} {delta}"))?, delta).within(bounds);
            ensure(&counters.apply(&key, &change).await?, &Counted::OutOfBounds)?;
        }
    }
    Ok(())
}

async fn by_ordered_values(store: &dyn Backend, name: &str) -> Result<()> {
    let (ordered, key) = (store.ordered_store(&"refusals".parse()?, OrderedOptions::time())?, Key::new(name)?);
    let (value, stamp) = (Payload::try_from(name)?, Stamp::new(1, WriterId::new(name)?));
    for refused in [ordered.put(&key, &value, &stamp).await?, ordered.delete(&key, &stamp).await?] {
        if !matches!(refused, Written::TooOld { .. }) {
            return Err(Error::corrupt("a refusal", format_args!("{refused:?} instead of `TooOld`")));
        }
    }
    Ok(())
}
