//! The settings of a server.

use std::time::Duration;

/// How long a master may be silent before a replica takes over, if a test sets no other time.
const START_TIMEOUT: Duration = Duration::from_secs(600);

/// The settings of a server, besides its port and its folder.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(String, String)>,
    silence: Duration,
    tls: bool,
    sentinel: bool,
}

impl Settings {
    /// Returns settings for suites: nothing is persistent, so a killed process loses all data.
    pub fn quick() -> Self {
        Self::new().with("save", "\"\"").with("appendonly", "no")
    }

    /// Returns settings for crash tests and measurements: acknowledged writes are in the log on the disk.
    pub fn durable() -> Self {
        Self::new().with("save", "\"\"").with("appendonly", "yes").with("appendfsync", "always")
    }

    fn new() -> Self {
        Self { values: vec![], silence: START_TIMEOUT, tls: false, sentinel: false }
    }

    /// Returns settings for a sentinel, which only stores what it knows about other servers.
    pub fn sentinel() -> Self {
        Self { sentinel: true, ..Self::new() }
    }

    pub(super) fn is_sentinel(&self) -> bool {
        self.sentinel
    }

    /// Sets any setting of the server, such as `maxmemory`, as in a line of its file. The last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// Sets how long a master must be silent before a replica takes over, in a cluster and with sentinels. Defaults to
    /// ten minutes, so that no running master on a busy machine is considered dead.
    #[must_use]
    pub fn with_failover_after(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// Returns how long a master may be silent before a replica takes over, in milliseconds.
    pub(super) fn silence(&self) -> u128 {
        self.silence.as_millis()
    }

    /// Accepts only encrypted connections, with a certificate of its own authority. Needs `openssl`.
    #[must_use]
    pub fn with_tls(mut self) -> Self {
        self.tls = true;
        self
    }

    pub(super) fn has_tls(&self) -> bool {
        self.tls
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|(name, value)| format!("{name} {value}"))
    }
}
