//! Code around every call: retries, deadlines, faults, metrics and everything else that applies to all parts.
//!
//! A [`Layered`] backend passes each call of each part to its [`Layer`]. The layer decides when to make the call,
//! repeats it, or does not make it. Layers nest, as a `Layered` backend around another one: the outer layer makes a
//! call by calling the inner layer. A [`LayeredPart`] does the same for one part.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox_core::Result<()> {
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use storagebox_core::layer::{Answered, Call, Layer, Layered, Next};
//! use storagebox_core::{Backend, Hold, ItemBank, Result, Taken, async_trait};
//! use storagebox_memory::MemoryStore;
//!
//! #[derive(Debug, Default)]
//! struct Calls(AtomicU64);
//!
//! #[async_trait]
//! impl Layer for Calls {
//!     async fn around(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!         next.call().await
//!     }
//! }
//!
//! let calls = Arc::new(Calls::default());
//! let store = Layered::new(Arc::new(MemoryStore::new()), calls.clone());
//! let taken = store.item_bank(&"vouchers".parse()?)?.take(&"ada@example.com".parse()?, Hold::Forever).await?;
//! assert_eq!(taken, Taken::Empty);
//! assert_eq!(calls.0.load(Ordering::Relaxed), 1);
//! # Ok(()) }
//! ```

mod argument;
mod around;
mod deadline;
mod layered;
mod next;
mod part;
mod retries;

use std::fmt::{self, Debug};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::value::Namespace;

use argument::Arguments;

pub use around::LayeredPart;
pub use deadline::Deadline;
pub use layered::Layered;
pub use next::{Answered, Next};
pub use part::OnePart;
pub use retries::Retries;

/// Code that runs around every call of a backend.
///
/// # Guarantees
///
/// - ER-4: a layer that repeats a call repeats the same operation, with the same id, because it cannot change the
///   arguments.
///
/// # Cancel safety
///
/// A layer may drop a call that it has begun, as [`Deadline`] does. The outcome of the call is then unknown.
///
/// # Errors
///
/// A layer returns the error of the call, or an error of its own. After a call that it dropped, or whose answer it
/// dropped, the error is [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown), unless the call is a
/// [`Read`](Kind::Read).
#[async_trait]
pub trait Layer: Debug + Send + Sync + 'static {
    /// Answers the call, with [`Next::call`] or with an error.
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered>;
}

/// A shared layer, for example for a test that inspects it afterwards.
#[async_trait]
impl<L: Layer + ?Sized> Layer for Arc<L> {
    async fn around(&self, call: &Call<'_>, next: Next<'_>) -> Result<Answered> {
        (**self).around(call, next).await
    }
}

/// A call of a backend.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The short name of the backend, such as `memory`; empty for a [`LayeredPart`] that was created on its own.
    pub backend: &'static str,
    /// The called part.
    pub part: Part,
    /// The method of the part's trait, such as `take`.
    pub operation: &'static str,
    /// The name of the bank, repository, counter or store; `None` for calls of the backend as a whole, and for a
    /// [`LayeredPart`] that was created on its own.
    pub namespace: Option<&'a Namespace>,
    /// What the call may do.
    pub kind: Kind,
    /// Whether the backend recognises a repeated call. `false` for a change of a counter whose
    /// [promise](crate::CounterPromise::recognises_repeats) says so: nothing may repeat such a change after an unknown
    /// outcome.
    pub repeatable: bool,
    /// How long the backend recognises a repeated call; zero if it does not.
    remembered: Duration,
    arguments: Arguments<'a>,
}

impl Call<'_> {
    /// Returns a copy of the argument of this type, such as a [`ClaimId`](crate::ClaimId) of a `take`. For a slice the
    /// type is a `Vec`; for an optional argument it is an `Option`. Returns `None` if the call has no such argument.
    ///
    /// Ids may be names or addresses of people. `Debug` does not show them, and a log should not show them either.
    pub fn argument<T: 'static>(&self) -> Option<T> {
        self.arguments.find()
    }

    /// Returns the error of the call, marked as [unrepeatable](Error::unrepeatable) if the call is. Adds the operation
    /// and the backend unless the error already names them.
    pub(crate) fn failed(&self, error: Error) -> Error {
        let error = if error.operation().is_none() { error.during(self.operation) } else { error };
        let error = match error.backend() {
            None if !self.backend.is_empty() => error.on(self.backend),
            _ => error,
        };
        if self.repeatable { error } else { error.unrepeatable() }
    }

    /// Returns how long the backend recognises a repetition; `None` if it recognises none, or if the call is not a
    /// change.
    pub(crate) fn remembered_for(&self) -> Option<Duration> {
        (self.repeatable && self.kind == Kind::Change).then_some(self.remembered)
    }
}

/// What a [`Call`] may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The call changes nothing, but it may create the namespace that it reads.
    Read,
    /// The call changes one thing, in one atomic step.
    Change,
    /// The call takes as many steps as its arguments or the backend's state require: batches of any size, setup and
    /// maintenance. Such a call has no natural time limit.
    Batch,
}

/// A part of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// The backend as a whole.
    Store,
    /// [`ItemBank`](crate::ItemBank).
    Bank,
    /// [`DedupRepo`](crate::DedupRepo).
    Records,
    /// [`LeaseRepo`](crate::LeaseRepo).
    Leases,
    /// [`TokenStore`](crate::TokenStore).
    Tokens,
    /// [`EntityLedger`](crate::EntityLedger).
    Entities,
    /// [`Counter`](crate::Counter).
    Counters,
    /// [`Ledger`](crate::Ledger).
    Ledger,
    /// [`OrderedStore`](crate::OrderedStore).
    OrderedValues,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Store => "store",
            Self::Bank => "bank",
            Self::Records => "records",
            Self::Leases => "leases",
            Self::Tokens => "tokens",
            Self::Entities => "entities",
            Self::Counters => "counters",
            Self::Ledger => "ledger",
            Self::OrderedValues => "ordered values",
        })
    }
}
