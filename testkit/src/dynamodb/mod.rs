//! DynamoDB from a program on this machine: dynoxide, which speaks its protocol and keeps its data in SQLite.

#[cfg(feature = "dynamo-faults")]
pub mod faults;
mod kind;
mod program;
mod url;

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::own_server::OwnServer;
use crate::probe;
use crate::process::{Process, Signal};
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
    /// In memory: the data is lost when the server ends. For test suites.
    InMemory,
    /// In a file: the data survives a kill of the server. For crash tests.
    InFile,
}

/// A server without tables, which checks no signature, so that any key is valid. It runs as our own user.
#[derive(Debug)]
pub struct Dynamo {
    server: OwnServer,
}

impl Dynamo {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed server does not start, with the end of its log.
    pub fn start(data: Data) -> Result<Self, Failure> {
        let (program, scratch) = (program::path()?, Scratch::as_ourselves("dynamodb")?);
        let launch = move |scratch: &Scratch, port| launch(scratch, &program, data, port);
        Ok(Self { server: OwnServer::start(NAME, Signal::Interrupt, scratch, launch)? })
    }

    /// Returns `dynamodb://us-east-1/storagebox?endpoint=http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        Url::local("127.0.0.1", self.port()).to_string()
    }

    /// Returns whether the server's program is installed.
    pub fn is_installed() -> bool {
        program::path().is_ok()
    }
}

impl Deref for Dynamo {
    type Target = OwnServer;

    fn deref(&self) -> &OwnServer {
        &self.server
    }
}

fn launch(scratch: &Scratch, program: &Path, data: Data, port: u16) -> Result<Process, Failure> {
    let mut server = Command::new(program);
    server.args(["--host", "127.0.0.1", "--port", &port.to_string()]);
    if data == Data::InFile {
        server.arg("--db-path").arg(scratch.path("data.sqlite"));
    }
    let answers = || probe::dynamodb("127.0.0.1", port).is_ok();
    Process::start_until(scratch, (NAME, SERVER), &server, "listening on", answers)
}
