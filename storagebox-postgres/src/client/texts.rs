//! The texts of prepared calls, kept once they are written.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The texts of one store: there, the function and the number of its arguments tell one from another.
#[derive(Debug, Default)]
pub(crate) struct Texts(RwLock<HashMap<(&'static str, usize), Arc<str>>>);

impl Texts {
    /// The text of a function with so many arguments, which is written if it is asked for the first time.
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
