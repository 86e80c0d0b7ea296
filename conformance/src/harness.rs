//! What a backend's author writes: how to get an empty place, open it, and look at it from outside.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, ListedItem, ManualClock, Namespace, Result, async_trait};

use crate::case::{Case, Family, Part};

/// Gives the suite stores to test.
///
/// # Example
///
/// See `storagebox-memory/tests/conformance.rs`: about twenty lines.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// The name that reports show, with the server and its version where there is one.
    fn name(&self) -> String;

    /// What the backend claims. A part may be left out as a whole, a promise of a part may not.
    fn declared(&self) -> Declared;

    /// A new, empty place that no other case sees, set up.
    async fn fresh(&self) -> Result<Sandbox>;

    /// A new client of it: a new connection, as another process would have.
    async fn open(&self, sandbox: &Sandbox) -> Result<Arc<dyn Backend>>;

    /// The whole contents of a bank, read past the library where that is possible. Nothing is proven without it.
    async fn audit(&self, sandbox: &Sandbox, bank: &Namespace) -> Result<Vec<ListedItem>>;

    /// The clock by which the store judges expiry, if it can be moved on. Without one the suite waits.
    fn clock(&self, _sandbox: &Sandbox) -> Option<Arc<dyn TestClock>> {
        None
    }

    /// Where the server listens, for the proxy that the suite puts in front of it. `None` for a store without a
    /// network, which declares that it has none.
    fn upstream(&self, _sandbox: &Sandbox) -> Option<SocketAddr> {
        None
    }

    /// A new client of it, as [`open`](Self::open), that connects to this address instead of the server's. Without TLS:
    /// the proxy looks for ids in what it carries. Its calls must wait for an answer longer than three
    /// minutes, after which a case in which nothing happens is ended.
    async fn open_through(&self, _sandbox: &Sandbox, _proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        Err(storagebox_core::Error::unsupported("a proxy", "a harness that opens a store through one"))
    }

    /// How a text of a call looks in what a client sends, for the proxy, which waits for ids. As it is, unless the
    /// backend encodes it.
    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    /// A new, empty place whose server can be restarted while other cases run: one with a server of its own. The
    /// default is for servers that nobody else uses.
    async fn fresh_alone(&self) -> Result<Sandbox> {
        self.fresh().await
    }

    /// Ends the server of a place from [`fresh_alone`](Self::fresh_alone) and starts it again, and answers when it can
    /// be connected to; only for backends that declare it. Clients that were open stay so, and find their way back.
    async fn restart(&self, _sandbox: &Sandbox, how: Restart) -> Result<()> {
        Err(storagebox_core::Error::unsupported(format_args!("{how:?}"), "a harness that restarts its server"))
    }
}

/// How a server is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// In good order.
    Clean,
    /// By killing its process.
    Kill,
}

/// A clock that a test moves on.
pub trait TestClock: Send + Sync {
    /// Moves the time on.
    fn advance(&self, duration: Duration);
}

impl TestClock for ManualClock {
    fn advance(&self, duration: Duration) {
        Self::advance(self, duration);
    }
}

/// One empty place, with whatever keeps it alive; dropping it removes it.
pub struct Sandbox {
    name: String,
    guard: Box<dyn Any + Send + Sync>,
}

impl Sandbox {
    /// A place with what keeps it alive: a store, a temporary folder, a schema that is dropped in the end.
    pub fn new(name: impl Into<String>, guard: impl Any + Send + Sync) -> Self {
        Self { name: name.into(), guard: Box::new(guard) }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What keeps it alive, if it is of this type.
    pub fn guard<T: Any>(&self) -> Option<&T> {
        self.guard.downcast_ref()
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a backend claims.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    left_out: BTreeMap<Part, String>,
    network: Option<String>,
    restart: Option<String>,
    answers: Option<String>,
}

impl Declared {
    /// Every part, a network on the way to the server, and a server that can be restarted.
    pub fn all() -> Self {
        Self::default()
    }

    /// Leaves out a part as a whole. Its cases are reported as ignored, with the reason, and so are those of
    /// `values`, `errors` and `store` that work with it.
    #[must_use]
    pub fn without(mut self, part: Part, reason: impl Into<String>) -> Self {
        self.left_out.insert(part, reason.into());
        self
    }

    /// Leaves out cut connections; their cases are reported as ignored, with the reason.
    #[must_use]
    pub fn without_network(mut self, reason: impl Into<String>) -> Self {
        self.network = Some(reason.into());
        self
    }

    /// Leaves out restarts; their cases are reported as ignored, with the reason.
    #[must_use]
    pub fn without_restart(mut self, reason: impl Into<String>) -> Self {
        self.restart = Some(reason.into());
        self
    }

    /// The way to the server loses answers, and the harness makes such calls again, as callers do. Ignored, with the
    /// reason, are the cases for which that is another call by contract: `Atomic`, which counts again (C-1, and S-4
    /// where a namespace is opened by each strategy in turn), as does `Optimistic` beside other writers and a ledger
    /// that compacts what is still under way; the history of one ordered value, because `Stale` does not say whether a
    /// write was once applied (O-1); and claims that are retired, because nobody can make sure that no earlier call of
    /// them is under way (IB-7). For the same reason no case outlasts the store's memory. All others must hold.
    #[must_use]
    pub fn with_lost_answers(mut self, reason: impl Into<String>) -> Self {
        self.answers = Some(reason.into());
        self
    }

    /// Whether an earlier attempt of a call may still be under way after the call was answered.
    pub(crate) fn loses_answers(&self) -> bool {
        self.answers.is_some()
    }

    /// Why a case cannot be run, if it cannot.
    pub(crate) fn ignores(&self, case: &Case) -> Option<&str> {
        let power = match case.family() {
            Family::Network => &self.network,
            Family::Crash => &self.restart,
            _ => &None,
        };
        let answers = self.answers.as_ref().filter(|_| case.needs_each_answer());
        let left_out = [case.part()].iter().chain(case.needs()).find_map(|part| self.left_out.get(part));
        left_out.or(power.as_ref()).or(answers).map(String::as_str)
    }
}
