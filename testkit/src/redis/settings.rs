//! How a server is set up.

use std::time::Duration;

/// How long a master may be silent where nobody is to take over from it.
const START_TIMEOUT: Duration = Duration::from_secs(600);

/// What a server is started with, beside its port and its folder.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(String, String)>,
    silence: Duration,
    tls: bool,
    sentinel: bool,
}

impl Settings {
    /// For suites: nothing is kept, so that a killed process loses all.
    pub fn quick() -> Self {
        Self::new().with("save", "\"\"").with("appendonly", "no")
    }

    /// For crash tests and measurements: what was acknowledged is in the log on the disk.
    pub fn durable() -> Self {
        Self::new().with("save", "\"\"").with("appendonly", "yes").with("appendfsync", "always")
    }

    fn new() -> Self {
        Self { values: vec![], silence: START_TIMEOUT, tls: false, sentinel: false }
    }

    /// For a sentinel, which keeps nothing but what it knows of others.
    pub fn sentinel() -> Self {
        Self { sentinel: true, ..Self::new() }
    }

    pub(super) fn is_sentinel(&self) -> bool {
        self.sentinel
    }

    /// Any setting of the server, such as `maxmemory`, as a line of its file has it; the last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// A replica takes over from a master that has been silent for so long, in a cluster and behind sentinels; ten
    /// minutes unless told otherwise, so that no machine is so busy that a master is taken for dead that nobody killed.
    #[must_use]
    pub fn with_failover_after(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    /// How long a master may be silent, in milliseconds.
    pub(super) fn silence(&self) -> u128 {
        self.silence.as_millis()
    }

    /// Takes encrypted connections only, with a certificate of an authority of its own. It needs `openssl`.
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
