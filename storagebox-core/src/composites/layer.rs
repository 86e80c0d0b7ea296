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
//! use storagebox_core::layer::{Call, Layer, Layered, Next, Response};
//! use storagebox_core::{Backend, Hold, ItemBank, Result, Taken, async_trait};
//! use storagebox_memory::MemoryStore;
//!
//! #[derive(Debug, Default)]
//! struct Calls(AtomicU64);
//!
//! #[async_trait]
//! impl Layer for Calls {
//!     async fn call(&self, _call: &Call<'_>, next: Next<'_>) -> Result<Response> {
//!         self.0.fetch_add(1, Ordering::Relaxed);
//!         next.run().await
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
mod call;
mod layered;
mod layered_part;
mod part;
mod policy;
mod request;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::values::error::Result;

pub use call::{Call, Kind, Next};
pub use layered::Layered;
pub use layered_part::LayeredPart;
pub use part::{OnePart, Part};
pub use policy::Policy;
pub use request::{Request, Response};

/// Code that runs around every call of a backend.
///
/// # Guarantees
///
/// - ER-4: a layer that repeats a call repeats the same operation, with the same id, because it cannot change the
///   arguments.
/// - ER-5: a layer that repeats a call after an unknown outcome says so with [`Next::after_lost`].
///
/// # Cancel safety
///
/// A layer may drop a call that it has begun, as [`Policy`] does after its deadline. The outcome of the call is then
/// unknown.
///
/// # Errors
///
/// A layer returns the error of the call, or an error of its own. After a call that it dropped, or whose answer it
/// dropped, the error is [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown), unless the call is a
/// [`Read`](Kind::Read).
#[async_trait]
pub trait Layer: Debug + Send + Sync + 'static {
    /// Answers the call, with the response of [`Next::run`], another response of the same operation, or an error.
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response>;

    /// Returns whether the calls [within a transaction](crate::Backend::within) of the caller go through the layer.
    /// Defaults to `true`. A layer that repeats calls or drops them returns `false` (J-2).
    fn joins(&self) -> bool {
        true
    }
}

/// Lets a shared layer be used as a layer, for example to inspect it after a test.
#[async_trait]
impl<L: Layer + ?Sized> Layer for Arc<L> {
    async fn call(&self, call: &Call<'_>, next: Next<'_>) -> Result<Response> {
        (**self).call(call, next).await
    }

    fn joins(&self) -> bool {
        (**self).joins()
    }
}
