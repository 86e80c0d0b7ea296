//! A server of our own, which can be ended and restarted.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::port;
use crate::process::{Process, Signal};
use crate::scratch::Scratch;

/// Starts the process of a server in a folder and on a port.
type Launch = Box<dyn Fn(&Scratch, u16) -> Result<Process, Failure> + Send + Sync>;

/// A server of our own on 127.0.0.1. It ends when this value is dropped or our process ends.
///
/// It keeps its folder and its port at every start. It runs as the user `postgres`, or else `nobody`, if we are root.
/// All calls block.
pub struct OwnServer {
    // Fields drop in order: the process ends before its folder is removed, and before a server that it needs and that
    // its launch holds.
    process: Mutex<Option<Process>>,
    scratch: Scratch,
    port: u16,
    name: &'static str,
    /// The signal that ends the server gracefully.
    stop: Signal,
    launch: Launch,
}

impl OwnServer {
    /// Starts the server on a free port.
    pub(crate) fn start(
        name: &'static str,
        stop: Signal,
        scratch: Scratch,
        launch: impl Fn(&Scratch, u16) -> Result<Process, Failure> + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let (port, process) = port::with_free(|port| launch(&scratch, port).map(|process| (port, process)))?;
        Ok(Self { process: Mutex::new(Some(process)), scratch, port, name, stop, launch: Box::new(launch) })
    }

    /// Restarts the server after [`Self::kill`] or [`Self::stop`], on the same port and with the same data, if it keeps
    /// data.
    ///
    /// # Errors
    ///
    /// Returns why it does not start; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        let mut process = self.process();
        if process.is_some() {
            return Err(Failure::WrongState { server: self.name, needs: "runs already" });
        }
        *process = Some((self.launch)(&self.scratch, self.port)?);
        Ok(())
    }

    /// Kills the server and all its children at once with SIGKILL, as a power cut would.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.end(Signal::Kill)
    }

    /// Ends the server gracefully: the server writes the data that it keeps.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn stop(&self) -> Result<(), Failure> {
        self.end(self.stop)
    }

    fn end(&self, signal: Signal) -> Result<(), Failure> {
        let process = self.process().take();
        process.ok_or_else(|| self.does_not_run())?.end(signal).map(drop)
    }

    /// Stops all of the server's processes (SIGSTOP) until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.process().as_ref().ok_or_else(|| self.does_not_run())?.pause();
        Ok(Paused(self))
    }

    /// Returns the address that it listens on, which a restart does not change.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Returns the port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn is_down(&self) -> bool {
        self.process().is_none()
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    fn does_not_run(&self) -> Failure {
        Failure::WrongState { server: self.name, needs: "does not run" }
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OwnServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(self.name).field("port", &self.port).finish_non_exhaustive()
    }
}

/// A paused server, which continues when this value is dropped. Its processes exist and do nothing. The system may
/// still accept connections for it.
#[must_use = "the server goes on when this is dropped"]
#[derive(Debug)]
pub struct Paused<'a>(&'a OwnServer);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.0.process().as_ref() {
            process.go_on();
        }
    }
}
