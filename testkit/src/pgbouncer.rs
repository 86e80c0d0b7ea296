//! PgBouncer in transaction mode: a connection forgets its session state after each transaction.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use crate::failure::Failure;
use crate::port;
use crate::probe;
use crate::process::Process;
use crate::programs::{in_path, version};
use crate::scratch::Scratch;
use crate::url::Url;

const NAME: &str = "PgBouncer";
const INSTALL: &str = "apt-get install pgbouncer, or brew install pgbouncer";

/// Paths where the program may be, besides the folders on the `PATH`.
const KNOWN: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer"];

const PREPARED_STATEMENTS: &str = "max_prepared_statements";
const PREPARED_STATEMENTS_SINCE: (u32, u32) = (1, 21);

/// The settings of the pooler.
#[derive(Clone, Debug)]
pub struct Settings(Vec<(String, String)>);

impl Settings {
    /// Returns settings that give a server connection to another client after each transaction. The pool is so small
    /// that clients share server connections.
    pub fn transactions() -> Self {
        Self(vec![])
            .with("pool_mode", "transaction")
            .with("default_pool_size", "4")
            .with("max_client_conn", "1000")
            // Drivers send this setting with each connection, and the pooler refuses unknown settings.
            .with("ignore_startup_parameters", "extra_float_digits")
    }

    /// Sets any setting of the pooler. The last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let name = name.into();
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, value.into()));
        self
    }

    /// Keeps up to this many prepared statements of each client beyond a transaction. Needs PgBouncer 1.21 or later:
    /// see [`knows_prepared_statements`].
    #[must_use]
    pub fn with_prepared_statements(self, most: u32) -> Self {
        self.with(PREPARED_STATEMENTS, most.to_string())
    }

    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(other, _)| other == name)
    }
}

/// A pooler in front of a server. It ends when this value is dropped or our process ends.
#[derive(Debug)]
pub struct PgBouncer {
    // Fields drop in order: the process ends before its folder is removed.
    // The lock lets threads share the pooler.
    _process: Mutex<Process>,
    _scratch: Scratch,
    url: Url,
}

impl PgBouncer {
    /// Starts a pooler on a free port of 127.0.0.1, with the user and the password of the server's URL.
    ///
    /// # Errors
    ///
    /// Returns [`Failure::NotInstalled`], [`Failure::TooOld`], or why it does not start, with the end of its log.
    pub fn start(server: &str, settings: &Settings) -> Result<Self, Failure> {
        let server = Url::parse(server)?;
        let program = program()?;
        if settings.has(PREPARED_STATEMENTS) {
            must_know_prepared_statements()?;
        }
        let scratch = Scratch::new("pgbouncer")?;
        let (url, process) = port::with_free(|port| {
            let url = Url { host: "127.0.0.1".to_owned(), port, ..server.clone() };
            scratch.write("pgbouncer.ini", &configuration(&server, port, settings))?;
            scratch.write("users.txt", &users(&server))?;
            launch(&scratch, &program, &url).map(|process| (url, process))
        })?;
        Ok(Self { _process: Mutex::new(process), _scratch: scratch, url })
    }

    /// Returns the address that the pooler listens on, always on this machine.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.url.port))
    }

    /// Returns the server's URL with the pooler's address.
    pub fn url(&self) -> String {
        self.url.with_password()
    }
}

pub(crate) fn program() -> Result<PathBuf, Failure> {
    let known = || KNOWN.iter().map(PathBuf::from).find(|program| program.is_file());
    in_path("pgbouncer").or_else(known).ok_or(Failure::NotInstalled { server: NAME, install: INSTALL })
}

/// Returns whether a pooler is installed.
pub fn is_installed() -> bool {
    program().is_ok()
}

/// Returns whether the installed pooler can keep prepared statements.
///
/// # Errors
///
/// Returns [`Failure::NotInstalled`].
pub fn knows_prepared_statements() -> Result<bool, Failure> {
    let version = version(&program()?).unwrap_or_default();
    Ok(release(&version).is_some_and(|release| release >= PREPARED_STATEMENTS_SINCE))
}

fn must_know_prepared_statements() -> Result<(), Failure> {
    if knows_prepared_statements()? {
        return Ok(());
    }
    let version = version(&program()?).unwrap_or_default();
    Err(Failure::TooOld { server: NAME, version, setting: PREPARED_STATEMENTS, since: "1.21" })
}

fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn configuration(server: &Url, port: u16, settings: &Settings) -> String {
    let Url { host, port: server_port, .. } = server;
    let fixed = format!(
        "[databases]\n* = host={host} port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = users.txt\n"
    );
    let others = settings.0.iter().map(|(name, value)| format!("{name} = {value}\n"));
    std::iter::once(fixed).chain(others).collect()
}

/// Returns the file of users, with the plain password that the pooler needs for its login to the server.
fn users(server: &Url) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    format!("{} {}\n", quoted(&server.user), quoted(&server.password))
}

fn launch(scratch: &Scratch, program: &PathBuf, url: &Url) -> Result<Process, Failure> {
    let mut pooler = Command::new(program);
    pooler.arg("pgbouncer.ini");
    let answers = || probe::postgres(url).is_ok();
    Process::start_until(scratch, (NAME, "pgbouncer"), &pooler, "process up", answers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(release("1.18.0"), Some((1, 18)));
        assert!(release("1.9.0") < release("1.21.0"));
        assert_eq!(release("unknown"), None);
    }

    #[test]
    fn the_last_value_of_a_setting_is_used() {
        let server = Url::parse("postgres://ann:\"@db:5/x").unwrap();
        let text = configuration(&server, 7, &Settings::transactions().with("default_pool_size", "9"));
        assert_eq!(text.matches("default_pool_size").count(), 1);
        assert!(text.contains("host=db port=5\n") && text.contains("default_pool_size = 9\n"), "{text}");
        assert_eq!(users(&server), "\"ann\" \"\"\"\"\n");
    }
}
