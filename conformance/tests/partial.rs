//! A backend that has only some parts is certified for these parts: their cases need no other part.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::sync::Arc;

use storagebox_conformance::{Embedded, Outcome, Part, Profile, Runner, cases};
use storagebox_core::backend::Promises;
use storagebox_core::{
    Backend, Counter, DedupRepo, EntityLedger, Error, ItemBank, Joins, LeaseRepo, Ledger, Maintained, Namespace,
    OrderedOptions, OrderedStore, Result, Strategy, TokenStore, async_trait,
};
use storagebox_memory::MemoryStore;

/// The memory store with only these parts.
#[derive(Clone, Debug)]
struct Only(&'static [Part], MemoryStore);

#[async_trait]
impl Backend for Only {
    fn backend(&self) -> &'static str {
        self.1.backend()
    }
    async fn setup(&self) -> Result<()> {
        self.1.setup().await
    }
    async fn ping(&self) -> Result<()> {
        self.1.ping().await
    }
    async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.1.maintain(max_entries).await
    }
    async fn close(&self) -> Result<()> {
        self.1.close().await
    }
    fn promises(&self) -> Promises {
        self.1.promises()
    }
    fn item_bank(&self, name: &Namespace) -> Result<Arc<dyn ItemBank>> {
        self.having(Part::ItemBank)?.item_bank(name)
    }
    fn dedup_repo(&self, name: &Namespace) -> Result<Arc<dyn DedupRepo>> {
        self.having(Part::Dedup)?.dedup_repo(name)
    }
    fn lease_repo(&self, name: &Namespace) -> Result<Arc<dyn LeaseRepo>> {
        self.having(Part::Dedup)?.lease_repo(name)
    }
    fn token_store(&self, name: &Namespace) -> Result<Arc<dyn TokenStore>> {
        self.having(Part::Tokens)?.token_store(name)
    }
    fn entity_ledger(&self, name: &Namespace, joins: &Joins) -> Result<Arc<dyn EntityLedger>> {
        self.having(Part::Entities)?.entity_ledger(name, joins)
    }
    fn counter(&self, name: &Namespace, strategy: Strategy) -> Result<Arc<dyn Counter>> {
        self.having(Part::Counter)?.counter(name, strategy)
    }
    fn ledger(&self, name: &Namespace) -> Result<Arc<dyn Ledger>> {
        self.having(Part::Counter)?.ledger(name)
    }
    fn ordered_store(&self, name: &Namespace, options: OrderedOptions) -> Result<Arc<dyn OrderedStore>> {
        self.having(Part::Ordered)?.ordered_store(name, options)
    }
}

impl Only {
    fn having(&self, part: Part) -> Result<&MemoryStore> {
        if self.0.contains(&part) { Ok(&self.1) } else { Err(Error::unsupported(part.name(), "another backend")) }
    }
}

const ALL: [Part; 6] = [Part::ItemBank, Part::Dedup, Part::Tokens, Part::Entities, Part::Counter, Part::Ordered];

fn having(parts: &'static [Part]) -> Embedded<Only> {
    let make = |clock| MemoryStore::builder().clock(clock).build();
    let harness = Embedded::new(format!("memory, {parts:?}"), move |clock| Ok(Only(parts, make(clock)?)));
    let missing = ALL.into_iter().filter(|part| !parts.contains(part));
    missing.fold(harness, |harness, part| harness.without(part, "the store does not have this part"))
}

/// Runs all cases on a store with these parts. Returns how many cases passed: those for every store, and those for
/// these parts.
fn held(parts: &'static [Part]) -> (usize, usize) {
    let runner = Runner::new(having(parts), Profile::SMOKE).unwrap();
    let (mut shared, mut own) = (0, 0);
    for case in cases() {
        match runner.run(&case, 7) {
            Outcome::Failed(why) => panic!("{parts:?}: {}: {why:?}", case.name()),
            Outcome::Ignored(_) => {}
            Outcome::Passed if matches!(case.part(), Part::Values | Part::Errors | Part::Store) => shared += 1,
            Outcome::Passed => own += 1,
        }
    }
    (shared, own)
}

#[test]
fn a_store_with_only_one_part_is_certified() {
    for parts in ALL.iter().map(std::slice::from_ref) {
        let (shared, own) = held(parts);
        assert!(shared >= 24 && own >= 25, "{parts:?}: {shared} shared cases, {own} of its own");
    }
}

#[test]
fn a_store_with_banks_and_records_runs_the_deduplicator_cases() {
    let (_, apart) = held(&[Part::ItemBank]);
    let (_, others) = held(&[Part::Dedup]);
    let (_, together) = held(&[Part::ItemBank, Part::Dedup]);
    assert!(together > apart + others, "{together} cases, {apart} and {others} apart");
}
