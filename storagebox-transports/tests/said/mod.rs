//! Records the log of a test.
#![allow(dead_code, reason = "not every program of tests needs all of it")]

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default, set_global_default};
use tracing_subscriber::fmt;

#[derive(Clone, Default)]
pub(crate) struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A second subscriber, without which `tracing` may skip a line that another test logged first.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

impl Said {
    /// Records the log of this thread from this level upwards.
    pub(crate) fn here(level: LevelFilter) -> (Self, DefaultGuard) {
        LazyLock::force(&SECOND);
        let said = Self::default();
        let writer = said.clone();
        let subscriber = fmt().with_ansi(false).with_max_level(level).with_writer(move || writer.clone()).finish();
        (said, set_default(subscriber))
    }

    /// Records the log of all threads at every level.
    pub(crate) fn everywhere() -> Self {
        LazyLock::force(&SECOND);
        let said = Self::default();
        let writer = said.clone();
        let subscriber = fmt().with_ansi(false).with_max_level(LevelFilter::TRACE).with_writer(move || writer.clone());
        set_global_default(subscriber.finish()).unwrap();
        said
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// Returns the recorded lines that contain `part`.
    pub(crate) fn lines(&self, part: &str) -> Vec<String> {
        self.text().lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
    }
}
