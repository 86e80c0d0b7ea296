//! Each mutating call, and the check that it was made: one process makes the call and another checks.

mod bank;
mod counters;
mod entities;
mod ordered;
mod records;
mod tokens;

use std::time::Duration;

use storagebox_core::Backend;

use crate::failure::{Failure, Verdict};
use crate::part::Part;

/// A duration that does not end during a case.
pub(super) const LONG: Duration = Duration::from_secs(365 * 24 * 3_600);

/// A call of a part, in a separate namespace or on a separate key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) part: Part,
    pub(crate) call: &'static str,
}

const PARTS: [(Part, &[&str]); 6] = [
    (Part::ItemBank, bank::CALLS),
    (Part::Dedup, records::CALLS),
    (Part::Tokens, tokens::CALLS),
    (Part::Counter, counters::CALLS),
    (Part::Ordered, ordered::CALLS),
    (Part::Entities, entities::CALLS),
];

impl Step {
    pub(crate) fn all_of(part: Part) -> impl Iterator<Item = Self> {
        Self::all().filter(move |step| step.part == part)
    }

    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        Self::all().find(|step| step.name() == name).ok_or_else(|| Failure::new(format!("there is no step {name:?}")))
    }

    pub(crate) fn name(self) -> String {
        format!("{}/{}", self.part.name(), self.call)
    }

    fn all() -> impl Iterator<Item = Self> {
        PARTS.into_iter().flat_map(|(part, calls)| calls.iter().map(move |call| Self { part, call }))
    }

    /// Creates what the call needs.
    pub(crate) async fn prepare(self, store: &dyn Backend) -> Verdict {
        match self.part {
            Part::ItemBank => bank::prepare(store, self.call).await,
            Part::Dedup => records::prepare(store, self.call).await,
            Part::Tokens => tokens::prepare(store, self.call).await,
            Part::Ordered => ordered::prepare(store, self.call).await,
            Part::Entities => entities::prepare(store, self.call).await,
            _ => Ok(()),
        }
    }

    pub(crate) async fn make(self, store: &dyn Backend) -> Verdict {
        match self.part {
            Part::ItemBank => bank::make(store, self.call).await,
            Part::Dedup => records::make(store, self.call).await,
            Part::Tokens => tokens::make(store, self.call).await,
            Part::Counter => counters::make(store, self.call).await,
            Part::Ordered => ordered::make(store, self.call).await,
            _ => entities::make(store, self.call).await,
        }
    }

    pub(crate) async fn is_made(self, store: &dyn Backend) -> Result<bool, Failure> {
        match self.part {
            Part::ItemBank => bank::is_made(store, self.call).await,
            Part::Dedup => records::is_made(store, self.call).await,
            Part::Tokens => tokens::is_made(store, self.call).await,
            Part::Counter => counters::is_made(store, self.call).await,
            Part::Ordered => ordered::is_made(store, self.call).await,
            _ => entities::is_made(store, self.call).await,
        }
    }

    /// Returns whether `is_made` only reads, so that the suite can also use it before the call.
    pub(crate) fn asks_only(self) -> bool {
        !matches!((self.part, self.call), (Part::Dedup, "begin") | (Part::Counter, "cancel"))
    }
}
