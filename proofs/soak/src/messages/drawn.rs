//! Records the ids that processors create, because any of them may belong to a token that is left.

use std::sync::{Mutex, PoisonError};

use storagebox::parts::{Ids, RandomIds};

/// A source of random ids, which keeps a list of all returned ids.
#[derive(Debug, Default)]
pub(super) struct Drawn(Mutex<Vec<String>>);

impl Drawn {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ids for Drawn {
    fn fresh(&self) -> String {
        // The proxies recognise requests by the prefix of every id.
        let id = format!("soak-{}", RandomIds.fresh());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
        id
    }
}
