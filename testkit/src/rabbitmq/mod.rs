//! RabbitMQ from the programs of this machine.

mod epmd;
mod kind;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use epmd::Epmd;
pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::process::{Process, Signal, log_of};
use crate::programs::in_path;
use crate::running::{Paused, Running};
use crate::scratch::Scratch;
use crate::{port, probe};

pub(crate) const NAME: &str = "RabbitMQ";
pub(crate) const INSTALL: &str = "apt-get install rabbitmq-server, or brew install rabbitmq";

/// Debian's own program on the path runs for root and `rabbitmq` only. This one runs for everybody.
const DEBIAN: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// The program.
const SERVER: &str = "rabbitmq-server";

/// The name of the broker's files.
const BROKER: &str = "broker";

/// An empty broker of our own, without plugins. It goes with this value and with our process, however that ends.
///
/// It runs as the user `postgres`, or else `nobody`, if we are root. All calls block.
#[derive(Debug)]
pub struct RabbitMq {
    // Ended before its port mapper: fields go in this order.
    running: Running,
    epmd: Epmd,
    program: PathBuf,
}

impl RabbitMq {
    /// Starts a broker on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// [`Failure::NotInstalled`], or why a broker that is installed does not start, with the end of its log.
    pub fn start() -> Result<Self, Failure> {
        let program = program().ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let scratch = Scratch::new("rabbitmq")?;
        let epmd = Epmd::start(&scratch)?;
        let running = Running::start(NAME, scratch, |scratch, port| launch(scratch, &program, &epmd, port))?;
        Ok(Self { running, epmd, program })
    }

    /// Starts it again after [`Self::kill`] or [`Self::stop`], with the same data and on the same port.
    ///
    /// # Errors
    ///
    /// As of [`Self::start`]; [`Failure::WrongState`] if it runs.
    pub fn start_again(&self) -> Result<(), Failure> {
        self.running.start_again(|scratch, port| launch(scratch, &self.program, &self.epmd, port))
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
        self.running.end(Signal::Terminate)
    }

    /// Stops all its processes (SIGSTOP) until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// [`Failure::WrongState`] if it does not run.
    pub fn pause(&self) -> Result<Paused<'_>, Failure> {
        self.running.pause()
    }

    /// The URL of the user `guest`, who may do everything.
    pub fn url(&self) -> String {
        format!("amqp://127.0.0.1:{}", self.running.port())
    }

    /// Whether its programs are on this machine.
    pub fn is_installed() -> bool {
        program().is_some()
    }
}

fn program() -> Option<PathBuf> {
    Some(PathBuf::from(DEBIAN)).filter(|program| program.is_file()).or_else(|| in_path(SERVER))
}

fn launch(scratch: &Scratch, program: &Path, epmd: &Epmd, port: u16) -> Result<Process, Failure> {
    let log = log_of(scratch, BROKER);
    // Earlier starts wrote there too.
    let said = || fs::read_to_string(&log).unwrap_or_default();
    let earlier = said().len();
    if earlier == 0 {
        // The broker writes there under its own user.
        scratch.write(&format!("{BROKER}.log"), "")?;
    }
    let mut process = Process::start(scratch, BROKER, &server(scratch, program, epmd, port)?)?;
    // Its own word first: an answer on the port alone might be another server's.
    let listens = || said().get(earlier..).is_some_and(|log| log.contains("Server startup complete"));
    let ready = process.ready(|| listens() && probe::rabbitmq("127.0.0.1", port).is_ok());
    ready.map_err(|why| Failure::DoesNotStart { server: NAME, why, log: process.log() }).map(|()| process)
}

fn server(scratch: &Scratch, program: &Path, epmd: &Epmd, port: u16) -> Result<Command, Failure> {
    let mut server = Command::new(program);
    server.env("HOME", scratch.path("")).env("RABBITMQ_NODENAME", "storagebox@localhost");
    server.env("ERL_EPMD_ADDRESS", "127.0.0.1").env("ERL_EPMD_PORT", epmd.port().to_string());
    server.env("RABBITMQ_DIST_PORT", port::free()?.to_string());
    server.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}");
    // So that the script becomes the broker, and does not stay beside it.
    server.env("RUNNING_UNDER_SYSTEMD", "true");
    server.env("RABBITMQ_CONFIG_FILE", scratch.write("rabbitmq.conf", &configuration(scratch, port))?);
    server.env("RABBITMQ_ADVANCED_CONFIG_FILE", scratch.write("advanced.config", ADVANCED)?);
    // The machine's own settings are for the machine's own broker.
    server.env("RABBITMQ_CONF_ENV_FILE", scratch.write("environment", "")?);
    for (name, file) in FILES {
        server.env(name, scratch.path(file));
    }
    Ok(server)
}

/// Where it keeps what it would keep in the system's folders.
const FILES: [(&str, &str); 3] =
    [("RABBITMQ_ENABLED_PLUGINS_FILE", "plugins"), ("RABBITMQ_LOG_BASE", "logs"), ("RABBITMQ_MNESIA_BASE", "data")];

/// A message that has expired and whose next queue was not ready, as after a crash, goes there after a second. It would
/// be three minutes.
const ADVANCED: &str = "[{rabbit, [{dead_letter_worker_publisher_confirm_timeout, 1000}]}].\n";

fn configuration(scratch: &Scratch, port: u16) -> String {
    let log = log_of(scratch, BROKER);
    let lines = [
        format!("listeners.tcp.default = 127.0.0.1:{port}"),
        format!("log.file = {}", log.display()),
        "log.file.level = info".to_owned(),
        "log.console = false".to_owned(),
        // A test writes little, also on a disk that is nearly full.
        "disk_free_limit.absolute = 1MB".to_owned(),
    ];
    lines.join("\n") + "\n"
}
