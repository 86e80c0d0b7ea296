//! A server that executes requests on a connection, and can be killed and restarted.
//!
//! A request is the number of a piece of work and the text of its id; the answer is that number. Before it a client may
//! send `lock`, the longest wait in milliseconds and the name of a lock; the answer is `locked` or `busy`. The work and its
//! result stay in the process, so that nothing has to be serialised. Some requests wait before they are executed, as on
//! a busy server. A request that its client has dropped can then be executed after later requests.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use storagebox_core::Result;
use storagebox_core::layer::Response;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

use crate::locks::Table;

type Answer = Result<Response>;
pub(crate) type Deed = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// The requested work and the answers, by the number of the request.
#[derive(Default)]
pub(crate) struct Desk {
    last: u64,
    deeds: HashMap<u64, Deed>,
    answers: HashMap<u64, Answer>,
    locks: Arc<Table>,
}

impl Desk {
    pub(crate) fn ask(&mut self, deed: Deed) -> u64 {
        self.last += 1;
        self.deeds.insert(self.last, deed);
        self.last
    }

    pub(crate) fn answer(&mut self, number: u64) -> Option<Answer> {
        self.answers.remove(&number)
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("last", &self.last).finish_non_exhaustive()
    }
}

pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    pub(crate) desk: Arc<Mutex<Desk>>,
    running: Mutex<Option<Running>>,
}

/// The task that accepts connections until `stop` is dropped.
struct Running {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

impl Running {
    fn start(listener: TcpListener, desk: &Arc<Mutex<Desk>>) -> Self {
        let (stop, stopped) = oneshot::channel();
        Self { stop, ended: tokio::spawn(accept(listener, Arc::clone(desk), stopped)) }
    }
}

impl Server {
    pub(crate) async fn start() -> io::Result<Self> {
        let listener = free_port().await?;
        let (addr, desk) = (listener.local_addr()?, Arc::<Mutex<Desk>>::default());
        let running = Mutex::new(Some(Running::start(listener, &desk)));
        Ok(Self { addr, desk, running })
    }

    /// Ends the server with all its connections, and starts it again on its port.
    pub(crate) async fn restart(&self) -> io::Result<()> {
        let running = lock(&self.running).take();
        if let Some(Running { stop, ended }) = running {
            drop(stop);
            ended.await?;
        }
        let listener = TcpListener::bind(self.addr).await?;
        *lock(&self.running) = Some(Running::start(listener, &self.desk));
        Ok(())
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Binds a port below the ports of outgoing connections, because the server needs the port again after a restart.
async fn free_port() -> io::Result<TcpListener> {
    let mut rng = fastrand::Rng::new();
    loop {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, rng.u16(20_000..32_768))).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            listener => return listener,
        }
    }
}

async fn accept(listener: TcpListener, desk: Arc<Mutex<Desk>>, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => drop(connections.spawn(serve(client, Arc::clone(&desk)))),
                Err(_) => break,
            },
        }
    }
    drop(listener);
    // Waits for the tasks, because an aborted task may still answer one request.
    connections.shutdown().await;
}

#[allow(clippy::disallowed_methods, reason = "it is the way to the server that takes time, not the store")]
async fn wait_now_and_then() {
    if fastrand::u8(..8) == 0 {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(1..8))).await;
    }
}

/// Returns how long the request waits for which lock, or `None` for a request that names work.
fn lock_of(request: &str) -> Option<(Duration, &str)> {
    let (wait, name) = request.strip_prefix("lock ")?.split_once(' ')?;
    Some((Duration::from_millis(wait.parse().ok()?), name))
}

async fn serve(mut client: TcpStream, desk: Arc<Mutex<Desk>>) -> io::Result<()> {
    client.set_nodelay(true)?;
    let (reader, mut writer) = client.split();
    let (mut requests, mut request, locks) = (BufReader::new(reader), String::new(), Arc::clone(&lock(&desk).locks));
    let mut held = None;
    while requests.read_line(&mut request).await? > 0 && request.ends_with('\n') {
        if let Some((wait, name)) = lock_of(&request) {
            held = locks.lock(name, wait).await;
            writer.write_all(if held.is_some() { b"locked\n" } else { b"busy\n" }).await?;
            request.clear();
            continue;
        }
        let number = request.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        let deed = lock(&desk).deeds.remove(&number);
        if let Some(deed) = deed {
            wait_now_and_then().await;
            let answer = deed.await;
            lock(&desk).answers.insert(number, answer);
        }
        drop(held.take());
        writer.write_all(format!("{number}\n").as_bytes()).await?;
        request.clear();
    }
    Ok(())
}
