//! PostgreSQL from the programs on this machine.

mod kind;
mod programs;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

pub(crate) use kind::KIND;
pub use settings::Settings;

use crate::failure::Failure;
use crate::probe;
use crate::process::{Process, Signal};
use crate::programs::version;
use crate::running::{Paused, Running};
use crate::scratch::Scratch;
use crate::tls;
use crate::url::Url;

pub(crate) const NAME: &str = "PostgreSQL";
pub(crate) const INSTALL: &str = "apt-get install postgresql, brew install postgresql@17, or \
     STORAGEBOX_TEST_POSTGRES_BIN=the folder with initdb and postgres";

/// The name of the superuser, the password and the database.
const LOGIN: &str = "postgres";

/// A server of our own, with an empty cluster. It ends with this value, and with our process in any case.
///
/// It runs as the user `postgres`, or else `nobody`, if we are root. All calls block.
#[derive(Debug)]
pub struct Postgres {
    running: Running,
    programs: PathBuf,
    settings: Settings,
}

impl Postgres {
    /// Creates a cluster and starts its server on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed server does not start, with the end of its log.
    pub fn start(settings: &Settings) -> Result<Self, Failure> {
        let programs = programs::folder()?;
        let make = if settings.is_quick() { Scratch::in_memory } else { Scratch::new };
        let scratch = make("postgres")?;
        initialise(&scratch, &programs)?;
        if settings.has_tls() {
            tls::make(&scratch)?;
        }
        let running = Running::start(NAME, scratch, |scratch, port| {
            launch(scratch, &server(scratch, &programs, settings, port), port)
        })?;
        Ok(Self { running, programs, settings: settings.clone() })
    }

    /// Starts a hot standby with a copy of this server's data and with its settings. The standby follows this server.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`]; the copy needs `pg_basebackup`.
    pub fn standby(&self) -> Result<Self, Failure> {
        let scratch = Scratch::new("standby")?;
        let mut copy = scratch.command(&programs::beside_initdb(&self.programs, "pg_basebackup"));
        copy.args(["--dbname", &self.url(), "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"]);
        scratch.run(copy.arg("--no-sync").arg("--pgdata").arg(data(&scratch)))?;
        let (programs, settings) = (self.programs.clone(), self.settings.clone());
        let running = Running::start(NAME, scratch, |scratch, port| {
            launch(scratch, &server(scratch, &programs, &settings, port), port)
        })?;
        Ok(Self { running, programs, settings })
    }

    /// Restarts the server after [`Self::kill`] or [`Self::stop`], with the same data and on the same port.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running
            .start_again(|scratch, port| launch(scratch, &server(scratch, &self.programs, &self.settings, port), port))
    }

    /// Kills the server and all its children at once with SIGKILL, as a power cut would.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::WrongState`] if it does not run.
    pub fn kill(&self) -> Result<(), Failure> {
        self.running.end(Signal::Kill)
    }

    /// Ends it gracefully: transactions in progress are rolled back, and everything else is written.
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

    /// Returns the superuser's URL, without encryption.
    pub fn url(&self) -> String {
        format!("postgres://{LOGIN}:{LOGIN}@127.0.0.1:{}/{LOGIN}", self.running.port())
    }

    /// Returns the superuser's URL with encryption, checked against [`Self::authority`].
    pub fn tls_url(&self) -> Option<String> {
        let authority = self.authority()?;
        Some(format!("{}?sslmode=verify-full&sslrootcert={}", self.url(), authority.display()))
    }

    /// Returns the certificate of the authority that signed the server's certificate, if the server was started with
    /// TLS.
    pub fn authority(&self) -> Option<PathBuf> {
        self.settings.has_tls().then(|| tls::authority(self.running.scratch()))
    }

    /// Returns the port of 127.0.0.1 that it listens on, which a restart does not change.
    pub fn port(&self) -> u16 {
        self.running.port()
    }

    /// Returns the version that the program reports, such as `15.18`.
    pub fn version(&self) -> Option<String> {
        version(&self.programs.join("postgres"))
    }

    /// Returns whether its programs are installed.
    pub fn is_installed() -> bool {
        programs::folder().is_ok()
    }
}

/// The cluster that `initdb` created for this program.
static MADE: Mutex<Option<Scratch>> = Mutex::new(None);

/// Copies a new cluster, which takes a tenth of the time that `initdb` needs to create one.
fn initialise(scratch: &Scratch, programs: &Path) -> Result<(), Failure> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = match &mut *made {
        Some(made) => made,
        none => none.insert(make(programs)?),
    };
    let mut copy = scratch.command(Path::new("cp"));
    scratch.run(copy.arg("-R").arg(data(made)).arg(data(scratch)))
}

fn make(programs: &Path) -> Result<Scratch, Failure> {
    let scratch = Scratch::in_memory("cluster")?;
    let password = scratch.write("password", LOGIN)?;
    let mut initdb = scratch.command(&programs.join("initdb"));
    initdb.args(["--username", LOGIN, "--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"]);
    initdb.args(["--no-sync", "--no-instructions", "--pwfile"]).arg(password);
    scratch.run(initdb.arg("--pgdata").arg(data(&scratch)))?;
    Ok(scratch)
}

fn server(scratch: &Scratch, programs: &Path, settings: &Settings, port: u16) -> Command {
    let mut server = Command::new(programs.join("postgres"));
    server.arg("-D").arg(data(scratch)).args(["-p", &port.to_string()]);
    // No socket in a folder: the path of the folder may be too long for a socket.
    server.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
    if settings.has_tls() {
        server.args(tls_settings(scratch).iter().flat_map(|setting| ["-c", setting]));
    }
    server.args(settings.lines().flat_map(|setting| ["-c".to_owned(), setting]));
    server
}

fn tls_settings(scratch: &Scratch) -> [String; 3] {
    let (certificate, key) = tls::server(scratch);
    ["ssl=on".to_owned(), format!("ssl_cert_file={}", certificate.display()), format!("ssl_key_file={}", key.display())]
}

fn launch(scratch: &Scratch, server: &Command, port: u16) -> Result<Process, Failure> {
    let mut process = Process::start(scratch, "postgres", server)?;
    let (id, file) = (process.id(), data(scratch).join("postmaster.pid"));
    let url = Url::local(LOGIN, port);
    let ready = process.ready(|| says_ready(&file, id) && probe::postgres(&url).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

/// Returns whether the server's own file says that it is ready: an answer on the port might be that of another server.
fn says_ready(file: &Path, process: u32) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    let is_ready = |word: &str| ["ready", "standby"].contains(&word.trim());
    lines.next() == Some(process.to_string().as_str()) && lines.last().is_some_and(is_ready)
}

fn data(scratch: &Scratch) -> PathBuf {
    scratch.path("data")
}
