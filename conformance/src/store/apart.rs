//! S-3: what ends in one namespace does not change in any other.

use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Cancelled, Change, ClaimId, ClaimState, Consumed, Counted, Counter, DedupId, DedupRepo, End,
    Fingerprint, Hold, ItemBank, Key, Lease, LeaseRepo, OpId, OrderedOptions, OrderedStore, Payload, Recorded,
    Retention, Stamp, Strategy, TokenId, TokenStore, Version, Written,
};

use crate::failure::{Verdict, ensure, ensure_eq, ensure_matches};
use crate::world::{World, items};

const LONG: Duration = Duration::from_secs(3_600);

/// One namespace of each kind, all with the same name and the same entries.
struct Namespaces {
    bank: Arc<dyn ItemBank>,
    records: Arc<dyn DedupRepo>,
    leases: Arc<dyn LeaseRepo>,
    tokens: Arc<dyn TokenStore>,
    counter: Arc<dyn Counter>,
    ordered: Arc<dyn OrderedStore>,
    recorded: Version,
    forgotten: Version,
    lease: Lease,
}

fn claim(name: &str) -> storagebox_core::Result<ClaimId> {
    ClaimId::new(name)
}

fn id(name: &str) -> storagebox_core::Result<DedupId> {
    DedupId::new(name)
}

fn token(name: &str) -> storagebox_core::Result<TokenId> {
    TokenId::new(name)
}

fn op() -> storagebox_core::Result<OpId> {
    OpId::new("op")
}

fn value() -> storagebox_core::Result<Payload> {
    Payload::try_from("value")
}

fn stamp(at: i64) -> storagebox_core::Result<Stamp> {
    Ok(Stamp::new(at, "w".parse()?))
}

impl Namespaces {
    async fn put(store: &dyn Backend, name: &str) -> Result<Self, crate::failure::Failure> {
        let (bank, tokens) = (store.item_bank(&name.parse()?)?, store.token_store(&name.parse()?)?);
        let (records, leases) = (store.dedup_repo(&name.parse()?)?, store.lease_repo(&name.parse()?)?);
        let counter = store.counter(&name.parse()?, Strategy::default())?;
        let ordered = store.ordered_store(&name.parse()?, OrderedOptions::sequence())?;
        bank.add(&items(5)?).await?;
        for name in ["held", "spent", "freed"] {
            let _ = bank.take(&claim(name)?, Hold::Forever).await?;
        }
        let _ = bank.confirm(&claim("spent")?).await?;
        let _ = bank.release(&claim("freed")?).await?;
        tokens.create_tokens(&[token("live")?, token("consumed")?, token("discarded")?]).await?;
        let _ = tokens.consume(&token("consumed")?, &op()?).await?;
        tokens.discard(&[token("discarded")?]).await?;
        let of = Fingerprint::new("ten")?;
        let recorded = records.record(&id("recorded")?, &value()?, &op()?, Retention::Forever).await?;
        let recorded = ensure_matches!(recorded, Recorded::New(version) => version, "recording");
        let forgotten = records.record(&id("forgotten")?, &value()?, &op()?, Retention::Forever).await?;
        let forgotten = ensure_matches!(forgotten, Recorded::New(version) => version, "recording");
        let _ = records.forget(&id("forgotten")?, forgotten).await?;
        let begun = leases.begin(&id("leased")?, &op()?, LONG, Some(&of)).await?;
        let lease = ensure_matches!(begun, Begun::Started(lease) => lease, "beginning");
        let _ = counter.apply(&Key::new("key")?, &Change::new(op()?, 5)).await?;
        let _ = counter.cancel(&Key::new("key")?, &"cancelled".parse()?).await?;
        let _ = ordered.put(&Key::new("live")?, &value()?, &stamp(5)?).await?;
        let _ = ordered.delete(&Key::new("deleted")?, &stamp(5)?).await?;
        Ok(Self { bank, records, leases, tokens, counter, ordered, recorded, forgotten, lease })
    }

    /// Makes every call that ends an entry.
    async fn end_all(&self) -> Verdict {
        for name in ["held", "spent", "freed"] {
            let _ = self.bank.release(&claim(name)?).await?;
            let _ = self.bank.retire(&claim(name)?).await?;
        }
        self.bank.withdraw(&items(5)?).await?;
        let _ = self.tokens.consume(&token("live")?, &"another".parse()?).await?;
        self.tokens.discard(&[token("live")?, token("consumed")?, token("discarded")?]).await?;
        let _ = self.records.forget(&id("recorded")?, self.recorded).await?;
        let _ = self.records.forget(&id("forgotten")?, self.forgotten).await?;
        let _ = self.leases.abort(&self.lease).await?;
        let _ = self.counter.cancel(&Key::new("key")?, &op()?).await?;
        let _ = self.counter.apply(&Key::new("key")?, &Change::new("more".parse()?, -5)).await?;
        let _ = self.ordered.reset(&Key::new("live")?, &stamp(5)?).await?;
        self.ordered.purge(Duration::from_millis(1), 100).await?;
        Ok(())
    }

    async fn ensure_there(&self) -> Verdict {
        for name in ["held", "spent"] {
            ensure_matches!(self.bank.get(&claim(name)?).await?, ClaimState::Held(_), "the claim {name:?}");
        }
        let freed = self.bank.get(&claim("freed")?).await?;
        ensure_eq!(freed, ClaimState::Ended(End::Released), "a claim that was released");
        let counts = self.bank.counts().await?;
        ensure_eq!((counts.free, counts.held, counts.spent), (3, 1, 1), "free, held and spent items");
        ensure!(self.tokens.exists(&token("live")?).await?, "a live token is gone");
        let again = self.tokens.consume(&token("consumed")?, &op()?).await?;
        ensure_eq!(again, Consumed::Again, "the consumer's retry");
        let gone = self.tokens.create_tokens(&[token("consumed")?, token("discarded")?]).await?.gone;
        ensure_eq!(gone, 2, "tokens that are gone");
        self.ensure_records().await?;
        ensure_eq!(self.counter.value(&Key::new("key")?).await?, 5, "the counter");
        let again = self.counter.apply(&Key::new("key")?, &Change::new(op()?, 5)).await?;
        ensure_matches!(again, Counted::AlreadyApplied { .. }, "a change's retry");
        let cancelled = self.counter.cancel(&Key::new("key")?, &"cancelled".parse()?).await?;
        ensure_eq!(cancelled, Cancelled::Cancelled, "a cancelled change");
        ensure!(self.ordered.get(&Key::new("live")?).await?.is_some(), "an ordered value is gone");
        let older = self.ordered.put(&Key::new("deleted")?, &value()?, &stamp(4)?).await?;
        ensure_matches!(older, Written::Stale { .. }, "a put before a delete");
        Ok(())
    }

    async fn ensure_records(&self) -> Verdict {
        ensure!(self.records.get(&id("recorded")?).await?.is_some(), "a record is gone");
        let late = self.records.record(&id("forgotten")?, &value()?, &op()?, Retention::Forever).await?;
        ensure_eq!(late, Recorded::Fenced, "a late copy of a forgotten record");
        let again = self.leases.begin(&id("leased")?, &op()?, LONG, None).await?;
        ensure_eq!(again, Begun::Started(self.lease.clone()), "a lease");
        Ok(())
    }
}

pub(super) async fn what_ends_in_one_namespace_lives_in_another(world: &World) -> Verdict {
    let store = &**world.store();
    let mut others = vec![];
    for name in ["a", "one", "one:", "z"] {
        others.push(Namespaces::put(store, name).await?);
    }
    let ended = others.remove(1);
    world.pass(Duration::from_millis(5)).await;
    ended.end_all().await?;
    world.upkeep().await?;
    for other in &others {
        other.ensure_there().await?;
    }
    Ok(())
}
