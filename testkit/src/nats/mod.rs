//! NATS with JetStream, from a program of this machine.

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

/// The program, and the name of the server's files.
const SERVER: &str = "nats-server";

/// An empty server of our own with JetStream, whose streams are files. It goes with this value and with our process,
/// however that ends.
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
    /// [`Failure::NotInstalled`], or why a server that is installed does not start, with the end of its log.
    pub fn start() -> Result<Self, Failure> {
        Self::start_with("")
    }

    /// As [`Self::start`], with these lines at the end of its configuration, such as users and their rights.
    ///
    /// # Errors
    ///
    /// As of [`Self::start`].
    pub fn start_with(more: impl Into<String>) -> Result<Self, Failure> {
        let more = more.into();
        let program = of_system(SERVER).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let running =
            Running::start(NAME, Scratch::new("nats")?, |scratch, port| launch(scratch, &program, port, &more))?;
        Ok(Self { running, program, more })
    }

    /// Starts it again after [`Self::kill`] or [`Self::stop`], with the same data and on the same port.
    ///
    /// # Errors
    ///
    /// As of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running.start_again(|scratch, port| launch(scratch, &self.program, port, &self.more))
    }

    /// Ends it as a power cut of its process would: SIGKILL.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it in good order.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn stop(&self) -> Result<(), Failure> {
        self.running.end(Signal::Interrupt)
    }

    /// Stops it (SIGSTOP) until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.running.pause()
    }

    /// The URL of the default account, which needs no login.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.running.port())
    }

    /// Whether its program is on this machine.
    pub fn is_installed() -> bool {
        of_system(SERVER).is_some()
    }
}

fn launch(scratch: &Scratch, program: &Path, port: u16, more: &str) -> Result<Process, Failure> {
    let log = log_of(scratch, SERVER);
    // Earlier starts wrote there too.
    let said = || fs::read_to_string(&log).unwrap_or_default();
    let earlier = said().len();
    let mut server = Command::new(program);
    server.arg("--config").arg(scratch.write("nats.conf", &configuration(scratch, port, more))?);
    let mut process = Process::start(scratch, SERVER, &server)?;
    // Its own word first: an answer on the port alone might be another server's.
    let listens = || said().get(earlier..).is_some_and(|log| log.contains("Server is ready"));
    let ready = process.ready(|| listens() && probe::nats("127.0.0.1", port).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

fn configuration(scratch: &Scratch, port: u16, more: &str) -> String {
    let data = scratch.path("data");
    format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{more}\n", data.display())
}
