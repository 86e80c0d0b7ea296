//! Redis from a program on this machine.

mod cluster;
mod kind;
mod sentinels;
mod settings;
mod url;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;

pub use cluster::Cluster;
pub(crate) use kind::KIND;
pub use sentinels::Sentinels;
pub use settings::Settings;

use crate::failure::Failure;
use crate::probe;
use crate::process::{Process, Signal, log_of};
use crate::programs::in_path;
use crate::running::{Paused, Running};
use crate::scratch::Scratch;
use crate::tls;

pub(crate) const NAME: &str = "Redis";
pub(crate) const INSTALL: &str = "apt-get install redis-server, or brew install redis";

/// The name of the program and of the server's files.
const SERVER: &str = "redis-server";

/// An empty server of our own. It ends with this value, and with our process in any case.
///
/// It runs as the user `postgres`, or else `nobody`, if we are root. All calls block.
#[derive(Debug)]
pub struct Redis {
    running: Running,
    program: PathBuf,
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
        let running = Running::start(NAME, scratch, |scratch, port| launch(scratch, &program, settings, port))?;
        Ok(Self { running, program, settings: settings.clone() })
    }

    /// Restarts the server after [`Self::kill`] or [`Self::stop`], on the same port, and with the same data if it is
    /// persistent.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running.start_again(|scratch, port| launch(scratch, &self.program, &self.settings, port))
    }

    /// Kills its process with SIGKILL, as a power cut would.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it gracefully: persistent data is written.
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

    /// Returns the default user's URL; with TLS, the URL only works with [`Self::authority`].
    pub fn url(&self) -> String {
        let scheme = if self.settings.has_tls() { "rediss" } else { "redis" };
        format!("{scheme}://127.0.0.1:{}", self.running.port())
    }

    /// Returns the address that it listens on, which a restart does not change.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.running.port()))
    }

    /// Returns the certificate of the authority that signed the server's certificate, if the server was started with
    /// TLS.
    pub fn authority(&self) -> Option<PathBuf> {
        self.settings.has_tls().then(|| tls::authority(self.running.scratch()))
    }

    /// Returns a client certificate of the same authority and its key, if the server was started with TLS.
    pub fn client_certificate(&self) -> Option<(PathBuf, PathBuf)> {
        self.settings.has_tls().then(|| tls::client(self.running.scratch()))
    }

    /// Returns whether its program is installed.
    pub fn is_installed() -> bool {
        in_path(SERVER).is_some()
    }

    /// Returns whether the node reports that all slots of its cluster are served, or does not run.
    fn serves_all_slots(&self) -> bool {
        self.running.is_down() || probe::redis_cluster("127.0.0.1", self.running.port()).unwrap_or(false)
    }
}

fn launch(scratch: &Scratch, program: &PathBuf, settings: &Settings, port: u16) -> Result<Process, Failure> {
    let log = log_of(scratch, SERVER);
    // Earlier starts wrote to the same log.
    let said = || fs::read_to_string(&log).unwrap_or_default();
    let earlier = said().len();
    if earlier == 0 {
        // The server writes there as its own user.
        scratch.write(&format!("{SERVER}.log"), "")?;
    }
    let mut server = Command::new(program);
    server.arg(scratch.write("redis.conf", &configuration(scratch, settings, port))?);
    if settings.is_sentinel() {
        server.arg("--sentinel");
    }
    let mut process = Process::start(scratch, SERVER, &server)?;
    // The server's own log comes first: an answer on the port might be that of another server.
    let word = if settings.is_sentinel() { "+monitor master" } else { "Ready to accept connections" };
    let listens = || said().get(earlier..).is_some_and(|log| log.contains(word));
    let answers = || settings.has_tls() || probe::redis("127.0.0.1", port).is_ok();
    let ready = process.ready(|| listens() && answers());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
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
