//! DynamoDB from a program on this machine: dynoxide, which speaks its protocol and keeps its data in SQLite.

#[cfg(feature = "dynamo-faults")]
pub mod faults;
mod kind;
mod program;
mod url;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::probe;
use crate::process::{Process, Signal, log_of};
use crate::running::{Paused, Running};
use crate::scratch::Scratch;
use url::Url;

pub(crate) const NAME: &str = "DynamoDB";

/// The command that installs the server, in the workspace's root. It takes some minutes.
///
/// The server is not a dependency of any package, because it would hold back the version of SQLite for all.
pub const INSTALL: &str = "cargo install --debug --locked dynoxide-rs@3.2.0 --no-default-features \
     --features native-sqlite,http-server,cli --root target/tools";

const SERVER: &str = "dynoxide";

/// Where a server keeps its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// In memory, so that the data is lost with the server: for suites.
    InMemory,
    /// In a file, so that the data survives a kill of the server: for crash tests.
    InFile,
}

/// A server of our own, without tables. It ends with this value, and with our process in any case.
///
/// The server checks no signature, so any key is valid. All calls block.
#[derive(Debug)]
pub struct Dynamo {
    running: Running,
    program: PathBuf,
    data: Data,
}

impl Dynamo {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed server does not start, with the end of its log.
    pub fn start(data: Data) -> Result<Self, Failure> {
        let program = program::path()?;
        let scratch = Scratch::as_ourselves("dynamodb")?;
        let running = Running::start(NAME, scratch, |scratch, port| {
            launch(scratch, &server(scratch, &program, data, port), port)
        })?;
        Ok(Self { running, program, data })
    }

    /// Restarts the server after [`Self::kill`] or [`Self::stop`], on the same port, and with the same data if the data
    /// is in a file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running
            .start_again(|scratch, port| launch(scratch, &server(scratch, &self.program, self.data, port), port))
    }

    /// Kills its process with SIGKILL, as a power cut would.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it gracefully: requests in progress are answered.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn stop(&self) -> Result<(), Failure> {
        self.running.end(Signal::Interrupt)
    }

    /// Stops all its processes (SIGSTOP) until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.running.pause()
    }

    /// Returns `dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        Url::local("127.0.0.1", self.running.port()).to_string()
    }

    /// Returns the address that it listens on, which a restart does not change.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.running.port()))
    }

    /// Returns whether its program is installed.
    pub fn is_installed() -> bool {
        program::path().is_ok()
    }
}

fn server(scratch: &Scratch, program: &Path, data: Data, port: u16) -> Command {
    let mut server = Command::new(program);
    server.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    if data == Data::InFile {
        server.arg("--db-path").arg(scratch.path("data.sqlite"));
    }
    server
}

fn launch(scratch: &Scratch, server: &Command, port: u16) -> Result<Process, Failure> {
    let log = log_of(scratch, SERVER);
    // Earlier starts wrote to the same log.
    let earlier = said(&log).len();
    let mut process = Process::start(scratch, SERVER, server)?;
    // The server's own log comes first: an answer on the port might be that of another server.
    let listens = || said(&log).get(earlier..).is_some_and(|log| log.contains("listening on"));
    let ready = process.ready(|| listens() && probe::dynamodb("127.0.0.1", port).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

fn said(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}
