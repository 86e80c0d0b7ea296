//! Redis from a program on this machine.

mod cluster;
mod kind;
mod sentinels;
mod settings;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

pub use cluster::Cluster;
pub(crate) use kind::KIND;
pub use sentinels::Sentinels;
pub use settings::Settings;

use crate::failure::Failure;
use crate::own_server::OwnServer;
use crate::probe;
use crate::process::{Process, Signal, log_of};
use crate::programs::in_path;
use crate::scratch::Scratch;
use crate::tls;

pub(crate) const NAME: &str = "Redis";
pub(crate) const INSTALL: &str = "apt-get install redis-server, or brew install redis";

/// The name of the program and of the server's files.
const SERVER: &str = "redis-server";

/// An empty server.
#[derive(Debug)]
pub struct Redis {
    server: OwnServer,
    settings: Settings,
}

impl Redis {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed server does not start, with the end of its log.
    pub fn start(settings: &Settings) -> Result<Self, Failure> {
        let program = in_path(SERVER).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let scratch = Scratch::new("redis")?;
        if settings.has_tls() {
            tls::make(&scratch)?;
        }
        let launched = settings.clone();
        let launch = move |scratch: &Scratch, port| launch(scratch, &program, &launched, port);
        let server = OwnServer::start(NAME, Signal::Interrupt, scratch, launch)?;
        Ok(Self { server, settings: settings.clone() })
    }

    /// Returns the default user's URL; with TLS, the URL only works with [`Self::authority`].
    pub fn url(&self) -> String {
        let scheme = if self.settings.has_tls() { "rediss" } else { "redis" };
        format!("{scheme}://127.0.0.1:{}", self.port())
    }

    /// Returns the certificate of the authority that signed the server's certificate, if the server was started with
    /// TLS.
    pub fn authority(&self) -> Option<PathBuf> {
        self.settings.has_tls().then(|| tls::authority(self.scratch()))
    }

    /// Returns a client certificate of the same authority and its key, if the server was started with TLS.
    pub fn client_certificate(&self) -> Option<(PathBuf, PathBuf)> {
        self.settings.has_tls().then(|| tls::client(self.scratch()))
    }

    /// Returns whether its program is installed.
    pub fn is_installed() -> bool {
        in_path(SERVER).is_some()
    }

    /// Returns whether the node reports that all slots of its cluster are served. Returns true if the node does not
    /// run.
    fn serves_all_slots(&self) -> bool {
        self.is_down() || probe::redis_cluster("127.0.0.1", self.port()).unwrap_or(false)
    }
}

impl Deref for Redis {
    type Target = OwnServer;

    fn deref(&self) -> &OwnServer {
        &self.server
    }
}

fn launch(scratch: &Scratch, program: &Path, settings: &Settings, port: u16) -> Result<Process, Failure> {
    let mut server = Command::new(program);
    server.arg(scratch.write("redis.conf", &configuration(scratch, settings, port))?);
    if settings.is_sentinel() {
        server.arg("--sentinel");
    }
    let word = if settings.is_sentinel() { "+monitor master" } else { "Ready to accept connections" };
    let answers = || settings.has_tls() || probe::redis("127.0.0.1", port).is_ok();
    Process::start_until(scratch, (NAME, SERVER), &server, word, answers)
}

fn configuration(scratch: &Scratch, settings: &Settings, port: u16) -> String {
    let file = |name: &str| scratch.path(name).display().to_string();
    let listen = if settings.has_tls() { format!("port 0\ntls-port {port}") } else { format!("port {port}") };
    let mut lines = vec![
        listen,
        "bind 127.0.0.1".to_owned(),
        format!("dir \"{}\"", file("")),
        format!("logfile \"{}\"", log_of(scratch, SERVER).display()),
    ];
    if settings.has_tls() {
        let (certificate, key) = tls::server(scratch);
        lines.push(format!("tls-cert-file \"{}\"", certificate.display()));
        lines.push(format!("tls-key-file \"{}\"", key.display()));
        lines.push(format!("tls-ca-cert-file \"{}\"", tls::authority(scratch).display()));
        lines.push("tls-auth-clients no".to_owned());
    }
    lines.extend(settings.lines());
    lines.join("\n") + "\n"
}
