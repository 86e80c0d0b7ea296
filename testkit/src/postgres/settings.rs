//! The settings of a server.

/// The settings of a server, besides its port and its folder.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(String, String)>,
    tls: bool,
    quick: bool,
}

impl Settings {
    /// Returns settings for suites: nothing is flushed to disk, so a crash of the machine may lose all data, and a
    /// killed server process loses the last commits. The data is in memory if the machine has a place for it.
    pub fn quick() -> Self {
        let quick = Self { quick: true, ..Self::new() };
        quick.with("fsync", "off").with("synchronous_commit", "off").with("full_page_writes", "off")
    }

    /// Returns settings for crash tests and measurements: committed data is on the disk.
    pub fn durable() -> Self {
        Self::new().with("fsync", "on").with("synchronous_commit", "on")
    }

    fn new() -> Self {
        Self { values: vec![], tls: false, quick: false }.with("max_connections", "300").with("jit", "off")
    }

    /// Sets any setting of the server, such as `shared_buffers`. The last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// Also accepts encrypted connections, with a certificate of its own authority. Needs `openssl`.
    #[must_use]
    pub fn with_tls(mut self) -> Self {
        self.tls = true;
        self
    }

    pub(super) fn has_tls(&self) -> bool {
        self.tls
    }

    pub(super) fn is_quick(&self) -> bool {
        self.quick
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.values.iter().map(|(name, value)| format!("{name}={value}"))
    }
}
