//! What a backend's author writes: how to get an empty place, open it, and look at it from outside.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Error, ErrorKind, ListedItem, ManualClock, Namespace, Reading, Result, async_trait};

use crate::part::{Family, Part};

/// Gives the suite stores to test.
///
/// For a store that lives in this process, [`Embedded`](crate::Embedded) is a complete harness.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Returns the name that reports show, with the server and its version if there is one.
    fn name(&self) -> String;

    /// Returns what the backend claims. A part may be left out as a whole, a promise of a part may not.
    fn declared(&self) -> Declared;

    /// Creates an empty sandbox that no other case sees, and does not set it up. A store that needs no setup returns what
    /// [`fresh`](Self::fresh) does.
    async fn bare(&self) -> Result<Box<dyn Sandbox>>;

    /// Creates an empty sandbox that no other case sees, set up.
    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        let sandbox = self.bare().await?;
        sandbox.open().await?.setup().await?;
        Ok(sandbox)
    }

    /// Creates an empty sandbox whose server can be restarted while other cases run: one with a server of its own. The
    /// default is for servers that nobody else uses.
    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        self.fresh().await
    }
}

#[async_trait]
impl Harness for Box<dyn Harness> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn declared(&self) -> Declared {
        (**self).declared()
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        (**self).bare().await
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        (**self).fresh().await
    }

    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        (**self).fresh_alone().await
    }
}

/// One empty place for one case: a schema, a folder, a prefix of keys. Dropping it removes the place.
#[async_trait]
pub trait Sandbox: Send + Sync + 'static {
    /// Opens a new client: a new connection, as another process would have. A store that only one process can open
    /// returns another handle. A place that is not set up can be opened too: see [`connected`].
    async fn open(&self) -> Result<Arc<dyn Backend>>;

    /// Returns the whole contents of a bank, read past the library where that is possible. Nothing is proven without
    /// it. [`listed`](crate::listed) reads them with the library.
    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>>;

    /// Returns the clock by which the store judges expiry, if it can be moved on. Without one the suite waits,
    /// and leaves out the cases that would wait for days.
    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        None
    }

    /// Returns where the server listens, for the proxy that the suite puts in front of it. `None` for a store without a
    /// network, which declares that it has none.
    fn upstream(&self) -> Option<SocketAddr> {
        None
    }

    /// Opens a new client, as [`open`](Self::open) does, that connects to this address instead of the server's. Without
    /// TLS: the proxy looks for ids in what it carries. Its calls must wait for an answer longer than three minutes,
    /// after which a case in which nothing happens is ended.
    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        let _ = proxy;
        Err(Error::unsupported("a proxy", "a sandbox that opens a store through one"))
    }

    /// Returns how a text of a call looks in what a client sends, for the proxy, which waits for ids. The same text,
    /// unless the backend encodes it.
    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    /// Returns what tells another process where the place is, for the opener of [`neighbour`](crate::neighbour): one
    /// line, such as a URL or a path. `None` for a store that no other process can open, which declares it.
    fn address(&self) -> Option<String> {
        None
    }

    /// Ends the server of a sandbox from [`fresh_alone`](Harness::fresh_alone), starts it again, and returns when it
    /// accepts connections; only for backends that declare it. Clients that were open stay so, and reconnect.
    async fn restart(&self, how: Restart) -> Result<()> {
        Err(Error::unsupported(format_args!("{how:?}"), "a sandbox that restarts its server"))
    }
}

/// Returns the store once it is connected, whether it is set up or not: a case that drops calls where they wait is not
/// about the wait for a connection.
///
/// # Errors
///
/// The errors of [`ping`](Backend::ping) but `NotSetUp`.
pub async fn connected(store: impl Backend) -> Result<Arc<dyn Backend>> {
    match store.ping().await {
        Err(error) if error.kind() != ErrorKind::NotSetUp => Err(error),
        _ => Ok(Arc::new(store)),
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

/// A clock that a test moves.
pub trait TestClock: Send + Sync {
    /// Moves the time on.
    fn advance(&self, duration: Duration);

    /// Sets the time back, by no more than it was moved on.
    fn turn_back(&self, duration: Duration);

    /// Has this function answer each later reading of the clock, as [`ManualClock::intercept`] does, and returns whether it
    /// will: not the clock of a server.
    fn intercept(&self, reading: Option<Reading>) -> bool {
        let _ = reading;
        false
    }
}

impl TestClock for ManualClock {
    fn advance(&self, duration: Duration) {
        Self::advance(self, duration);
    }

    fn turn_back(&self, duration: Duration) {
        Self::turn_back(self, duration);
    }

    fn intercept(&self, reading: Option<Reading>) -> bool {
        Self::intercept(self, reading);
        true
    }
}

/// What a backend claims.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    left_out: BTreeMap<Part, String>,
    network: Option<String>,
    restart: Option<String>,
    processes: Option<String>,
    beside: Option<String>,
    answers: Option<String>,
}

impl Declared {
    /// Every part, a network on the way to the server, a server that can be restarted, and other processes.
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

    /// No other process can open the store; the cases of other processes are reported as ignored, with the reason.
    #[must_use]
    pub fn without_processes(mut self, reason: impl Into<String>) -> Self {
        self.processes = Some(reason.into());
        self
    }

    /// One process has the store at a time: it is free for another one when every client of the first is closed. The
    /// cases of processes that work at the same time are reported as ignored, with the reason.
    #[must_use]
    pub fn one_process_at_a_time(mut self, reason: impl Into<String>) -> Self {
        self.beside = Some(reason.into());
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

    pub(crate) fn left_out(&self) -> impl Iterator<Item = Part> {
        self.left_out.keys().copied()
    }

    /// Whether an earlier attempt of a call may still be under way after the call was answered.
    pub(crate) fn loses_answers(&self) -> bool {
        self.answers.is_some()
    }

    /// Why a case of this family that works with these parts cannot be run, if it cannot: what is left out, and the
    /// harness's reason.
    pub(crate) fn lacks(
        &self,
        mut parts: impl Iterator<Item = Part>,
        family: Family,
        answered: bool,
    ) -> Option<String> {
        let part = parts.find_map(|part| Some((part.name(), self.left_out.get(&part)?)));
        let other_processes = self.processes.as_ref().map(|why| ("other processes", why));
        let power = match family {
            Family::Network => self.network.as_ref().map(|why| ("a network", why)),
            Family::Crash => self.restart.as_ref().map(|why| ("restarts", why)),
            Family::Process => other_processes,
            Family::Beside => other_processes.or(self.beside.as_ref().map(|why| ("processes at the same time", why))),
            _ => None,
        };
        let answers = self.answers.as_ref().filter(|_| answered).map(|why| ("an answer to each call", why));
        part.or(power).or(answers).map(|(what, why)| format!("without {what}: {why}"))
    }
}
