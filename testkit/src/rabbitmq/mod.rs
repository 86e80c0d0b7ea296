//! RabbitMQ from the programs on this machine.

mod epmd;
mod kind;

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;

use epmd::Epmd;
pub(crate) use kind::KIND;

use crate::failure::Failure;
use crate::own_server::OwnServer;
use crate::process::{Process, Signal, log_of};
use crate::programs::in_path;
use crate::scratch::Scratch;
use crate::{port, probe};

pub(crate) const NAME: &str = "RabbitMQ";
pub(crate) const INSTALL: &str = "apt-get install rabbitmq-server, or brew install rabbitmq";

/// The path of Debian's program that every user may run. The program on Debian's `PATH` is for root and `rabbitmq`
/// only.
const DEBIAN: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

const SERVER: &str = "rabbitmq-server";

const BROKER: &str = "broker";

/// An empty broker without plugins.
#[derive(Debug)]
pub struct RabbitMq {
    server: OwnServer,
}

impl RabbitMq {
    /// Starts a broker on a free port of 127.0.0.1.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], or why an installed broker does not start, with the end of its log.
    pub fn start() -> Result<Self, Failure> {
        Self::start_with("")
    }

    /// Starts a broker with these terms in its advanced configuration, such as `{consumer_timeout, 1000}`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::start`].
    pub fn start_with(more: &str) -> Result<Self, Failure> {
        let advanced = advanced(more);
        let program = program().ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })?;
        let scratch = Scratch::new("rabbitmq")?;
        let epmd = Epmd::start(&scratch)?;
        let launch = move |scratch: &Scratch, port| launch(scratch, &program, &advanced, &epmd, port);
        Ok(Self { server: OwnServer::start(NAME, Signal::Terminate, scratch, launch)? })
    }

    /// Returns the URL of the user `guest`, who may do everything.
    pub fn url(&self) -> String {
        format!("amqp://127.0.0.1:{}", self.port())
    }

    /// Returns whether its programs are installed.
    pub fn is_installed() -> bool {
        program().is_some()
    }
}

fn program() -> Option<PathBuf> {
    Some(PathBuf::from(DEBIAN)).filter(|program| program.is_file()).or_else(|| in_path(SERVER))
}

impl Deref for RabbitMq {
    type Target = OwnServer;

    fn deref(&self) -> &OwnServer {
        &self.server
    }
}

fn launch(scratch: &Scratch, program: &Path, advanced: &str, epmd: &Epmd, port: u16) -> Result<Process, Failure> {
    let mut broker = server(scratch, program, epmd, port)?;
    broker.env("RABBITMQ_ADVANCED_CONFIG_FILE", scratch.write("advanced.config", advanced)?);
    let answers = || probe::rabbitmq("127.0.0.1", port).is_ok();
    Process::start_until(scratch, (NAME, BROKER), &broker, "Server startup complete", answers)
}

fn server(scratch: &Scratch, program: &Path, epmd: &Epmd, port: u16) -> Result<Command, Failure> {
    let mut server = Command::new(program);
    server.env("HOME", scratch.path("")).env("RABBITMQ_NODENAME", "storagebox@localhost");
    server.env("ERL_EPMD_ADDRESS", "127.0.0.1").env("ERL_EPMD_PORT", epmd.port().to_string());
    server.env("RABBITMQ_DIST_PORT", port::free()?.to_string());
    server.env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}");
    // With this variable, the script replaces itself with the broker instead of starting the broker as its child.
    server.env("RUNNING_UNDER_SYSTEMD", "true");
    server.env("RABBITMQ_CONFIG_FILE", scratch.write("rabbitmq.conf", &configuration(scratch, port))?);
    // The machine's own settings are only for the machine's own broker.
    server.env("RABBITMQ_CONF_ENV_FILE", scratch.write("environment", "")?);
    for (name, file) in FILES {
        server.env(name, scratch.path(file));
    }
    Ok(server)
}

/// The variables that name files of the broker, and the names of these files. By default, the files are in system
/// folders.
const FILES: [(&str, &str); 3] =
    [("RABBITMQ_ENABLED_PLUGINS_FILE", "plugins"), ("RABBITMQ_LOG_BASE", "logs"), ("RABBITMQ_MNESIA_BASE", "data")];

/// The setting by which a broker that cannot deliver an expired message to its next queue tries again after one second,
/// not three minutes.
const RETRY: &str = "{dead_letter_worker_publisher_confirm_timeout, 1000}";

fn advanced(more: &str) -> String {
    let terms: Vec<_> = [RETRY, more].into_iter().filter(|terms| !terms.is_empty()).collect();
    format!("[{{rabbit, [{}]}}].\n", terms.join(", "))
}

fn configuration(scratch: &Scratch, port: u16) -> String {
    let log = log_of(scratch, BROKER);
    let lines = [
        format!("listeners.tcp.default = 127.0.0.1:{port}"),
        format!("log.file = {}", log.display()),
        "log.file.level = info".to_owned(),
        "log.console = false".to_owned(),
        // Tests write little, so they may run on a disk that is nearly full.
        "disk_free_limit.absolute = 1MB".to_owned(),
    ];
    lines.join("\n") + "\n"
}
