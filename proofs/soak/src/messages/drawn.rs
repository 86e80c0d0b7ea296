//! The ids that processors draw, so that every token which may be left is known.

use std::sync::{Mutex, PoisonError};

use storagebox::parts::{Ids, RandomIds};

/// Random ids, and which they were.
#[derive(Debug, Default)]
pub(super) struct Drawn(Mutex<Vec<String>>);

impl Drawn {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Ids for Drawn {
    fn fresh(&self) -> String {
        // Proxies know requests by what stands in every id.
        let id = format!("soak-{}", RandomIds.fresh());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id.clone());
        id
    }
}
