//! A server of our own, which can be ended and restarted.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::Failure;
use crate::port;
use crate::process::{Process, Signal};
use crate::scratch::Scratch;

/// A server's process, and the folder and the port that it keeps at every start.
#[derive(Debug)]
pub(crate) struct Running {
    // Fields drop in order: the process ends before its folder is removed.
    process: Mutex<Option<Process>>,
    scratch: Scratch,
    port: u16,
    server: &'static str,
}

impl Running {
    /// Starts the server on a free port of 127.0.0.1.
    pub(crate) fn start(
        server: &'static str,
        scratch: Scratch,
        launch: impl Fn(&Scratch, u16) -> Result<Process, Failure>,
    ) -> Result<Self, Failure> {
        let (port, process) = port::with_free(|port| launch(&scratch, port).map(|process| (port, process)))?;
        Ok(Self { process: Mutex::new(Some(process)), scratch, port, server })
    }

    pub(crate) fn start_again(
        &self,
        launch: impl FnOnce(&Scratch, u16) -> Result<Process, Failure>,
    ) -> Result<(), Failure> {
        let mut process = self.process();
        if process.is_some() {
            return Err(Failure::WrongState { server: self.server, needs: "runs already" });
        }
        *process = Some(launch(&self.scratch, self.port)?);
        Ok(())
    }

    pub(crate) fn end(&self, signal: Signal) -> Result<(), Failure> {
        let process = self.process().take();
        let mut process = process.ok_or(Failure::WrongState { server: self.server, needs: "does not run" })?;
        process.end(signal).map(drop)
    }

    /// Stops the server's processes until the returned value is dropped.
    pub(crate) fn pause(&self) -> Result<Paused<'_>, Failure> {
        let process = self.process();
        process.as_ref().ok_or(Failure::WrongState { server: self.server, needs: "does not run" })?.pause();
        Ok(Paused(self))
    }

    pub(crate) fn is_down(&self) -> bool {
        self.process().is_none()
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stopped server, which goes on when this value is dropped. Its processes exist, the system may accept connections
/// for it, and it answers nothing.
#[must_use = "the server goes on when this is dropped"]
#[derive(Debug)]
pub struct Paused<'a>(&'a Running);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        if let Some(process) = self.0.process().as_ref() {
            process.go_on();
        }
    }
}
