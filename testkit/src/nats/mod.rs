//! NATS with JetStream, from a program on this machine.

mod kind;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::probe;
use crate::process::{Process, Signal, log_of};
use crate::programs::of_system;
use crate::running::{Paused, Running};
use crate::scratch::Scratch;

pub(crate) const NAME: &str = "NATS";
pub(crate) const INSTALL: &str = "apt-get install nats-server, or brew install nats-server";

/// The name of the program and of the server's files.
const SERVER: &str = "nats-server";

/// An empty server of our own with JetStream, whose streams are files. It ends with this value, and with our process in
/// any case.
///
/// It runs as the user `postgres`, or else `nobody`, if we are root. All calls block.
#[derive(Debug)]
pub struct Nats {
    running: Running,
    program: PathBuf,
    more: String,
}

impl Nats {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed server does not start, with the end of its log.
    pub fn start() -> Result<Self, Failure> {
        Self::start_with("")
    }

    /// Starts a server with these lines at the end of its configuration, such as users and their rights.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`].
    pub fn start_with(more: impl Into<String>) -> Result<Self, Failure> {
        let more = more.into();
        let program = of_system(SERVER).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let running =
            Running::start(NAME, Scratch::new("nats")?, |scratch, port| launch(scratch, &program, port, &more))?;
        Ok(Self { running, program, more })
    }

    /// Restarts the server after [`Self::kill`] or [`Self::stop`], with the same data and on the same port.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running.start_again(|scratch, port| launch(scratch, &self.program, port, &self.more))
    }

    /// Kills its process with SIGKILL, as a power cut would.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it gracefully.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn stop(&self) -> Result<(), Failure> {
        self.running.end(Signal::Interrupt)
    }

    /// Stops it (SIGSTOP) until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.running.pause()
    }

    /// Returns the URL of the default account, which needs no login.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.running.port())
    }

    /// Returns whether its program is installed.
    pub fn is_installed() -> bool {
        of_system(SERVER).is_some()
    }
}

fn launch(scratch: &Scratch, program: &Path, port: u16, more: &str) -> Result<Process, Failure> {
    let log = log_of(scratch, SERVER);
    // Earlier starts wrote to the same log.
    let said = || fs::read_to_string(&log).unwrap_or_default();
    let earlier = said().len();
    let mut server = Command::new(program);
    server.arg("--config").arg(scratch.write("nats.conf", &configuration(scratch, port, more))?);
    let mut process = Process::start(scratch, SERVER, &server)?;
    // The server's own log comes first: an answer on the port might be that of another server.
    let listens = || said().get(earlier..).is_some_and(|log| log.contains("Server is ready"));
    let ready = process.ready(|| listens() && probe::nats("127.0.0.1", port).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

fn configuration(scratch: &Scratch, port: u16, more: &str) -> String {
    let data = scratch.path("data");
    format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{more}\n", data.display())
}
