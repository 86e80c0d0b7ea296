//! The two stores behind the gates, one for banks and one for records, and their visible state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::FutureExt;
use storagebox_core::layer::LayeredPart;
use storagebox_core::layer::Response;
use storagebox_core::{
    Backend, ClaimId, ClaimState, DedupId, DedupRepo, Hold, Item, ItemBank, ItemState, ManualClock, Namespace, OpId,
    Page, Recorded, Replaced, Result, Retention, Taken,
};
use storagebox_memory::MemoryStore;

use crate::call::Call;
use crate::mutants::{Mutant, Unfenced};
use crate::record::Written;
use crate::scenario::Scenario;

/// The limit of a listing. It exceeds the number of records and of items.
const ALL: usize = 100;

pub(crate) struct Stores {
    pub(crate) records: Arc<dyn DedupRepo>,
    pub(crate) banks: BTreeMap<Namespace, Bank>,
    /// All claims that calls have used, with their banks.
    claims: BTreeSet<(Namespace, ClaimId)>,
    /// For each record, the operation that wrote it first and the operation that wrote it last.
    writers: BTreeMap<DedupId, (OpId, OpId)>,
}

pub(crate) struct Bank {
    pub(crate) admin: Arc<dyn ItemBank>,
    /// The bank that callers use, behind a mutant if there is one.
    port: Arc<dyn ItemBank>,
    pub(crate) added: u64,
}

/// Returns the output of a memory store's call, which must be ready at the first poll.
pub(crate) fn now<T>(call: impl Future<Output = Result<T>>) -> T {
    call.now_or_never().expect("memory does not wait").expect("memory does not fail")
}

fn memory() -> MemoryStore {
    MemoryStore::builder().clock(ManualClock::new()).build().expect("a store")
}

impl Stores {
    pub(crate) fn open(scenario: &Scenario, mutant: Option<Mutant>) -> Self {
        let store = memory();
        let bank = |(name, items): &(&str, &[&str])| {
            let name = Namespace::new(*name).expect("a name");
            let bank = Bank::open(store.item_bank(&name).expect("a bank"), mutant);
            (name, bank.filled(items))
        };
        Self {
            banks: scenario.stock.iter().map(bank).collect(),
            records: memory().dedup_repo(&"records".parse().expect("a name")).expect("a repository"),
            claims: BTreeSet::new(),
            writers: BTreeMap::new(),
        }
    }

    pub(crate) fn refill(&mut self, bank: &str, item: &str) {
        let bank = self.banks.get_mut(bank).expect("a bank");
        bank.add(&[item]);
    }

    /// Applies the call in one atomic step.
    pub(crate) fn land(&mut self, call: &Call) -> Response {
        match call {
            Call::Record { id, value, op } => {
                let recorded = now(self.records.record(id, value, op, Retention::Forever));
                if let Recorded::New(_) = recorded {
                    self.writers.insert(id.clone(), (op.clone(), op.clone()));
                }
                Response::Record(recorded)
            }
            Call::Replace { id, version, value, op } => {
                let replaced = now(self.records.replace(id, *version, value, op));
                if let (Replaced::Replaced(_), Some((_, last))) = (&replaced, self.writers.get_mut(id)) {
                    *last = op.clone();
                }
                Response::Replace(replaced)
            }
            Call::Get { id } => Response::GetRecord(now(self.records.get(id))),
            Call::List => Response::ListRecords(self.listed()),
            Call::Take { bank, claim } => {
                self.claims.insert((bank.clone(), claim.clone()));
                Response::Take(self.banks[bank].take(claim))
            }
            Call::Release { bank, claim } => {
                self.claims.insert((bank.clone(), claim.clone()));
                Response::Release(now(self.banks[bank].port.release(claim)))
            }
        }
    }

    /// Lists the records in the order of their ids, so that every replay gets the same list.
    fn listed(&self) -> Page<storagebox_core::ListedRecord> {
        let mut page = now(self.records.list(None, ALL));
        assert_eq!(page.next, None, "the listing is longer than {ALL}");
        page.entries.sort_by(|one, other| one.id.cmp(&other.id));
        page
    }

    pub(crate) fn is_empty(&self, bank: &Namespace) -> bool {
        now(self.banks[bank].admin.counts()).free == 0
    }

    pub(crate) fn seen(&self) -> Seen {
        let claim = |(bank, claim): &(Namespace, ClaimId)| match now(self.banks[bank].admin.get(claim)) {
            ClaimState::Unknown => None,
            state => Some((bank.clone(), claim.clone(), matches!(state, ClaimState::Held(_)))),
        };
        Seen {
            records: self.listed().entries.into_iter().map(seen_record).collect(),
            banks: self.banks.iter().map(|(name, bank)| (name.as_str().to_owned(), bank.seen())).collect(),
            claims: self.claims.iter().filter_map(claim).collect(),
            writers: self.writers.clone(),
        }
    }
}

fn seen_record(listed: storagebox_core::ListedRecord) -> (String, (u64, Written)) {
    let entry = listed.entry;
    let seen = (entry.version.number(), Written::read(&entry.value));
    (listed.id.as_str().to_owned(), seen)
}

impl Bank {
    fn open(admin: Arc<dyn ItemBank>, mutant: Option<Mutant>) -> Self {
        let port: Arc<dyn ItemBank> = match mutant {
            Some(Mutant::GivesUpWithoutFence) => {
                Arc::new(LayeredPart::new(Arc::clone(&admin), Arc::new(Unfenced(Arc::clone(&admin)))))
            }
            _ => Arc::clone(&admin) as _,
        };
        Self { admin, port, added: 0 }
    }

    fn filled(mut self, items: &[&str]) -> Self {
        self.add(items);
        self
    }

    fn add(&mut self, items: &[&str]) {
        let items: Vec<_> = items.iter().map(|item| Item::new(*item).expect("an item")).collect();
        self.added += now(self.admin.add(&items)).added;
    }

    /// Takes the first free item in alphabetical order, so that every replay takes the same item.
    fn take(&self, claim: &ClaimId) -> Taken {
        if self.added <= 1 {
            return now(self.port.take(claim, Hold::Forever));
        }
        let free = self.items().filter(|(_, state)| *state == ItemState::Free);
        let mut rest: Vec<_> = free.map(|(item, _)| item).collect();
        rest.sort();
        rest.drain(..rest.len().min(1));
        now(self.admin.withdraw(&rest));
        let taken = now(self.port.take(claim, Hold::Forever));
        now(self.admin.restore(&rest));
        taken
    }

    fn items(&self) -> impl Iterator<Item = (Item, ItemState)> {
        let listed = now(self.admin.list(None, ALL)).entries;
        listed.into_iter().map(|listed| (listed.item, listed.state))
    }

    fn seen(&self) -> SeenBank {
        let counts = now(self.admin.counts());
        let held = |(item, state)| match state {
            ItemState::Held(claim) => Some((claim, item)),
            _ => None,
        };
        SeenBank {
            added: self.added,
            free: counts.free,
            held: counts.held,
            total: counts.total(),
            holders: self
                .items()
                .filter_map(held)
                .map(|(claim, item)| (claim.as_str().to_owned(), item.as_str().to_owned()))
                .collect(),
        }
    }
}

impl Seen {
    /// Returns whether `op` wrote the record first, and whether `op` wrote it last.
    pub(crate) fn wrote(&self, id: &str, op: &str) -> (bool, bool) {
        let writers = self.writers.get(id);
        writers.map_or((false, false), |(first, last)| (first.as_str() == op, last.as_str() == op))
    }

    /// Returns the claims for which `measure` returns a value: the value, the bank, and whether the claim holds an
    /// item.
    pub(crate) fn claims_by<T>(&self, measure: impl Fn(&str) -> Option<T>) -> Vec<(T, &Namespace, bool)> {
        self.claims.iter().filter_map(|(bank, claim, holds)| Some((measure(claim.as_str())?, bank, *holds))).collect()
    }
}

/// The state that the public calls of both stores show.
#[derive(Debug, Hash)]
pub(crate) struct Seen {
    /// The version and the value of each id's record.
    pub(crate) records: BTreeMap<String, (u64, Written)>,
    pub(crate) banks: BTreeMap<String, SeenBank>,
    /// The claims that a bank remembers, each with its bank and whether it holds an item.
    claims: Vec<(Namespace, ClaimId, bool)>,
    writers: BTreeMap<DedupId, (OpId, OpId)>,
}

#[derive(Debug, Hash)]
pub(crate) struct SeenBank {
    pub(crate) added: u64,
    pub(crate) free: u64,
    pub(crate) held: u64,
    pub(crate) total: u64,
    /// Each claim that holds an item, with the item.
    pub(crate) holders: Vec<(String, String)>,
}
