//! The texts of prepared statements, which are written once per store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The SQL of one store's statements, by function and number of arguments.
#[derive(Debug, Default)]
pub(crate) struct StatementCache(RwLock<HashMap<(&'static str, usize), Arc<str>>>);

impl StatementCache {
    /// Returns the statement that calls the function, from the cache or from `write`.
    pub(super) fn of(&self, function: &'static str, arguments: usize, write: impl Fn() -> String) -> Arc<str> {
        let found = self.found(function, arguments).unwrap_or_else(|| self.keep(function, arguments, write()));
        debug_assert_eq!(*found, write());
        found
    }

    fn found(&self, function: &'static str, arguments: usize) -> Option<Arc<str>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&(function, arguments)).cloned()
    }

    fn keep(&self, function: &'static str, arguments: usize, text: String) -> Arc<str> {
        let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(texts.entry((function, arguments)).or_insert_with(|| text.into()))
    }
}
