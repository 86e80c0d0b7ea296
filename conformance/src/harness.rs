//! What the author of a backend implements: how to create an empty sandbox, open it, and inspect it from outside.

use std::any::Any;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{Backend, Error, ErrorKind, ListedItem, ManualClock, Namespace, Reading, Result, async_trait};

use crate::part::{Family, Part};

/// The beginning of each reason for ignoring a case.
pub(crate) const WITHOUT: &str = "without ";

/// Gives the suite stores to test.
///
/// For a store that lives in this process, [`Embedded`](crate::Embedded) is a complete harness.
#[async_trait]
pub trait Harness: Send + Sync + 'static {
    /// Returns the name that reports show, with the server and its version if there is one.
    fn name(&self) -> String;

    /// Returns what the backend declares. A backend may leave out whole parts, but it must keep every promise of the
    /// parts that it has.
    fn declared(&self) -> Declared;

    /// Creates an empty sandbox that is not set up and that no other case sees. For a store that needs no setup,
    /// returns the same as [`fresh`](Self::fresh).
    async fn bare(&self) -> Result<Box<dyn Sandbox>>;

    /// Creates an empty sandbox that no other case sees, and sets it up.
    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        let sandbox = self.bare().await?;
        sandbox.open().await?.setup().await?;
        Ok(sandbox)
    }

    /// Creates an empty sandbox on a server that no other sandbox uses, so that the server can be restarted. Defaults
    /// to [`fresh`](Self::fresh), for harnesses whose sandboxes share no server.
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

/// An empty place for one case, such as a schema, a directory or a key prefix. Dropping it removes the place.
#[async_trait]
pub trait Sandbox: Send + Sync + 'static {
    /// Opens a new client with a new connection, as another process would have. For a store that only one process can
    /// open, returns another handle of the same store. A sandbox that is not set up can be opened too: see
    /// [`connected`].
    async fn open(&self) -> Result<Arc<dyn Backend>>;

    /// Returns the whole contents of a bank, which the suite compares with the answers of calls. Reads without the
    /// library if possible; [`listed`](crate::listed) reads with the library.
    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>>;

    /// Returns the clock by which the store judges expiry, if the suite can move it. Without such a clock the suite
    /// waits, and leaves out the cases that would wait for days.
    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        None
    }

    /// Returns the address of the server, for the proxy that the suite puts in front of the server. Returns `None` for
    /// a store without a network, whose harness must declare [`without_network`](Declared::without_network).
    fn upstream(&self) -> Option<SocketAddr> {
        None
    }

    /// Opens a new client, as [`open`](Self::open) does, that connects to this address instead of the server's. The
    /// connection must not use TLS, because the proxy searches the traffic for ids. A call must wait more than three
    /// minutes for an answer, because the suite ends a case after three minutes without progress.
    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        let _ = proxy;
        Err(Error::unsupported("a proxy", "a sandbox that opens a store through one"))
    }

    /// Returns the bytes that represent a text of the call in a client's request. The proxy searches requests for these
    /// bytes. Defaults to the bytes of the text.
    fn on_the_wire(&self, text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    /// Returns one line, such as a URL or a path, by which another process finds the sandbox.
    /// [`neighbour`](crate::neighbour) passes the line to its opener. Returns `None` for a store that no other process
    /// can open, whose harness must declare [`without_processes`](Declared::without_processes).
    fn address(&self) -> Option<String> {
        None
    }

    /// Begins a transaction of a caller in the database of the store, on a separate connection. Called only for
    /// backends that declare [`Part::Transactions`].
    async fn begin(&self) -> Result<Box<dyn CallerTransaction>> {
        Err(Error::unsupported("a transaction of a caller", "a sandbox that begins one"))
    }

    /// Connects to the database of the store as [`begin`](Self::begin) does, but begins no transaction. If the store
    /// can join only transactions and no connections, returns a value that the store refuses to join.
    async fn connect(&self) -> Result<Box<dyn CallerTransaction>> {
        Err(Error::unsupported("a connection of a caller", "a sandbox that begins transactions"))
    }

    /// Stops the server of a sandbox from [`fresh_alone`](Harness::fresh_alone), starts it again, and returns when it
    /// accepts connections. Called only for backends that declare restarts. Open clients stay open and reconnect.
    async fn restart(&self, how: Restart) -> Result<()> {
        Err(Error::unsupported(format_args!("{how:?}"), "a sandbox that restarts its server"))
    }
}

/// A transaction of a caller, in the database of a store. Dropping it rolls it back.
#[async_trait]
pub trait CallerTransaction: Send {
    /// Returns the connection in the form that [`Backend::within`] accepts.
    fn connection(&mut self) -> &mut (dyn Any + Send);

    /// Commits the transaction. Returns an error if the transaction was not committed.
    async fn commit(self: Box<Self>) -> Result<()>;

    /// Rolls back the transaction.
    async fn rollback(self: Box<Self>) -> Result<()>;
}

/// Returns the store once it is connected, whether it is set up or not. Cases that drop calls at their await points
/// must not drop them while they wait for a connection.
///
/// # Errors
///
/// Returns the errors of [`ping`](Backend::ping) except `NotSetUp`.
pub async fn connected(store: impl Backend) -> Result<Arc<dyn Backend>> {
    match store.ping().await {
        Err(error) if error.kind() != ErrorKind::NotSetUp => Err(error),
        _ => Ok(Arc::new(store)),
    }
}

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The server shuts down normally.
    Clean,
    /// The process of the server is killed.
    Kill,
}

/// A clock that a test moves.
pub trait TestClock: Send + Sync {
    /// Moves the clock forward.
    fn advance(&self, duration: Duration);

    /// Moves the clock back, by no more than the clock was moved forward.
    fn turn_back(&self, duration: Duration);

    /// Replaces each later reading of the clock by `reading`, as [`ManualClock::intercept`] does. `None` restores the
    /// readings of the clock itself. Returns `false` if the clock cannot be intercepted, for example because the clock
    /// is in a server.
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

/// What a backend declares to support.
#[derive(Clone, Debug)]
pub struct Declared {
    left_out: BTreeMap<Part, String>,
    network: Option<String>,
    restart: Option<String>,
    processes: Option<String>,
    beside: Option<String>,
    answers: Option<String>,
}

impl Declared {
    /// Declares every part of a store, a network between client and server, a server that can be restarted, and other
    /// processes. Transactions of callers are declared [apart](Self::with_transactions).
    pub fn all() -> Self {
        let (network, restart, processes, beside, answers) = Default::default();
        let left_out = BTreeMap::from([(Part::Transactions, "the harness begins none".to_owned())]);
        Self { left_out, network, restart, processes, beside, answers }
    }

    /// Declares that the store joins transactions of callers, which [`Sandbox::begin`] begins.
    #[must_use]
    pub fn with_transactions(mut self) -> Self {
        self.left_out.remove(&Part::Transactions);
        self
    }

    /// Leaves out a whole part. Its cases are reported as ignored, with the reason, and so are the cases of `values`,
    /// `errors` and `store` that use the part.
    #[must_use]
    pub fn without(mut self, part: Part, reason: impl Into<String>) -> Self {
        self.left_out.insert(part, reason.into());
        self
    }

    /// Declares that connections cannot be cut. The cases that cut them are reported as ignored, with the reason.
    #[must_use]
    pub fn without_network(mut self, reason: impl Into<String>) -> Self {
        self.network = Some(reason.into());
        self
    }

    /// Declares that the server cannot be restarted. The cases that restart it are reported as ignored, with the
    /// reason.
    #[must_use]
    pub fn without_restart(mut self, reason: impl Into<String>) -> Self {
        self.restart = Some(reason.into());
        self
    }

    /// Declares that no other process can open the store. The cases with other processes are reported as ignored, with
    /// the reason.
    #[must_use]
    pub fn without_processes(mut self, reason: impl Into<String>) -> Self {
        self.processes = Some(reason.into());
        self
    }

    /// Declares that only one process can have the store open at a time: another process can open it when every client
    /// of the first is closed. The cases with concurrent processes are reported as ignored, with the reason.
    #[must_use]
    pub fn one_process_at_a_time(mut self, reason: impl Into<String>) -> Self {
        self.beside = Some(reason.into());
        self
    }

    /// Declares that answers of the server can be lost, and that the harness repeats such calls, as callers do. Some
    /// cases are ignored, with the reason, because a repeated call is by contract a different call:
    ///
    /// - `Atomic` counts again (C-1, and S-4 where a namespace is opened by each strategy in turn). So do `Optimistic`
    ///   with concurrent writers, and a ledger that compacts an entry whose call is still in flight.
    /// - The history of one ordered value: `Stale` does not say whether a write was applied earlier (O-1).
    /// - Claims that are retired: the caller cannot make sure that no earlier call of the claim is in flight (IB-7).
    ///   For the same reason no case waits until the store forgets.
    ///
    /// All other cases must hold.
    #[must_use]
    pub fn with_lost_answers(mut self, reason: impl Into<String>) -> Self {
        self.answers = Some(reason.into());
        self
    }

    pub(crate) fn left_out(&self) -> impl Iterator<Item = Part> {
        self.left_out.keys().copied()
    }

    /// Returns whether an earlier attempt of a call may still be in flight after the call was answered.
    pub(crate) fn loses_answers(&self) -> bool {
        self.answers.is_some()
    }

    /// Returns why the backend cannot run a case of this family that needs these parts, or `None` if the backend can
    /// run the case.
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
        part.or(power).or(answers).map(|(what, why)| format!("{WITHOUT}{what}: {why}"))
    }
}
