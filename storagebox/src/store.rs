//! A store, as a program holds it.

mod capabilities;
mod parts;
mod within;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::layer::{Layer, Layered, Policy};
use storagebox_core::{Backend, Maintained, Promises, Result, Retry, Timer};

use crate::policy::{around, default_policy};

pub use capabilities::Capabilities;
pub use within::Within;

/// A store with its retry policy. Opens parts by name.
///
/// Cheap to clone: clones share one backend. Opening a part does no I/O.
///
/// # Calls are repeated and bounded
///
/// After a [retryable](crate::Error::is_retryable) error, an unknown outcome included, the store retries the call with
/// the same operation id: at most six attempts within 30 seconds. Only then does the caller see the error. As long as
/// every attempt was refused, none begins that the time limit would probably cut off, which would make a doubt of it.
/// [`with_retry`](Store::with_retry), [`with_deadline`](Store::with_deadline), [`without_retry`](Store::without_retry)
/// and [`without_deadline`](Store::without_deadline) change that. Batches, set-up and upkeep have no deadline.
///
/// A counter change that cannot recognise its own retry, such as a change with
/// [`Strategy::Atomic`](crate::Strategy::Atomic), is never retried after an unknown outcome. A change with another
/// strategy is retried after an unknown outcome only within half of the time for which its operation is remembered;
/// time for which the machine sleeps counts. Each store remembers tokens, claims and ended operations for a limited
/// time (`remember`). This time must be longer than the retries of a call take. Otherwise a retry may arrive after its
/// operation is forgotten.
///
/// Every method that makes calls needs a tokio runtime with time enabled. The memory backend needs none if
/// [`with_timer`](Store::with_timer) sets another timer.
///
/// The report of a batch (`add`, `withdraw`, `restore`, `create`, `discard`, `compact`, `purge`, `maintain`) describes
/// its last attempt: after a lost reply it counts what the lost attempt did as already done.
///
/// # Example
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> storagebox::Result<()> {
/// use storagebox::{Store, Taken};
///
/// let store = Store::open("memory:").await?;
/// let vouchers = store.bank("vouchers")?;
/// vouchers.add(["SAVE-10", "SAVE-20"]).await?;
///
/// let email = String::from("ada@example.com");
/// match vouchers.assign(&email).await? {
///     Taken::New(held) | Taken::Again(held) => println!("{}", held.item.as_str()),
///     Taken::Empty => println!("sold out"),
///     Taken::Ended(_) => println!("the claim was released before"),
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Store {
    /// The backend with the program's layers, but without the policy.
    inner: Arc<dyn Backend>,
    policy: Policy,
    /// The backend `inner` with the layer that applies the policy.
    backend: Arc<dyn Backend>,
}

impl Store {
    /// Opens a store by URL, as [`open`](crate::parts::open()) does. The first call connects.
    ///
    /// # Errors
    ///
    /// Returns `Misconfigured` if no backend reads the URL, and `Unsupported` if this build does not have the backend.
    pub async fn open(url: impl AsRef<str>) -> Result<Self> {
        crate::open::open(url.as_ref()).await.map(|backend| Self::of(backend, default_policy()))
    }

    /// Creates a store from a backend.
    ///
    /// ```
    /// use storagebox::{MemoryStore, Store};
    ///
    /// let store = Store::new(MemoryStore::new());
    /// assert_eq!(store.backend(), "memory");
    /// ```
    pub fn new(backend: impl Backend) -> Self {
        Self::of(Arc::new(backend), default_policy())
    }

    fn of(inner: Arc<dyn Backend>, policy: Policy) -> Self {
        let backend = around(&policy, &inner);
        Self { inner, policy, backend }
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Adds a layer around each call of the backend, outside the layers that were added before. The layer sees each
    /// attempt, because retries and the deadline are outside all layers.
    #[must_use]
    pub fn layer(self, layer: impl Layer) -> Self {
        Self::of(Arc::new(Layered::new(self.inner, Arc::new(layer))), self.policy)
    }

    /// Sets how a call is retried. Defaults to [`Retry::default`].
    #[must_use]
    pub fn with_retry(self, retry: Retry) -> Self {
        let policy = Policy { retry: Some(retry), ..self.policy };
        Self::of(self.inner, policy)
    }

    /// Passes each call to the backend once. The caller retries [retryable](crate::Error::is_retryable) errors with the
    /// same id. A backend may still repeat a request within a call, with the same id and within the call's own timeout,
    /// after a conflict or a lost reply.
    /// Recording the result of a [run](crate::Dedup::run) is still retried as often as necessary, because the work
    /// cannot be done again.
    #[must_use]
    pub fn without_retry(self) -> Self {
        let policy = Policy { retry: None, ..self.policy };
        Self::of(self.inner, policy)
    }

    /// Sets how long a call may take, all its attempts included. Defaults to 30 seconds.
    ///
    /// After this time the call is dropped and returns `OutcomeUnknown`, or `Unavailable` if it only reads.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        let policy = Policy { deadline: Some(deadline), ..self.policy };
        Self::of(self.inner, policy)
    }

    /// Limits a call only by its number of attempts. Each attempt has the backend's own timeout.
    #[must_use]
    pub fn without_deadline(self) -> Self {
        let policy = Policy { deadline: None, ..self.policy };
        Self::of(self.inner, policy)
    }

    /// Sets the timer of retries, deadlines and runs. Defaults to [`TokioTimer`](crate::time::TokioTimer).
    #[must_use]
    pub fn with_timer(self, timer: impl Timer + 'static) -> Self {
        let policy = Policy { timer: Arc::new(timer), ..self.policy };
        Self::of(self.inner, policy)
    }

    /// Creates the schema or table if it does not exist. Idempotent (S-1).
    ///
    /// # Errors
    ///
    /// Returns `Denied` if the credentials may not create it.
    pub async fn setup(&self) -> Result<()> {
        self.backend.setup().await
    }

    /// Checks that the store is reachable and set up.
    ///
    /// # Errors
    ///
    /// Returns `Unavailable` if the store is not reachable, `NotSetUp` if it is not set up, and `Denied` if it refuses
    /// the credentials.
    pub async fn ping(&self) -> Result<()> {
        self.backend.ping().await
    }

    /// Deletes at most `max_entries` entries that no guarantee needs any more (S-2). A retry after a lost reply counts
    /// from zero, so the total may be higher.
    ///
    /// # Errors
    ///
    /// The errors of the backend. Any of the entries may have been deleted.
    pub async fn maintain(&self, max_entries: usize) -> Result<Maintained> {
        self.backend.maintain(max_entries).await
    }

    /// Closes the connections after the calls in progress have ended.
    ///
    /// # Errors
    ///
    /// The errors of the backend.
    pub async fn close(&self) -> Result<()> {
        self.backend.close().await
    }

    /// Returns which parts the store has, without a call.
    ///
    /// # Errors
    ///
    /// The errors of a backend that cannot open a part, other than `Unsupported`.
    pub fn capabilities(&self) -> Result<Capabilities> {
        Capabilities::of(&*self.backend)
    }

    /// Returns the guarantees and limits of the backend, as text for people to read.
    pub fn promises(&self) -> Promises {
        self.backend.promises()
    }

    /// Returns the backend's short name, such as `memory`.
    pub fn backend(&self) -> &'static str {
        self.backend.backend()
    }

    /// Returns the backend with all layers of this handle, for code that uses the traits.
    pub fn as_backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }
}

impl<B: Backend> From<B> for Store {
    fn from(backend: B) -> Self {
        Self::new(backend)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Policy { retry, deadline, .. } = &self.policy;
        f.debug_struct("Store")
            .field("backend", &self.backend())
            .field("retry", retry)
            .field("deadline", deadline)
            .finish_non_exhaustive()
    }
}
