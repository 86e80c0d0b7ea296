//! How a server is set up.

/// What a server is started with, beside its port and its folder.
#[derive(Clone, Debug)]
pub struct Settings {
    values: Vec<(String, String)>,
    tls: bool,
    quick: bool,
}

impl Settings {
    /// For suites: nothing is written for good, so that a crash of the machine may lose all. A killed process of the
    /// server loses what was committed last. The data stands in memory, on a machine with a place for that.
    pub fn quick() -> Self {
        let quick = Self { quick: true, ..Self::new() };
        quick.with("fsync", "off").with("synchronous_commit", "off").with("full_page_writes", "off")
    }

    /// For crash tests and measurements: what was committed is on the disk.
    pub fn durable() -> Self {
        Self::new().with("fsync", "on").with("synchronous_commit", "on")
    }

    fn new() -> Self {
        Self { values: vec![], tls: false, quick: false }.with("max_connections", "300").with("jit", "off")
    }

    /// Any setting of the server, such as `shared_buffers`; the last value of a name counts.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.push((name.into(), value.into()));
        self
    }

    /// Takes encrypted connections too, with a certificate of an authority of its own. It needs `openssl`.
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
