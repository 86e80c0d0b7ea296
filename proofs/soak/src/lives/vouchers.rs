//! Records that are kept for a limited time, under ids that are used again.

use std::collections::HashMap;
use std::time::Duration;

use storagebox::dedup::Entry;
use storagebox::{Dedup, Recorded, Result, Retention, Store};
use tokio::time::Instant;

use super::{Lately, wrong};
use crate::caller::{Caller, Wrong};

/// The number of ids per caller.
const IDS: u32 = 200;
/// The time for which a record is kept.
const KEPT: Duration = Duration::from_secs(3);
/// The time after which a record has certainly expired on every backend.
const SURELY_OVER: Duration = Duration::from_secs(8);

pub(super) struct Vouchers {
    records: Dedup,
    known: HashMap<String, Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The last value that was certainly recorded, with the times before and after the call.
    last: Option<(String, Instant, Instant)>,
    /// The last values that the caller tried to record. A dropped call may still record its value.
    asked: Lately,
}

impl Vouchers {
    pub(super) fn of(store: &Store) -> Result<Self> {
        Ok(Self { records: store.dedup("soak-records")?, known: HashMap::new() })
    }

    pub(super) async fn one(&mut self, caller: &mut Caller) -> Result<(), Wrong> {
        let (id, value, before) = (caller.again(IDS), caller.fresh(), Instant::now());
        let known = self.known.entry(id.clone()).or_default();
        known.asked.add(value.as_bytes());
        let record = || self.records.record(id.as_str(), value.as_str()).keep(Retention::For(KEPT)).by(value.as_str());
        let recorded = caller.answer("record", record).await?;
        let now = Instant::now();
        match recorded {
            Recorded::New(_) if known.is_over(now) => {}
            Recorded::Again(entry) if entry.value.as_bytes() == value.as_bytes() => {}
            Recorded::Existing(entry) => return known.existing(&id, entry.value.as_bytes(), before),
            // An attempt was answered too late: the value was recorded and has expired.
            Recorded::Fenced if before + KEPT <= now => {}
            other => return Err(wrong("record", other)),
        }
        known.last = Some((value.clone(), before, now));
        match caller.answer("get", || self.records.get(id.as_str())).await? {
            Some(entry) if entry.value.as_bytes() == value.as_bytes() => Ok(()),
            found if before + KEPT <= Instant::now() && found.as_ref().is_none_or(|found| known.is_own(found)) => {
                Ok(())
            }
            other => Err(wrong("get", other)),
        }
    }
}

impl Known {
    /// Returns whether the last record may have expired.
    fn is_over(&self, now: Instant) -> bool {
        self.last.as_ref().is_none_or(|(_, before, _)| *before + KEPT <= now)
    }

    fn is_own(&self, entry: &Entry) -> bool {
        self.asked.has(entry.value.as_bytes())
    }

    /// Checks that the caller tried to record this value, and that the record may still exist.
    fn existing(&self, id: &str, value: &[u8], now: Instant) -> Result<(), Wrong> {
        match &self.last {
            Some((last, _, after)) if last.as_bytes() == value && *after + SURELY_OVER <= now => {
                Err(format!("{id} still has a record that has expired"))
            }
            _ if self.asked.has(value) => Ok(()),
            _ => Err(format!("{id} has a record that no caller wrote")),
        }
    }
}
