//! Every call of every part, in its usual form.

use std::time::Duration;

use storagebox_core::{
    Backend, Begun, Bounds, Change, ClaimId, Commit, Counter, DedupId, DedupRepo, EntityChange, EntityLedger, EntryId,
    Fingerprint, Hold, Item, ItemBank, Joins, Key, Lease, LeaseRepo, Ledger, MessageId, OpId, OrderedOptions,
    OrderedStore, Payload, Recorded, Replaced, Result, Retention, Stamp, Strategy, TokenId, TokenStore, WriterId,
};
use storagebox_dynamo::{DynamoBuilder, ReadFirst};

use crate::metered::Metered;
use crate::support::Place;

pub(crate) const BANK: &str = "item bank";
pub(crate) const RECORDS: &str = "records";
pub(crate) const LEASES: &str = "leases";
pub(crate) const TOKENS: &str = "tokens";
pub(crate) const ENTITIES: &str = "entities";
pub(crate) const COUNTERS: &str = "counters";
pub(crate) const LEDGER: &str = "ledger";
pub(crate) const ORDERED: &str = "ordered values";
pub(crate) const STORE: &str = "store";

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);
const ITEMS: usize = 100;
/// The length of a text in bytes. An item and its id together have 400 bytes.
const TEXT: usize = 200;

pub(crate) const STRATEGIES: [(&str, Strategy); 8] = [
    ("Atomic", Strategy::Atomic),
    ("Optimistic", Strategy::Optimistic),
    ("OptimisticHistory", Strategy::OptimisticHistory { len: 10 }),
    ("TransactionToken", Strategy::TransactionToken),
    ("Marker", Strategy::Marker { retention: Retention::Forever }),
    ("TokenSet", Strategy::TokenSet { max: 100 }),
    ("Window", Strategy::Window { lifetime: HOUR, capacity: 100 }),
    ("Sharded", Strategy::Sharded { shards: 8, bounds: Bounds::NONE, retention: Retention::Forever }),
];

fn text(name: &str) -> String {
    format!("{name:-<TEXT$}")
}

fn claim(name: &str) -> Result<ClaimId> {
    ClaimId::new(text(name))
}

fn op(name: &str) -> Result<OpId> {
    OpId::new(text(name))
}

fn change(name: &str) -> Result<Change> {
    Ok(Change::new(op(name)?, 1))
}

pub(crate) fn items(count: usize) -> Result<Vec<Item>> {
    (0..count).map(|number| Item::new(text(&format!("code-{number}")))).collect()
}

/// Returns a builder that fetches a thousand candidates at once, which is more than the workload takes.
pub(crate) fn builder(place: &Place) -> DynamoBuilder {
    place.builder().fetch_limit(1_000).protect(true)
}

impl Metered {
    /// Makes every call of the store. Creates each namespace before the first call whose cost is noted.
    pub(crate) async fn every_call(&mut self, place: &Place) -> Result<()> {
        self.bank().await?;
        self.bank_again(place).await?;
        self.bank_for_its_keeper().await?;
        self.records().await?;
        self.leases().await?;
        self.tokens(place).await?;
        self.entities(place).await?;
        self.joined_entities(place).await?;
        self.counters().await?;
        self.fences().await?;
        self.ledger(place).await?;
        self.ordered(place).await?;
        self.note(STORE, "`ping`", self.store.clone().ping()).await?;
        self.note(STORE, "`setup`, again", self.store.clone().setup()).await
    }

    async fn bank(&mut self) -> Result<()> {
        let (bank, items) = (self.store.item_bank(&"namespace".parse()?)?, items(ITEMS)?);
        bank.add(&items[..1]).await?;
        self.note(BANK, "`add`, an item", bank.add(&items[1..2])).await?;
        self.note(BANK, "`add`, an item that is there", bank.add(&items[..1])).await?;
        bank.add(&items).await?;
        self.have_all_candidates(&*bank).await?;
        let _ = self.note(BANK, "`take`, new, for ever", bank.take(&claim("ada")?, Hold::Forever)).await?;
        let _ = self.note(BANK, "`take`, new, for a while", bank.take(&claim("bob")?, Hold::For(HOUR))).await?;
        let _ = self.note(BANK, "`take`, again", bank.take(&claim("ada")?, Hold::Forever)).await?;
        let _ = self.note(BANK, "`extend`", bank.extend(&claim("bob")?, Hold::For(2 * HOUR))).await?;
        let _ = self.note(BANK, "`confirm`, held for a while", bank.confirm(&claim("bob")?)).await?;
        let _ = bank.take(&claim("eva")?, Hold::Forever).await?;
        let _ = self.note(BANK, "`confirm`, held for ever", bank.confirm(&claim("eva")?)).await?;
        self.note(BANK, "`get`", bank.get(&claim("ada")?)).await?;
        let _ = self.note(BANK, "`release`, taken by this process", bank.release(&claim("ada")?)).await?;
        self.note(BANK, "`release`, unknown", bank.release(&claim("eve")?)).await.map(drop)
    }

    /// Takes items until the store has fetched all candidates. After a page that is not full, the store reads the whole
    /// bank.
    async fn have_all_candidates(&mut self, bank: &dyn ItemBank) -> Result<()> {
        self.aside();
        for number in 0..ITEMS {
            let _ = bank.take(&claim(&format!("early-{number}"))?, Hold::Forever).await?;
            if self.aside().iter().filter(|sent| sent.operation == "Query").count() > 1 {
                break;
            }
        }
        Ok(())
    }

    async fn bank_again(&mut self, place: &Place) -> Result<()> {
        let elsewhere = self.another(builder(place).read_first(ReadFirst::Always))?.item_bank(&"namespace".parse()?)?;
        elsewhere.get(&claim("ada")?).await?;
        let (bob, early) = (claim("bob")?, claim("early-0")?);
        let again = elsewhere.take(&bob, Hold::For(HOUR));
        let _ = self.note(BANK, "`take`, again, where repeats are common", again).await?;
        let released = elsewhere.release(&early);
        self.note(BANK, "`release`, taken by another process", released).await.map(drop)
    }

    async fn bank_for_its_keeper(&mut self) -> Result<()> {
        let (bank, many) = (self.store.item_bank(&"namespace".parse()?)?, self.store.item_bank(&"full".parse()?)?);
        let one = [Item::new(text("one-more"))?];
        bank.add(&one).await?;
        self.note(BANK, "`holder`, free", bank.holder(&one[0])).await?;
        self.note(BANK, "`withdraw`, an item", bank.withdraw(&one)).await?;
        self.note(BANK, "`restore`, an item", bank.restore(&one)).await?;
        let _ = self.note(BANK, "`retire`, confirmed", bank.retire(&claim("bob")?)).await?;
        many.add(&items(ITEMS)?).await?;
        for number in 0..ITEMS {
            let _ = many.take(&claim(&format!("{number}"))?, Hold::Forever).await?;
        }
        let _ = self.note(BANK, "`take`, of nothing", many.take(&claim("late")?, Hold::Forever)).await?;
        self.note(BANK, "`holder`, held", many.holder(&items(1)?[0])).await?;
        self.note(BANK, "`counts`, 4 shards", many.counts()).await?;
        self.note(BANK, "`list`, 100 items that are held", many.list(None, 1_000)).await.map(drop)
    }

    async fn records(&mut self) -> Result<()> {
        let records = self.store.dedup_repo(&"namespace".parse()?)?;
        let (id, value, first) = (DedupId::new(text("id"))?, Payload::try_from("value")?, op("first")?);
        records.get(&id).await?;
        let recorded = records.record(&id, &value, &first, Retention::Forever);
        let recorded = self.note(RECORDS, "`record`, new", recorded).await?;
        let Recorded::New(version) = recorded else { panic!("{recorded:?}") };
        let again = records.record(&id, &value, &first, Retention::Forever);
        let _ = self.note(RECORDS, "`record`, again", again).await?;
        self.note(RECORDS, "`get`", records.get(&id)).await?;
        let replaced = self.note(RECORDS, "`replace`", records.replace(&id, version, &value, &op("b")?)).await?;
        let Replaced::Replaced(version) = replaced else { panic!("{replaced:?}") };
        self.note(RECORDS, "`list`, 4 shards", records.list(None, 1_000)).await?;
        self.note(RECORDS, "`forget`", records.forget(&id, version)).await.map(drop)
    }

    async fn leases(&mut self) -> Result<()> {
        let leases = self.store.lease_repo(&"namespace".parse()?)?;
        let lease = self.begun("`begin`", "complete").await?;
        let _ = self.note(LEASES, "`extend`", leases.extend(&lease, 2 * HOUR)).await?;
        let result = Payload::try_from("result")?;
        let _ = self.note(LEASES, "`complete`", leases.complete(&lease, &result, Retention::Forever)).await?;
        let _ = self.note(LEASES, "`begin`, done", leases.begin(&lease.id, &op("late")?, HOUR, None)).await?;
        let lease = self.begun("`begin`, with a fingerprint", "abort").await?;
        let _ = self.note(LEASES, "`abort`", leases.abort(&lease)).await?;
        for (call, next) in [("`begin`, after one that is over", "second"), ("`begin`, after several", "third")] {
            let begun = self.note(LEASES, call, leases.begin(&lease.id, &op(next)?, HOUR, None)).await?;
            let Begun::Started(lease) = begun else { panic!("{begun:?}") };
            let _ = leases.abort(&lease).await?;
        }
        Ok(())
    }

    async fn begun(&mut self, call: &str, name: &str) -> Result<Lease> {
        let (leases, id) = (self.store.lease_repo(&"namespace".parse()?)?, DedupId::new(text(name))?);
        let print = Some(Fingerprint::new("print")?).filter(|_| call.ends_with("fingerprint"));
        let begun = self.note(LEASES, call, leases.begin(&id, &op(name)?, HOUR, print.as_ref())).await?;
        let Begun::Started(lease) = begun else { panic!("{begun:?}") };
        Ok(lease)
    }

    async fn tokens(&mut self, place: &Place) -> Result<()> {
        let tokens = self.store.token_store(&"namespace".parse()?)?;
        let [token, other, young] =
            [TokenId::new(text("token"))?, TokenId::new(text("other"))?, TokenId::new(text("young"))?];
        tokens.exists(&token).await?;
        self.note(TOKENS, "`create_tokens`, a token", tokens.create_tokens(std::slice::from_ref(&token))).await?;
        self.note(TOKENS, "`exists`", tokens.exists(&token)).await?;
        tokens.create_tokens(&[other.clone(), young.clone()]).await?;
        let _ = self.note(TOKENS, "`consume`, within a millisecond", tokens.consume(&young, &op("op")?)).await?;
        place.clock.advance(Duration::from_millis(1));
        let _ = self.note(TOKENS, "`consume`", tokens.consume(&token, &op("op")?)).await?;
        let _ = self.note(TOKENS, "`consume`, again", tokens.consume(&token, &op("op")?)).await?;
        self.note(TOKENS, "`discard`, a token", tokens.discard(&[other])).await?;
        self.note(TOKENS, "`discard`, unknown", tokens.discard(&[TokenId::new(text("none"))?])).await.map(drop)
    }

    async fn entities(&mut self, place: &Place) -> Result<()> {
        let entities = self.store.entity_ledger(&"namespace".parse()?, &Joins::default())?;
        let entry =
            EntryId { key: Key::new(text("key"))?, message: MessageId::new(text("message"))?, commit: op("op")? };
        entities.open(&entry.key, &entry.message, None).await?;
        let commit = commit_of(&*entities, &entry, EntityChange::Put(Payload::try_from("state")?)).await?;
        let _ = self.note(ENTITIES, "`commit`, split", entities.commit(&commit)).await?;
        let _ = self.note(ENTITIES, "`commit`, again", entities.commit(&commit)).await?;
        let (young, second) = (op("young")?, op("second")?);
        let registered = entities.register(&entry, &young);
        let _ = self.note(ENTITIES, "`register`, within a millisecond", registered).await?;
        place.clock.advance(Duration::from_millis(1));
        self.note(ENTITIES, "`open`", entities.open(&entry.key, &entry.message, None)).await?;
        let _ = self.note(ENTITIES, "`register`", entities.register(&entry, &second)).await?;
        place.clock.advance(Duration::from_millis(1));
        let _ = self.note(ENTITIES, "`choose`", entities.choose(&entry, &entry.commit)).await?;
        self.note(ENTITIES, "`pending`, 4 shards", entities.pending(None, 1_000)).await?;
        self.note(ENTITIES, "`remove`", entities.remove(&entry)).await?;
        let deleted = EntryId { key: Key::new(text("deleted"))?, ..entry };
        let delete = commit_of(&*entities, &deleted, EntityChange::Delete).await?;
        let _ = entities.commit(&delete).await?;
        entities.remove(&deleted).await.map(drop)
    }

    async fn joined_entities(&mut self, place: &Place) -> Result<()> {
        let tokens = self.store.token_store(&"namespace".parse()?)?;
        let joins = Joins { incoming: Some("namespace".parse()?), outgoing: Some("namespace".parse()?) };
        let entities = self.store.entity_ledger(&"namespace".parse()?, &joins)?;
        let (first, second) = (TokenId::new(text("first"))?, TokenId::new(text("second"))?);
        tokens.create_tokens(&[first.clone(), second.clone()]).await?;
        place.clock.advance(Duration::from_millis(1));
        let message = MessageId::new(text("message"))?;
        let entry = EntryId { key: Key::new(text("joined"))?, message, commit: op("first")? };
        let put = || Ok::<_, storagebox_core::Error>(EntityChange::Put(Payload::try_from("state")?));
        self.note(ENTITIES, "`open`, joined", entities.open(&entry.key, &entry.message, Some(&first))).await?;
        let commit = commit_of(&*entities, &entry, put()?).await?;
        let commit = Commit { consume: Some(first), create: vec![TokenId::new(text("created"))?], ..commit };
        let _ = self.note(ENTITIES, "`commit`, joined, a new token", entities.commit(&commit)).await?;
        let commit = commit_of(&*entities, &EntryId { commit: op("second")?, ..entry }, put()?).await?;
        let commit = Commit { entry: None, consume: Some(second), ..commit };
        self.note(ENTITIES, "`commit`, joined, nothing to send", entities.commit(&commit)).await.map(drop)
    }

    async fn counters(&mut self) -> Result<()> {
        for (name, strategy) in STRATEGIES {
            let (counters, key) = (self.store.counter(&name.parse()?, strategy)?, Key::new(text("key"))?);
            let _ = counters.apply(&key, &change("first")?).await?;
            let _ = self.note(COUNTERS, format!("`apply`, `{name}`"), counters.apply(&key, &change("op")?)).await?;
            if matches!(strategy, Strategy::Marker { .. }) {
                let _ = self.note(COUNTERS, "`apply`, again, `Marker`", counters.apply(&key, &change("op")?)).await?;
                self.note(COUNTERS, "`value`", counters.value(&key)).await?;
            }
            if matches!(strategy, Strategy::Sharded { .. }) {
                self.note(COUNTERS, "`value`, `Sharded`, 8 shards", counters.value(&key)).await?;
            }
        }
        Ok(())
    }

    async fn fences(&mut self) -> Result<()> {
        for (name, strategy) in [STRATEGIES[4], STRATEGIES[5]] {
            let (counters, key) = (self.store.counter(&name.parse()?, strategy)?, Key::new(text("key"))?);
            let _ = self.note(COUNTERS, format!("`cancel`, `{name}`"), counters.cancel(&key, &op("fence")?)).await?;
        }
        Ok(())
    }

    async fn ledger(&mut self, place: &Place) -> Result<()> {
        let (ledger, key) = (self.store.ledger(&"ledger".parse()?)?, Key::new(text("key"))?);
        let _ = ledger.apply(&key, &change("first")?).await?;
        let _ = self.note(LEDGER, "`apply`", ledger.apply(&key, &change("op")?)).await?;
        for number in 2..10 {
            let _ = ledger.apply(&key, &change(&format!("{number}"))?).await?;
        }
        place.clock.advance(HOUR);
        self.note(LEDGER, "`value`, 10 changes", ledger.value(&key)).await?;
        self.note(LEDGER, "`log`, 10 changes", ledger.log(&key, None, 100)).await?;
        let _ = self.note(LEDGER, "`cancel`", ledger.cancel(&key, &op("fence")?)).await?;
        ledger.value_within(&key, HOUR).await?;
        self.note(LEDGER, "`value_within`, read before", ledger.value_within(&key, HOUR)).await?;
        let compacted = ledger.compact(&key, HOUR, 10);
        self.note(LEDGER, "`compact`, 10 changes", compacted).await.map(drop)
    }

    async fn ordered(&mut self, place: &Place) -> Result<()> {
        let ordered = self.store.ordered_store(&"ordered".parse()?, OrderedOptions::sequence())?;
        let (key, value) = (Key::new(text("key"))?, Payload::try_from("value")?);
        let stamp = |at| Ok::<_, storagebox_core::Error>(Stamp::new(at, WriterId::new("ada")?));
        ordered.get(&key).await?;
        let _ = self.note(ORDERED, "`put`", ordered.put(&key, &value, &stamp(2)?)).await?;
        let _ = self.note(ORDERED, "`put`, stale", ordered.put(&key, &value, &stamp(1)?)).await?;
        self.note(ORDERED, "`get`", ordered.get(&key)).await?;
        self.note(ORDERED, "`list`, 4 shards", ordered.list(None, None, 1_000)).await?;
        let _ = self.note(ORDERED, "`delete`", ordered.delete(&key, &stamp(3)?)).await?;
        let kept = Key::new(text("kept"))?;
        let _ = ordered.put(&kept, &value, &stamp(1)?).await?;
        let _ = self.note(ORDERED, "`reset`", ordered.reset(&kept, &stamp(1)?)).await?;
        place.clock.advance(2 * HOUR);
        self.note(ORDERED, "`purge`, a tombstone, 4 shards", ordered.purge(HOUR, 10)).await.map(drop)
    }
}

/// Returns a commit that adds this entry, on the entity's present version.
async fn commit_of(entities: &dyn EntityLedger, entry: &EntryId, change: EntityChange) -> Result<Commit> {
    Ok(Commit {
        key: entry.key.clone(),
        message: entry.message.clone(),
        opened: entities.open(&entry.key, &entry.message, None).await?.version,
        change,
        attempt: entry.commit.clone(),
        entry: Some(Payload::try_from("content")?),
        consume: None,
        create: vec![],
    })
}
