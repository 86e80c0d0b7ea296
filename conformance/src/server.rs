//! A server process, for harnesses that start their own server.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::Mutex;

use crate::harness::Restart;

/// The time between two checks whether the server accepts connections.
const PAUSE: Duration = Duration::from_millis(20);

/// The start of a server fails after this many checks, which take about five minutes.
const MOST_LOOKS: u32 = 15_000;

/// The first port for servers. Servers have lower ports than outgoing connections, so that no connection takes the port
/// of a server that is down.
const FIRST_PORT: u32 = 10_240;
const PORTS: u32 = 32_768 - FIRST_PORT;

/// The most ports that are tried for one server, because another process may take a port first.
const ATTEMPTS: u32 = 5;

/// The number of ports that this process has tried.
static LOOKED: AtomicU32 = AtomicU32::new(0);

/// A server on a free port of 127.0.0.1, which ends when this value is dropped.
///
/// A test program that is killed leaves its servers behind.
///
/// # Example
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
/// use storagebox_conformance::Server;
/// use tokio::process::Command;
///
/// let server = Server::start(|port| {
///     let mut redis = Command::new("redis-server");
///     redis.args(["--port", &port.to_string(), "--save", "", "--appendonly", "yes"]);
///     redis
/// })
/// .await?;
/// println!("{}", server.address());
/// # Ok(()) }
/// ```
pub struct Server {
    command: Box<dyn Fn(u16) -> Command + Send + Sync>,
    port: u16,
    child: Mutex<Child>,
}

impl Server {
    /// Starts the command that is built for a free port, and returns when the port accepts connections. If the server
    /// ends before that, it is started on another port, up to five times in all.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system, and an error if the server ends before it accepts connections.
    pub async fn start(command: impl Fn(u16) -> Command + Send + Sync + 'static) -> io::Result<Self> {
        let mut attempt = 1;
        loop {
            let port = free_port().await?;
            match started(command(port), port).await {
                Ok(child) => return Ok(Self { command: Box::new(command), port, child: Mutex::new(child) }),
                Err(error) if attempt == ATTEMPTS => return Err(error),
                Err(_) => attempt += 1,
            }
        }
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Stops the server, starts it again with the same command, and returns when it accepts connections. Implements the
    /// restart of a [`Sandbox`](crate::Sandbox).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`start`](Self::start).
    pub async fn restart(&self, how: Restart) -> io::Result<()> {
        let mut child = self.child.lock().await;
        end(&mut child, how).await?;
        *child = started((self.command)(self.port), self.port).await?;
        Ok(())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// Returns a free port, a different port for each call.
async fn free_port() -> io::Result<u16> {
    for _ in 0..PORTS {
        let looked = LOOKED.fetch_add(1, Ordering::Relaxed);
        // Different processes start their search at distant ports.
        let port = FIRST_PORT + process::id().wrapping_mul(2_654_435_761).wrapping_add(looked) % PORTS;
        let port = u16::try_from(port).map_err(io::Error::other)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::other("no port of 127.0.0.1 is free"))
}

#[allow(clippy::disallowed_methods, reason = "a server starts in real time; no case depends on how long that takes")]
async fn started(mut command: Command, port: u16) -> io::Result<Child> {
    let mut child = command.kill_on_drop(true).spawn()?;
    for _ in 0..MOST_LOOKS {
        if let Some(status) = child.try_wait()? {
            return Err(io::Error::other(format!("the server ended before it accepted connections: {status}")));
        }
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return Ok(child);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(io::Error::other("the server accepts no connections"))
}

/// Ends the process and waits for its end.
async fn end(child: &mut Child, how: Restart) -> io::Result<()> {
    match how {
        Restart::Kill => child.kill().await,
        Restart::Clean => {
            terminate(child)?;
            child.wait().await.map(drop)
        }
    }
}

#[cfg(unix)]
fn terminate(child: &Child) -> io::Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    pid.map_or(Ok(()), |pid| kill_process(pid, Signal::TERM).map_err(io::Error::from))
}

/// Kills the process, because only Unix can ask a process to end.
#[cfg(not(unix))]
fn terminate(child: &mut Child) -> io::Result<()> {
    child.start_kill()
}
