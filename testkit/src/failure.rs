//! The reasons why there is no server.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// The reason why there is no server. Its text says what to do next.
#[derive(Debug)]
pub enum Failure {
    /// Every way to get a server failed.
    NoServer(Box<NoServer>),
    /// The variable contains a URL that does not lead to a server.
    Given {
        variable: &'static str,
        failure: Box<Failure>,
    },
    /// No server of this kind answers at the address.
    Unreachable {
        address: String,
        error: io::Error,
    },
    /// The text is not the URL of a server.
    Url {
        form: &'static str,
        why: &'static str,
    },
    /// The variable that selects the way to get a server contains an unknown name.
    Way {
        found: String,
    },
    /// The server's program is not installed.
    NotInstalled {
        server: &'static str,
        install: &'static str,
    },
    /// The variable names a folder that does not contain the program.
    NoProgram {
        variable: &'static str,
        program: PathBuf,
    },
    /// The server is installed but does not start, or does not restart.
    DoesNotStart {
        server: &'static str,
        why: NotReady,
        log: String,
    },
    /// The server is too old for a setting.
    TooOld {
        server: &'static str,
        version: String,
        setting: &'static str,
        since: &'static str,
    },
    /// A process that a server left behind does not end.
    DoesNotEnd {
        process: u32,
    },
    /// The call needs a running server or a stopped server, and the server is in the other state.
    WrongState {
        server: &'static str,
        needs: &'static str,
    },
    /// We are root, and none of the users that servers may run as exists.
    NoAccount {
        users: &'static [&'static str],
    },
    NoFreePort,
    /// A command failed.
    Program {
        command: String,
        status: ExitStatus,
        output: String,
    },
    Started {
        program: PathBuf,
        error: io::Error,
    },
    File {
        path: PathBuf,
        error: io::Error,
    },
    /// The error of Docker.
    Docker(String),
    /// There is no default image, and the variable that names an image is not set.
    NoImage {
        variable: &'static str,
    },
    /// This build does not have the feature `docker`.
    WithoutDocker,
}

/// The reason why a server did not start.
#[derive(Debug, PartialEq, Eq)]
pub enum NotReady {
    Ended(ExitStatus),
    Silent(Duration),
}

/// The ways that were tried, and what to do about it.
#[derive(Debug)]
pub struct NoServer {
    pub server: &'static str,
    /// Each way, and why it failed.
    pub tried: Vec<String>,
    pub url_variable: &'static str,
    pub image_variable: &'static str,
    /// The default image, if there is one.
    pub image: Option<String>,
    pub install: &'static str,
}

impl Failure {
    /// Returns whether the server did not start because another process uses its port.
    pub(crate) fn is_for_a_taken_port(&self) -> bool {
        // The messages of all servers about a port in use contain these words.
        matches!(self, Self::DoesNotStart { log, .. } if log.contains("already in use"))
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer(no_server) => no_server.fmt(f),
            Self::Given { variable, failure } => write!(f, "{variable}: {failure}"),
            Self::Unreachable { address, error } => write!(f, "{address} does not answer: {error}"),
            Self::Url { form, why } => write!(f, "this URL is not of the form {form}: {why}"),
            Self::Way { found } => {
                write!(f, "STORAGEBOX_TEST_SERVERS is `{found}`; it may be `docker` or `local`")
            }
            Self::NotInstalled { server, install } => write!(f, "{server} is not installed; {install}"),
            Self::NoProgram { variable, program } => {
                write!(f, "{variable} is set, but there is no {}", program.display())
            }
            Self::DoesNotStart { server, why, log } => {
                write!(f, "{server} is installed and does not start: it {why}; its log ends:\n{log}")
            }
            Self::TooOld { server, version, setting, since } => {
                write!(f, "{server} {version} does not know {setting}, which needs {since} or later")
            }
            Self::DoesNotEnd { process } => write!(f, "the server's process {process} does not end"),
            Self::WrongState { server, needs } => write!(f, "{server} {needs}"),
            Self::NoAccount { users } => {
                write!(f, "servers do not run as root, and there is no user {}", users.join(" or "))
            }
            Self::NoFreePort => f.write_str("no port of 127.0.0.1 is free below 32768"),
            Self::Program { command, status, output } => write!(f, "{output}\n`{command}` failed: {status}"),
            Self::Started { program, error } => write!(f, "{} did not start: {error}", program.display()),
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::Docker(why) => f.write_str(why),
            Self::NoImage { variable } => write!(f, "there is no default image; {variable} may name an image"),
            Self::WithoutDocker => f.write_str("this build cannot use Docker: it lacks the feature `docker`"),
        }
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(status) => write!(f, "ended with {status}"),
            Self::Silent(limit) => write!(f, "did not answer within {limit:?}"),
        }
    }
}

impl fmt::Display for NoServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the tests need {} and found none:", self.server)?;
        for tried in &self.tried {
            writeln!(f, "  {tried}")?;
        }
        writeln!(f, "Any one of three ways will do:")?;
        writeln!(f, "  1. {}=URL of a server that the tests may write to", self.url_variable)?;
        writeln!(f, "  2. Docker, with `cargo xtask test --servers docker`: it uses {}", self.images())?;
        writeln!(f, "     (DOCKER_HOST says where another engine is)")?;
        write!(f, "  3. the programs themselves: {}", self.install)
    }
}

impl NoServer {
    fn images(&self) -> String {
        let named = format!("the image that {} names", self.image_variable);
        self.image.as_ref().map_or(named.clone(), |image| format!("{image}, or {named}"))
    }
}
