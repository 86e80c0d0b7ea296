//! A TCP proxy that cuts the connection to a server when a request holds a given text.
//!
//! The proxy reads what it carries, so connections must have no TLS and no compression.

mod connection;
mod trap;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use connection::Connection;
use trap::Trap;

/// What happens to a request that holds the given text (the needle), and to its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The request does not reach the server; the connection is reset.
    RequestLost,
    /// A part of the request reaches the server, too little to be executed; the connection is reset.
    HalfRequest,
    /// The server gets the whole request. After the server has finished or closed the connection, the client's
    /// connection is reset without an answer.
    ReplyLost,
    /// As [`ReplyLost`](Self::ReplyLost), but a part of the answer arrives, and then the connection ends.
    HalfReply,
    /// The server answers the request or closes the connection. The client gets nothing more, and its connection stays
    /// open.
    NoAnswer,
    /// The proxy keeps the request, and all later bytes of the same connection, until [`Proxy::let_go`] delivers them.
    /// The client gets nothing, and its connection stays open.
    Kept,
}

impl Cut {
    /// All cuts that need no further call.
    pub const ALL: [Self; 5] = [Self::RequestLost, Self::HalfRequest, Self::ReplyLost, Self::HalfReply, Self::NoAnswer];
}

/// A TCP proxy in front of a server. Dropping it closes all its connections.
///
/// # Example
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use storagebox_conformance::{Cut, Proxy};
///
/// let proxy = Proxy::start("127.0.0.1:6379".parse()?).await?;
/// proxy.arm(Cut::ReplyLost, "order-17", 0);
/// // ... a client that is connected to `proxy.addr()` makes a call with that id: it is done, and it fails.
/// assert_eq!(proxy.cuts(), 1);
/// # Ok(()) }
/// ```
pub struct Proxy {
    addr: SocketAddr,
    plan: Arc<Plan>,
    accepting: JoinHandle<()>,
}

struct Plan {
    upstream: SocketAddr,
    trap: Mutex<Option<Trap>>,
    /// How long each new connection waits after a cut, before the proxy connects it to the server.
    wait: Mutex<Duration>,
    cuts: watch::Sender<usize>,
    /// Whether the proxy delivers kept requests.
    lets_go: watch::Sender<bool>,
    /// The number of times that the proxy ended all its connections.
    ends: watch::Sender<usize>,
    delivered: watch::Sender<usize>,
    kept: AtomicUsize,
    round_trips: AtomicUsize,
    slices: AtomicBool,
}

impl Proxy {
    /// Starts a proxy in front of this address, on a free port. Must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if no port is free.
    pub async fn start(upstream: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let plan = Arc::new(Plan {
            upstream,
            trap: Mutex::default(),
            wait: Mutex::default(),
            cuts: watch::Sender::default(),
            lets_go: watch::Sender::default(),
            ends: watch::Sender::default(),
            delivered: watch::Sender::default(),
            kept: AtomicUsize::default(),
            round_trips: AtomicUsize::default(),
            slices: AtomicBool::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&plan)));
        Ok(Self { addr, plan, accepting })
    }

    /// Returns the address that clients connect to.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Cuts the next request that holds the needle, on any connection, after `passing` such requests have passed. The
    /// cut happens once; arming again replaces the armed cut.
    pub fn arm(&self, cut: Cut, needle: impl AsRef<[u8]>, passing: usize) {
        self.plan.set(Some(Trap::new(cut, needle.as_ref(), passing)));
    }

    /// Cuts a request of the call whose requests hold the needle, after `passing` requests of the call have passed.
    /// Requests that follow on the connection of the needle count too: a COMMIT holds no id. The caller
    /// [disarms](Self::disarm) when the call ends, so that what the connection does afterwards does not count.
    pub(crate) fn arm_call(&self, cut: Cut, needle: impl AsRef<[u8]>, passing: usize) {
        self.plan.set(Some(Trap::of_call(cut, needle.as_ref(), passing)));
    }

    /// Cuts every `every`th request that holds the needle, on any connection, until another cut is armed or
    /// [`disarm`](Self::disarm) is called: with 3 the third, the sixth, and so on; with 0 or 1 each request.
    pub fn arm_every(&self, cut: Cut, needle: impl AsRef<[u8]>, every: usize) {
        self.plan.set(Some(Trap::again_and_again(cut, needle.as_ref(), every.saturating_sub(1))));
    }

    /// Delays connections that are opened after a cut by this time before they reach the server. If the client is gone
    /// by then, what it has sent is lost.
    pub fn delay_after_cuts(&self, wait: Duration) {
        *self.plan.wait.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }

    /// Disarms the cut. Connections that were cut stay cut. Returns whether the armed cut was still waiting for its
    /// request. If not, the request has been cut or is being cut.
    pub fn disarm(&self) -> bool {
        self.plan.set(None).is_some()
    }

    /// Returns the number of cuts. A cut is counted before its client can notice it.
    pub fn cuts(&self) -> usize {
        *self.plan.cuts.borrow()
    }

    /// Waits until `count` cuts were made. With [`Cut::NoAnswer`], this shows that a request was answered.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only waits.
    pub async fn wait_for_cuts(&self, count: usize) {
        // The sender lives as long as this proxy, so only the cut ends the wait.
        let _ = self.plan.cuts.subscribe().wait_for(|made| *made >= count).await;
    }

    /// Resets all present connections at once, as a server does that ends idle connections.
    pub fn end_connections(&self) {
        self.plan.ends.send_modify(|ends| *ends += 1);
    }

    /// Delivers every request that was [kept](Cut::Kept), and waits until the server has answered it or is gone.
    ///
    /// # Cancel safety
    ///
    /// Safe. The requests are delivered all the same.
    pub async fn let_go(&self) {
        self.plan.lets_go.send_replace(true);
        let kept = self.plan.kept.load(Ordering::SeqCst);
        let _ = self.plan.delivered.subscribe().wait_for(|delivered| *delivered >= kept).await;
    }

    /// Returns whether [`let_go`](Self::let_go) was called.
    pub(crate) fn has_let_go(&self) -> bool {
        *self.plan.lets_go.borrow()
    }

    /// Sets whether the proxy sends each byte separately from now on, so that both sides read in small pieces.
    pub fn slice(&self, on: bool) {
        self.plan.slices.store(on, Ordering::SeqCst);
    }

    /// Returns the number of round trips on all connections, including the greetings. A round trip begins when a client
    /// sends first, or after the server has sent. A request of several segments counts once, as do several requests
    /// before an answer.
    pub fn round_trips(&self) -> usize {
        self.plan.round_trips.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("addr", &self.addr).field("cuts", &self.cuts()).finish_non_exhaustive()
    }
}

impl Plan {
    /// Replaces the armed trap by `trap`, and returns the trap that was armed before.
    fn set(&self, trap: Option<Trap>) -> Option<Trap> {
        std::mem::replace(&mut *self.trap.lock().unwrap_or_else(PoisonError::into_inner), trap)
    }

    /// Calls `look` with the armed trap. If `look` returns a value, a trap that strikes only once is disarmed.
    fn strike<T>(&self, look: impl FnOnce(&mut Trap) -> Option<T>) -> Option<T> {
        let mut armed = self.trap.lock().unwrap_or_else(PoisonError::into_inner);
        let struck = look(armed.as_mut()?)?;
        *armed = armed.take().and_then(Trap::anew);
        Some(struck)
    }

    fn slices(&self) -> bool {
        self.slices.load(Ordering::SeqCst)
    }

    fn cut(&self) {
        self.cuts.send_modify(|made| *made += 1);
    }

    fn keep(&self) {
        self.kept.fetch_add(1, Ordering::SeqCst);
        self.cut();
    }

    fn deliver(&self) {
        self.delivered.send_modify(|delivered| *delivered += 1);
    }

    /// Returns how long a new connection must wait, or `None` if no connection was cut before or no wait is set.
    fn delay(&self) -> Option<Duration> {
        let wait = *self.wait.lock().unwrap_or_else(PoisonError::into_inner);
        (*self.cuts.borrow() > 0 && !wait.is_zero()).then_some(wait)
    }

    fn round_trip(&self) {
        self.round_trips.fetch_add(1, Ordering::SeqCst);
    }
}

/// Accepts connections, which end when this task ends.
async fn accept(listener: TcpListener, plan: Arc<Plan>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(serve(client, Arc::clone(&plan)));
        while connections.try_join_next().is_some() {}
    }
}

/// Connects a client to the server, or closes the client's connection if the server cannot be reached.
async fn serve(mut client: TcpStream, plan: Arc<Plan>) {
    let Some(sent) = kept(&mut client, plan.delay()).await else { return };
    if let Ok(mut server) = TcpStream::connect(plan.upstream).await
        && server.write_all(&sent).await.is_ok()
    {
        let connection = Connection::new(&plan);
        let mut ends = plan.ends.subscribe();
        tokio::select! {
            // An error of either side ends the connection, which the other side then sees.
            _ = connection.carry(client, server) => {}
            _ = ends.changed() => {}
        }
    }
}

/// Waits for the time `wait`. Returns the bytes that the client has sent meanwhile, or `None` if the client has closed
/// its connection.
#[allow(clippy::disallowed_methods, reason = "a client that is kept from its server waits in real time")]
async fn kept(client: &mut TcpStream, wait: Option<Duration>) -> Option<Vec<u8>> {
    let mut sent = Vec::new();
    let Some(wait) = wait else { return Some(sent) };
    let end = tokio::time::Instant::now() + wait;
    while let Ok(read) = tokio::time::timeout_at(end, client.read_buf(&mut sent)).await {
        if read.unwrap_or(0) == 0 {
            return None;
        }
    }
    Some(sent)
}
