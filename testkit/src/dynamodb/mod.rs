//! DynamoDB from a program of this machine: dynoxide, which speaks its protocol and keeps its data in SQLite.

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

/// How the server is installed, in the workspace's root: it takes some minutes.
///
/// It is no dependency of any package, because it would hold back the SQLite of all.
pub const INSTALL: &str = "cargo install --debug --locked dynoxide-rs@3.2.0 --no-default-features \
     --features native-sqlite,http-server,cli --root target/tools";

/// The name of the server's files.
const SERVER: &str = "dynoxide";

/// Where a server keeps what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// In its memory, so that it is lost with the server: for suites.
    InMemory,
    /// In a file, so that it outlives a kill of the server: for crash tests.
    InFile,
}

/// A server of our own, without tables. It goes with this value and with our process, however that ends.
///
/// It checks no signature: any key will do. All calls block.
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
    /// [`Failure::NotInstalled`], or why a server that is installed does not start, with the end of its log.
    pub fn start(data: Data) -> Result<Self, Failure> {
        let program = program::path()?;
        let scratch = Scratch::as_ourselves("dynamodb")?;
        let running = Running::start(NAME, scratch, |scratch, port| {
            launch(scratch, &server(scratch, &program, data, port), port)
        })?;
        Ok(Self { running, program, data })
    }

    /// Starts it again after [`Self::kill`] or [`Self::stop`], on the same port, and with the same data if that is in
    /// a file.
    ///
    /// # Errors
    ///
    /// As of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running
            .start_again(|scratch, port| launch(scratch, &server(scratch, &self.program, self.data, port), port))
    }

    /// Ends it as a power cut of its process would: SIGKILL.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it in good order: requests that are under way are answered.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn stop(&self) -> Result<(), Failure> {
        self.running.end(Signal::Interrupt)
    }

    /// Stops all its processes (SIGSTOP) until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.running.pause()
    }

    /// `dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        Url::local("127.0.0.1", self.running.port()).to_string()
    }

    /// Where it listens, also after it was started again.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.running.port()))
    }

    /// Whether its program is on this machine.
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
    // Earlier starts wrote there too.
    let earlier = said(&log).len();
    let mut process = Process::start(scratch, SERVER, server)?;
    // Its own word first: an answer on the port alone might be another server's.
    let listens = || said(&log).get(earlier..).is_some_and(|log| log.contains("listening on"));
    let ready = process.ready(|| listens() && probe::dynamodb("127.0.0.1", port).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

fn said(log: &Path) -> String {
    fs::read_to_string(log).unwrap_or_default()
}
