//! Values of which the last write wins, and their deletes.

use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use storagebox::ordered::OrderedOptions;
use storagebox::{OrderedValues, Result, Store, Written};

use super::wrong;
use crate::caller::{Caller, MEMORY, Wrong};

/// The number of keys per caller.
const KEYS: u32 = 50;

pub(super) struct Values {
    values: OrderedValues,
    last: HashMap<String, i64>,
}

impl Values {
    pub(super) fn of(store: &Store) -> Result<Self> {
        let options = OrderedOptions { tombstone_age: 2 * MEMORY, ..OrderedOptions::time() };
        Ok(Self { values: store.ordered_with("soak-values", options)?, last: HashMap::new() })
    }

    pub(super) async fn one(&mut self, caller: &mut Caller) -> Result<(), Wrong> {
        let (key, value, now) = (caller.again(KEYS), caller.fresh(), millis());
        let last = self.last.get(&key).copied().unwrap_or_default();
        let at = now.max(last + 1);
        let written = match fastrand::u8(..4) {
            0 => caller.answer("delete", || self.values.delete(key.as_str()).at(at).by("ada")).await?,
            _ => caller.answer("put", || self.values.put(key.as_str(), value.as_str()).at(at).by("ada")).await?,
        };
        match written {
            Written::Applied | Written::Duplicate => {}
            other => return Err(wrong("a write", other)),
        }
        self.last.insert(key.clone(), at);
        match caller.answer("late put", || self.values.put(key.as_str(), "late").at(at - 1).by("ben")).await? {
            Written::Stale { current } if current.at == at => {}
            other => return Err(wrong("a late write", other)),
        }
        match caller.answer("get", || self.values.get(key.as_str())).await? {
            None => Ok(()),
            Some(found) if found.stamp.at == at && found.value.as_bytes() == value.as_bytes() => Ok(()),
            other => Err(wrong("get", other)),
        }
    }
}

fn millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
