//! Broken deduplication records.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use storagebox_core::{
    Cursor, DedupId, DedupRepo, Entry, Forgotten, ListedRecord, Namespace, OpId, Page, Payload, Recorded, Replaced,
    Result, Retention, Version, async_trait,
};

use crate::steps::{Renamed, between_steps, lock};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DedupMistake {
    ChecksThenPuts,
    LastWins,
    ReturnsOwn,
    ForgetsSometimes,
    RetryIsExisting,
    NeverExpires,
    ForeverIsAYear,
    ReplacesAnyVersion,
    ForgetsAnyVersion,
    RepeatsVersions,
    ForgetLeavesNoFence,
    RecordsOverALease,
    TrimsIds,
    LowercasesIds,
    CutsIds,
    PayloadsAreText,
    JoinsNames,
    ListReadsOnce,
}

use DedupMistake as Mistake;

#[derive(Default)]
pub(crate) struct DedupState {
    recorded: AtomicU64,
    /// For each id, the number to subtract from the versions of the inner repository.
    counted_from: Mutex<HashMap<DedupId, u64>>,
    forgotten: Renamed,
    /// For a mutant that puts the namespace's name before each id: the caller's id for each id in the inner repository.
    joined: Mutex<HashMap<DedupId, DedupId>>,
}

pub(crate) struct BrokenDedup {
    pub(crate) inner: Arc<dyn DedupRepo>,
    pub(crate) mistake: Option<Mistake>,
    pub(crate) state: Arc<DedupState>,
    pub(crate) name: Namespace,
}

/// The number of rows that the store reads in one step.
const READ: usize = 500;

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

impl BrokenDedup {
    /// Returns the name of this id in the inner repository.
    fn below(&self, id: &DedupId) -> Result<DedupId> {
        let text = id.as_str();
        match self.mistake {
            Some(Mistake::TrimsIds) => DedupId::new(if text.trim().is_empty() { text } else { text.trim() }),
            Some(Mistake::LowercasesIds) => DedupId::new(text.to_lowercase()),
            Some(Mistake::CutsIds) => DedupId::new(&text[..text.floor_char_boundary(200)]),
            Some(Mistake::JoinsNames) => self.joined(id),
            _ => Ok(id.clone()),
        }
    }

    /// Returns the namespace's name followed by the id, or a hash of this text if the text is too long.
    fn joined(&self, id: &DedupId) -> Result<DedupId> {
        let joined = format!("{}:{id}", self.name);
        let below = DedupId::new(joined.as_str()).or_else(|_| {
            let mut hasher = DefaultHasher::new();
            joined.hash(&mut hasher);
            DedupId::new(hasher.finish().to_string())
        })?;
        lock(&self.state.joined).insert(below.clone(), id.clone());
        Ok(below)
    }

    /// Returns the operation id that the inner repository gets for this operation.
    fn op_below(&self, id: &DedupId, op: &OpId) -> Result<OpId> {
        OpId::new(self.state.forgotten.tagged(id.as_str(), op.as_str()))
    }

    fn kept(&self, value: &Payload) -> Result<Payload> {
        match self.mistake {
            Some(Mistake::PayloadsAreText) => Payload::new(String::from_utf8_lossy(value.as_bytes()).into_owned()),
            _ => Ok(value.clone()),
        }
    }

    fn retained(&self, retention: Retention) -> Result<Retention> {
        Ok(match (self.mistake, retention.checked()?) {
            (Some(Mistake::NeverExpires), _) => Retention::Forever,
            (Some(Mistake::ForeverIsAYear), Retention::Forever) => Retention::For(YEAR),
            (_, retention) => retention,
        })
    }

    fn counted_from(&self, id: &DedupId) -> u64 {
        lock(&self.state.counted_from).get(id).copied().unwrap_or(0)
    }

    fn shown(&self, id: &DedupId, version: Version) -> Version {
        Version::new(version.number() - self.counted_from(id))
    }

    fn asked(&self, id: &DedupId, version: Version) -> Version {
        Version::new(version.number() + self.counted_from(id))
    }

    fn shown_entry(&self, id: &DedupId, entry: Entry) -> Entry {
        Entry { version: self.shown(id, entry.version), ..entry }
    }

    /// With the mistake `RepeatsVersions`, numbers the versions of the id so that callers see `version` as 1.
    fn count_from(&self, id: &DedupId, version: Version) {
        if self.mistake == Some(Mistake::RepeatsVersions) {
            lock(&self.state.counted_from).insert(id.clone(), version.number() - 1);
        }
    }

    async fn overwrite(&self, id: &DedupId, entry: Entry, value: &Payload, op: &OpId) -> Result<Recorded> {
        Ok(match self.inner.replace(id, entry.version, value, op).await? {
            Replaced::Replaced(version) | Replaced::Again(version) => Recorded::New(version),
            Replaced::Stale(_) => Recorded::Existing(entry),
        })
    }

    /// Checks whether a record exists, and writes a record in a separate step.
    async fn check_then_put(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let is_vacant = self.inner.get(id).await?.is_none();
        between_steps().await;
        match self.inner.record(id, value, op, retention).await? {
            Recorded::Existing(entry) if is_vacant => self.overwrite(id, entry, value, op).await,
            other => Ok(other),
        }
    }

    async fn spoil(&self, id: &DedupId, value: &Payload, op: &OpId, recorded: Recorded) -> Result<Recorded> {
        match (self.mistake, recorded) {
            (Some(Mistake::LastWins), Recorded::Existing(entry)) => self.overwrite(id, entry, value, op).await,
            (Some(Mistake::ReturnsOwn), Recorded::Existing(entry)) => {
                Ok(Recorded::Existing(Entry { value: value.clone(), ..entry }))
            }
            (Some(Mistake::RetryIsExisting), Recorded::Again(entry)) => Ok(Recorded::Existing(entry)),
            (Some(Mistake::RecordsOverALease), Recorded::InFlight { .. }) => Ok(Recorded::New(Version::new(u64::MAX))),
            (Some(Mistake::ForgetsSometimes), Recorded::New(version)) => {
                // Every fourth write is acknowledged and not kept.
                if self.state.recorded.fetch_add(1, Ordering::Relaxed) % 4 == 3 {
                    let _ = self.inner.forget(id, version).await?;
                }
                Ok(Recorded::New(version))
            }
            (_, other) => Ok(other),
        }
    }

    fn shown_answer(&self, id: &DedupId, recorded: Recorded) -> Recorded {
        match recorded {
            Recorded::New(version) => {
                self.count_from(id, version);
                Recorded::New(self.shown(id, version))
            }
            Recorded::Again(entry) => Recorded::Again(self.shown_entry(id, entry)),
            Recorded::Existing(entry) => Recorded::Existing(self.shown_entry(id, entry)),
            other => other,
        }
    }

    async fn version_to_ask(&self, below: &DedupId, id: &DedupId, version: Version) -> Result<Version> {
        let present = self.inner.get(below).await?.map(|entry| entry.version);
        Ok(present.unwrap_or_else(|| self.asked(id, version)))
    }

    /// Converts a record that the inner repository lists to the caller's id and version. Returns `None` for a record of
    /// another namespace.
    fn above(&self, mut record: ListedRecord) -> Option<ListedRecord> {
        if self.mistake == Some(Mistake::JoinsNames) {
            record.id = lock(&self.state.joined).get(&record.id)?.clone();
        }
        record.entry = self.shown_entry(&record.id, record.entry);
        Some(record)
    }
}

#[async_trait]
impl DedupRepo for BrokenDedup {
    async fn record(&self, id: &DedupId, value: &Payload, op: &OpId, retention: Retention) -> Result<Recorded> {
        let (below, value) = (self.below(id)?, self.kept(value)?);
        let (op, retention) = (self.op_below(id, op)?, self.retained(retention)?);
        let recorded = if self.mistake == Some(Mistake::ChecksThenPuts) {
            self.check_then_put(&below, &value, &op, retention).await?
        } else {
            self.inner.record(&below, &value, &op, retention).await?
        };
        let recorded = self.spoil(&below, &value, &op, recorded).await?;
        Ok(self.shown_answer(id, recorded))
    }

    async fn get(&self, id: &DedupId) -> Result<Option<Entry>> {
        let entry = self.inner.get(&self.below(id)?).await?;
        Ok(entry.map(|entry| self.shown_entry(id, entry)))
    }

    async fn replace(&self, id: &DedupId, version: Version, value: &Payload, op: &OpId) -> Result<Replaced> {
        let (below, value) = (self.below(id)?, self.kept(value)?);
        let version = match self.mistake {
            Some(Mistake::ReplacesAnyVersion) => self.version_to_ask(&below, id, version).await?,
            _ => self.asked(id, version),
        };
        Ok(match self.inner.replace(&below, version, &value, op).await? {
            Replaced::Replaced(version) => Replaced::Replaced(self.shown(id, version)),
            Replaced::Again(version) => Replaced::Again(self.shown(id, version)),
            Replaced::Stale(entry) => Replaced::Stale(entry.map(|entry| self.shown_entry(id, entry))),
        })
    }

    async fn forget(&self, id: &DedupId, version: Version) -> Result<Forgotten> {
        let below = self.below(id)?;
        let version = match self.mistake {
            Some(Mistake::ForgetsAnyVersion) => self.version_to_ask(&below, id, version).await?,
            _ => self.asked(id, version),
        };
        let forgotten = self.inner.forget(&below, version).await?;
        if self.mistake == Some(Mistake::ForgetLeavesNoFence) && forgotten == Forgotten::Forgotten {
            self.state.forgotten.begin_anew(id.as_str());
        }
        Ok(match forgotten {
            Forgotten::Stale(entry) => Forgotten::Stale(self.shown_entry(id, entry)),
            other => other,
        })
    }

    async fn list(&self, cursor: Option<&Cursor>, limit: usize) -> Result<Page<ListedRecord>> {
        let mut page = self.inner.list(cursor, limit).await?;
        if self.mistake == Some(Mistake::ListReadsOnce) && page.entries.len() > READ {
            // Treats a page that is not full as the last page.
            page = Page { next: None, ..self.inner.list(cursor, READ).await? };
        }
        let entries = page.entries.into_iter();
        Ok(Page { entries: entries.filter_map(|record| self.above(record)).collect(), next: page.next })
    }
}
