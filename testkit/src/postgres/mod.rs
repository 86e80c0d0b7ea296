//! PostgreSQL from the programs on this machine.

mod kind;
mod programs;
mod settings;

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

pub(crate) use kind::KIND;
pub use settings::Settings;

use crate::failure::Failure;
use crate::own_server::OwnServer;
use crate::probe;
use crate::process::{Process, Signal};
use crate::programs::version;
use crate::scratch::Scratch;
use crate::tls;
use crate::url::Url;

pub(crate) const NAME: &str = "PostgreSQL";
pub(crate) const INSTALL: &str = "apt-get install postgresql, brew install postgresql@17, or \
     STORAGEBOX_TEST_POSTGRES_BIN=the folder with initdb and postgres";

/// The name of the superuser and of the database, and the password.
const LOGIN: &str = "postgres";

/// A server with an empty cluster.
#[derive(Debug)]
pub struct Postgres {
    server: OwnServer,
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
        Self::start_in(scratch, programs, settings.clone())
    }

    fn start_in(scratch: Scratch, programs: PathBuf, settings: Settings) -> Result<Self, Failure> {
        let (folder, launched) = (programs.clone(), settings.clone());
        let launch = move |scratch: &Scratch, port| launch(scratch, &server(scratch, &folder, &launched, port), port);
        let server = OwnServer::start(NAME, Signal::Interrupt, scratch, launch)?;
        Ok(Self { server, programs, settings })
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
        Self::start_in(scratch, self.programs.clone(), self.settings.clone())
    }

    /// Returns the superuser's URL, without encryption.
    pub fn url(&self) -> String {
        format!("postgres://{LOGIN}:{LOGIN}@127.0.0.1:{}/{LOGIN}", self.port())
    }

    /// Returns the superuser's URL with encryption, checked against [`Self::authority`].
    pub fn tls_url(&self) -> Option<String> {
        let authority = self.authority()?;
        Some(format!("{}?sslmode=verify-full&sslrootcert={}", self.url(), authority.display()))
    }

    /// Returns the certificate of the authority that signed the server's certificate, if the server was started with
    /// TLS.
    pub fn authority(&self) -> Option<PathBuf> {
        self.settings.has_tls().then(|| tls::authority(self.scratch()))
    }

    /// Returns the version that the program reports, such as `15.18`.
    pub fn version(&self) -> Option<String> {
        version(&self.programs.join("postgres"))
    }

    /// Returns whether the server's programs are installed.
    pub fn is_installed() -> bool {
        programs::folder().is_ok()
    }
}

impl Deref for Postgres {
    type Target = OwnServer;

    fn deref(&self) -> &OwnServer {
        &self.server
    }
}

/// The cluster that `initdb` creates once per program. Each server starts with a copy of this cluster.
static MADE: Mutex<Option<Scratch>> = Mutex::new(None);

/// Copies the cluster that `initdb` has created for this program.
fn initialise(scratch: &Scratch, programs: &Path) -> Result<(), Failure> {
    // A copy takes a tenth of the time of `initdb`.
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
    let process = Process::start(scratch, "postgres", server)?;
    let (id, file) = (process.id(), data(scratch).join("postmaster.pid"));
    let url = Url::local(LOGIN, port);
    // An answer on the port alone might be from another server.
    process.started(NAME, || says_ready(&file, id) && probe::postgres(&url).is_ok())
}

/// Returns whether the file `postmaster.pid` contains this process number and says that the server is ready.
fn says_ready(file: &Path, process: u32) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut lines = text.lines();
    let is_ready = |word: &str| ["ready", "standby"].contains(&word.trim());
    lines.next() == Some(process.to_string().as_str()) && lines.last().is_some_and(is_ready)
}

fn data(scratch: &Scratch) -> PathBuf {
    scratch.path("data")
}
