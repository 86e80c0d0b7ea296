//! A kind of server, and a server that was found.

use std::any::Any;
use std::fmt;
use std::io;
use std::time::Duration;

use crate::failure::Failure;

/// How to get a server if no URL is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A container. Needs the feature `docker`.
    Docker,
    /// The server's programs on this machine.
    Local,
}

impl Way {
    /// Returns the name of the way in `STORAGEBOX_TEST_SERVERS`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Local => "local",
        }
    }

    /// Returns the way of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Docker, Self::Local].into_iter().find(|way| way.name() == name)
    }
}

/// The description of a kind of server. A new kind is one value of this type.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) url_variable: &'static str,
    /// How to install the programs of the server.
    pub(crate) install: &'static str,
    pub(crate) image: Image,
    /// Starts the server from installed programs. Returns [`Failure::NotInstalled`] if no programs are installed.
    pub(crate) local: fn() -> Result<Started, Failure>,
    /// Returns the URL without its secrets.
    pub(crate) shown: fn(&str) -> Result<String, Failure>,
    /// Checks that the server at a URL answers in its own protocol. Returns its version, or `None` if the answer does
    /// not contain the version.
    pub(crate) ask: fn(&str) -> io::Result<Option<String>>,
}

impl Kind {
    /// Returns the version of the server at a URL, if it answers.
    pub(crate) fn version(&self, url: &str) -> Option<String> {
        (self.ask)(url).ok().flatten()
    }
}

/// An image that runs the server.
pub(crate) struct Image {
    /// The environment variable that names an image to use instead of the default.
    pub(crate) variable: &'static str,
    pub(crate) default: Option<&'static str>,
    #[cfg_attr(not(feature = "docker"), expect(dead_code, reason = "only Docker asks"))]
    pub(crate) run: Run,
}

/// How to run the image.
#[cfg_attr(not(feature = "docker"), expect(dead_code, reason = "only Docker asks"))]
pub(crate) struct Run {
    pub(crate) port: u16,
    pub(crate) environment: &'static [(&'static str, &'static str)],
    pub(crate) command: &'static [&'static str],
    pub(crate) url: fn(&str, u16) -> String,
}

impl Image {
    pub(crate) fn name(&self) -> Option<String> {
        std::env::var(self.variable).ok().or_else(|| self.default.map(str::to_owned))
    }
}

/// A server that we started. The server ends when `guard` is dropped.
pub(crate) struct Started {
    pub(crate) url: String,
    pub(crate) version: Option<String>,
    pub(crate) guard: Box<dyn Any + Send + Sync>,
}

/// A server that answers. If we started it, it ends when this value is dropped.
pub struct Server {
    pub(crate) kind: &'static str,
    pub(crate) variable: &'static str,
    pub(crate) url: String,
    pub(crate) shown: String,
    pub(crate) origin: String,
    pub(crate) version: Option<String>,
    pub(crate) took: Duration,
    pub(crate) _guard: Box<dyn Any + Send + Sync>,
}

impl Server {
    /// Returns the URL of the server, secrets included.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the variable that passes the URL to a test program.
    pub fn variable(&self) -> &'static str {
        self.variable
    }
}

/// Shows the server in one line, without secrets.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or("of unknown version");
        let Self { kind, shown, origin, took, .. } = self;
        write!(f, "{kind} {version}, {origin}, {shown}, ready after {:.1} s", took.as_secs_f64())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
