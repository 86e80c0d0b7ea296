//! A way to a server that can be cut at the worst moment: a TCP proxy that is armed by content.
//!
//! The proxy reads what it carries, so it works on connections without TLS and without compression.

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

/// What becomes of a request that holds the needle, and of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It does not reach the server; the connection is reset.
    RequestLost,
    /// A part of it reaches the server, which is not enough to do anything; the connection is reset.
    HalfRequest,
    /// The server has answered it and is through with the connection, or has ended it without an answer; then the
    /// connection is reset.
    ReplyLost,
    /// As [`ReplyLost`](Self::ReplyLost), but a part of the answer arrives, and then the end of the connection.
    HalfReply,
    /// The server has answered it or has ended the connection, and the client hears no more, on a connection that stays
    /// open.
    NoAnswer,
}

impl Cut {
    /// Every fate.
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

/// What the connections of a proxy share.
struct Plan {
    upstream: SocketAddr,
    trap: Mutex<Option<Trap>>,
    /// How long connections wait that come after a cut.
    wait: Mutex<Duration>,
    cuts: watch::Sender<usize>,
    round_trips: AtomicUsize,
    slices: AtomicBool,
}

impl Proxy {
    /// A proxy in front of this address, on a free port of its own. It must be called inside a runtime.
    ///
    /// # Errors
    ///
    /// The operating system's, if it has no port to give.
    pub async fn start(upstream: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let addr = listener.local_addr()?;
        let plan = Arc::new(Plan {
            upstream,
            trap: Mutex::default(),
            wait: Mutex::default(),
            cuts: watch::Sender::default(),
            round_trips: AtomicUsize::default(),
            slices: AtomicBool::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&plan)));
        Ok(Self { addr, plan, accepting })
    }

    /// Where clients connect to.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Cuts the next request that holds the needle, whichever connection it is on, after letting so many that hold
    /// it pass. It happens once; arming again replaces what was armed.
    pub fn arm(&self, cut: Cut, needle: impl AsRef<[u8]>, passing: usize) {
        self.plan.set(Some(Trap::new(cut, needle.as_ref(), passing)));
    }

    /// Cuts every so manyth request that holds the needle, whichever connection it is on, until another cut is armed or
    /// [`disarm`](Self::disarm) is called: with 3 the third, the sixth, and so on; with 0 or 1 each of them.
    pub fn arm_every(&self, cut: Cut, needle: impl AsRef<[u8]>, every: usize) {
        self.plan.set(Some(Trap::again_and_again(cut, needle.as_ref(), every.saturating_sub(1))));
    }

    /// Lets connections that come after a cut wait this long before they reach the server. What a client has sent that is
    /// gone by then is lost.
    pub fn delay_after_cuts(&self, wait: Duration) {
        *self.plan.wait.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }

    /// Cuts nothing more; what was cut stays so. Whether what was armed was still waiting for its request: if not, that
    /// has been cut or is being cut.
    pub fn disarm(&self) -> bool {
        self.plan.set(None).is_some()
    }

    /// How many cuts were made. One is made before its client can know of it.
    pub fn cuts(&self) -> usize {
        *self.plan.cuts.borrow()
    }

    /// Waits until so many cuts were made: the way to know that a request of [`Cut::NoAnswer`] was answered.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only waits.
    pub async fn wait_for_cuts(&self, count: usize) {
        // The sender lives as long as this proxy, so the wait ends with the cut alone.
        let _ = self.plan.cuts.subscribe().wait_for(|made| *made >= count).await;
    }

    /// Carries each byte by itself from now on, or not any more, so that each side reads requests and answers in small
    /// pieces.
    pub fn slice(&self, on: bool) {
        self.plan.slices.store(on, Ordering::SeqCst);
    }

    /// How often a client spoke first or after the server did, on all connections, their greetings included. A
    /// request of several segments is one, and so are several requests that were sent before an answer.
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
    /// Arms, and gives what was armed before.
    fn set(&self, trap: Option<Trap>) -> Option<Trap> {
        std::mem::replace(&mut *self.trap.lock().unwrap_or_else(PoisonError::into_inner), trap)
    }

    /// Looks at what is armed; what strikes is disarmed, if it does not strike again.
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

    /// How long this connection is to wait, if it comes after a cut.
    fn delay(&self) -> Option<Duration> {
        let wait = *self.wait.lock().unwrap_or_else(PoisonError::into_inner);
        (*self.cuts.borrow() > 0 && !wait.is_zero()).then_some(wait)
    }

    fn round_trip(&self) {
        self.round_trips.fetch_add(1, Ordering::SeqCst);
    }
}

/// The connections end with this task.
async fn accept(listener: TcpListener, plan: Arc<Plan>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(serve(client, Arc::clone(&plan)));
        while connections.try_join_next().is_some() {}
    }
}

/// A client whose server is not there is hung up on.
async fn serve(mut client: TcpStream, plan: Arc<Plan>) {
    let Some(sent) = kept(&mut client, plan.delay()).await else { return };
    if let Ok(mut server) = TcpStream::connect(plan.upstream).await
        && server.write_all(&sent).await.is_ok()
    {
        // An error of either side ends the connection, as the other side then sees.
        let _ = Connection::new(&plan).carry(client, server).await;
    }
}

/// Keeps a client from its server for this long: what it has sent meanwhile, or nothing if it is gone.
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
