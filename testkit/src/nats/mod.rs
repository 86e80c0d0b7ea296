//! NATS with JetStream, from a program on this machine.

mod kind;

use std::ops::Deref;
use std::path::Path;
use std::process::Command;

pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::own_server::OwnServer;
use crate::probe;
use crate::process::{Process, Signal};
use crate::programs::of_system;
use crate::scratch::Scratch;

pub(crate) const NAME: &str = "NATS";
pub(crate) const INSTALL: &str = "apt-get install nats-server, or brew install nats-server";

/// The name of the program and of the server's files.
const SERVER: &str = "nats-server";

/// An empty server with JetStream, whose streams are files.
#[derive(Debug)]
pub struct Nats {
    server: OwnServer,
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
        let (more, scratch) = (more.into(), Scratch::new("nats")?);
        let program = of_system(SERVER).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let launch = move |scratch: &Scratch, port| launch(scratch, &program, port, &more);
        Ok(Self { server: OwnServer::start(NAME, Signal::Interrupt, scratch, launch)? })
    }

    /// Returns the URL of the default account, which needs no login.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port())
    }

    /// Returns whether its program is installed.
    pub fn is_installed() -> bool {
        of_system(SERVER).is_some()
    }
}

impl Deref for Nats {
    type Target = OwnServer;

    fn deref(&self) -> &OwnServer {
        &self.server
    }
}

fn launch(scratch: &Scratch, program: &Path, port: u16, more: &str) -> Result<Process, Failure> {
    let mut server = Command::new(program);
    server.arg("--config").arg(scratch.write("nats.conf", &configuration(scratch, port, more))?);
    let answers = || probe::nats("127.0.0.1", port).is_ok();
    Process::start_until(scratch, (NAME, SERVER), &server, "Server is ready", answers)
}

fn configuration(scratch: &Scratch, port: u16, more: &str) -> String {
    let data = scratch.path("data");
    format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: \"{}\" }}\n{more}\n", data.display())
}
