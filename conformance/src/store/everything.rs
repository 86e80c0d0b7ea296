//! One entry of every kind that must not be lost, and the check that all are there.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Change, ClaimId, ClaimState, Consumed, Counted, Counter, DedupId, DedupRepo, End, ErrorKind, Hold,
    HoldState, Item, Key, Lease, LeaseExtended, OpId, OrderedOptions, OrderedStore, Recorded, Result, Retention, Stamp,
    Strategy, Taken, TokenId, TokenStore, WriterId, Written,
};

use crate::failure::{Failure, Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::items;

const LONG: Duration = Duration::from_secs(365 * 24 * 3_600);

/// The acknowledged results of the calls that filled a store, for a later check of the store.
#[derive(Debug)]
pub(super) struct Everything {
    held: Item,
    spent: Item,
    lease: Lease,
}

impl Everything {
    pub(super) async fn put(store: &dyn Backend) -> Result<Self, Failure> {
        let bank = store.item_bank(&"bank".parse()?)?;
        bank.add(&items(5)?).await?;
        let held = taken(bank.take(&ClaimId::new("held")?, Hold::For(LONG)).await?)?;
        let spent = taken(bank.take(&ClaimId::new("spent")?, Hold::Forever).await?)?;
        let _ = bank.confirm(&ClaimId::new("spent")?).await?;
        let _ = bank.release(&ClaimId::new("fenced")?).await?;
        let lease = put_records(store).await?;
        let tokens = store.token_store(&"tokens".parse()?)?;
        tokens.create_tokens(&[TokenId::new("live")?, TokenId::new("gone")?]).await?;
        let _ = tokens.consume(&TokenId::new("gone")?, &OpId::new("op")?).await?;
        let retention = Retention::Forever;
        let _ = store
            .counter(&"counters".parse()?, Strategy::Marker { retention })?
            .apply(&"key".parse()?, &Change::new("op".parse()?, 5))
            .await?;
        let ordered = store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
        let _ = ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?;
        let _ = ordered.delete(&"gone".parse()?, &Stamp::new(5, "w".parse()?)).await?;
        Ok(Self { held, spent, lease })
    }

    /// Checks that the store has everything that it acknowledged, and changes nothing.
    pub(super) async fn ensure_there(&self, store: &dyn Backend) -> Verdict {
        self.ensure_bank(store).await?;
        self.ensure_records(store).await?;
        ensure_tokens(store).await?;
        ensure_counter(store).await?;
        ensure_ordered(store).await
    }

    async fn ensure_bank(&self, store: &dyn Backend) -> Verdict {
        let bank = store.item_bank(&"bank".parse()?)?;
        let held = bank.get(&ClaimId::new("held")?).await?;
        ensure_matches!(held, ClaimState::Held(held) if held.item == self.held, "the claim that holds an item");
        let spent = bank.get(&ClaimId::new("spent")?).await?;
        let expected = HoldState::Confirmed;
        ensure_matches!(spent, ClaimState::Held(held) if held.item == self.spent && held.hold == expected, "the spent claim");
        let late = bank.take(&ClaimId::new("fenced")?, Hold::Forever).await?;
        ensure_eq!(late, Taken::Ended(End::Released), "a late take of a fenced claim");
        let counts = bank.counts().await?;
        ensure_eq!((counts.free, counts.held, counts.spent), (3, 1, 1), "free, held and spent items");
        Ok(())
    }

    async fn ensure_records(&self, store: &dyn Backend) -> Verdict {
        let (records, leases) = (store.dedup_repo(&"records".parse()?)?, store.lease_repo(&"records".parse()?)?);
        let again = records.record(&"kept".parse()?, &"other".try_into()?, &"op".parse()?, Retention::Forever).await?;
        ensure_matches!(again, Recorded::Again(entry) if entry.value.as_bytes() == b"value", "a record");
        let late =
            records.record(&"forgotten".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
        ensure_eq!(late, Recorded::Fenced, "a late copy of a forgotten record");
        let id = DedupId::new("leased")?;
        let other = leases.begin(&id, &OpId::new("other")?, LONG, None).await?;
        ensure_matches!(other, Begun::InFlight { .. }, "another during the lease");
        let extended = leases.extend(&self.lease, Duration::from_secs(1)).await?;
        ensure_eq!(extended, LeaseExtended::Extended, "the lease");
        Ok(())
    }
}

fn taken(taken: Taken) -> Result<Item, Failure> {
    Ok(ensure_matches!(taken, Taken::New(held) => held.item, "a take from a full bank"))
}

async fn put_records(store: &dyn Backend) -> Result<Lease, Failure> {
    let (records, leases) = (store.dedup_repo(&"records".parse()?)?, store.lease_repo(&"records".parse()?)?);
    let _ = records.record(&"kept".parse()?, &"value".try_into()?, &"op".parse()?, Retention::For(LONG)).await?;
    let forgotten =
        records.record(&"forgotten".parse()?, &"value".try_into()?, &"op".parse()?, Retention::Forever).await?;
    let version = ensure_matches!(forgotten, Recorded::New(version) => version, "recording");
    let _ = records.forget(&DedupId::new("forgotten")?, version).await?;
    let begun = leases.begin(&DedupId::new("leased")?, &OpId::new("op")?, LONG, None).await?;
    Ok(ensure_matches!(begun, Begun::Started(lease) => lease, "beginning"))
}

async fn ensure_tokens(store: &dyn Backend) -> Verdict {
    let (tokens, op) = (store.token_store(&"tokens".parse()?)?, OpId::new("op")?);
    ensure!(tokens.exists(&TokenId::new("live")?).await?, "a live token is gone");
    ensure!(!tokens.exists(&TokenId::new("gone")?).await?, "a consumed token is back");
    ensure_eq!(tokens.consume(&TokenId::new("gone")?, &op).await?, Consumed::Again, "the consumer's retry");
    ensure_eq!(tokens.create_tokens(&["gone".parse()?]).await?.created, 0, "consumed tokens that were created again");
    Ok(())
}

/// Checks that another strategy is refused, and that the counter has its value and recognises its operation.
async fn ensure_counter(store: &dyn Backend) -> Verdict {
    // The other strategy comes first: a store that has forgotten the strategy would learn it again from a change.
    let otherwise = match store.counter(&"counters".parse()?, Strategy::Atomic) {
        Ok(counter) => counter.value(&Key::new("key")?).await.map(drop),
        Err(refused) => Err(refused),
    };
    ensure_misconfigured("a counter opened with another strategy", otherwise)?;
    let counter = store.counter(&"counters".parse()?, Strategy::Marker { retention: Retention::Forever })?;
    ensure_matches!(
        counter.apply(&"key".parse()?, &Change::new("op".parse()?, 5)).await?,
        Counted::AlreadyApplied { .. },
        "an operation's retry"
    );
    ensure_eq!(counter.value(&Key::new("key")?).await?, 5, "the counter");
    Ok(())
}

async fn ensure_ordered(store: &dyn Backend) -> Verdict {
    let otherwise = match store.ordered_store(&"ordered".parse()?, OrderedOptions::time()) {
        Ok(ordered) => ordered.get(&Key::new("key")?).await.map(drop),
        Err(refused) => Err(refused),
    };
    ensure_misconfigured("ordered values opened with other options", otherwise)?;
    let ordered = store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
    ensure_eq!(
        ordered.put(&"key".parse()?, &"value".try_into()?, &Stamp::new(5, "w".parse()?)).await?,
        Written::Duplicate,
        "a put's retry"
    );
    let current = Stamp::new(5, WriterId::new("w")?);
    ensure_eq!(
        ordered.put(&"gone".parse()?, &"value".try_into()?, &Stamp::new(4, "w".parse()?)).await?,
        Written::Stale { current },
        "a put before a delete"
    );
    Ok(())
}

fn ensure_misconfigured(what: &str, answer: Result<()>) -> Verdict {
    ensure_matches!(answer, Err(error) if error.kind() == ErrorKind::Misconfigured, "{what}");
    Ok(())
}
