//! What a program's subscriber hears.
#![allow(dead_code, reason = "not every program of tests needs all of it")]

use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::{DefaultGuard, NoSubscriber, set_default, set_global_default};
use tracing_subscriber::fmt;

/// All that was said, line by line.
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

/// While there is one subscriber alone, `tracing` decides for all threads by the one that comes to a line first:
/// another test's, which hears nothing. With a second one it asks them all.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));

impl Said {
    /// What this thread says.
    pub(crate) fn here(level: LevelFilter) -> (Self, DefaultGuard) {
        LazyLock::force(&SECOND);
        let said = Self::default();
        let writer = said.clone();
        let subscriber = fmt().with_ansi(false).with_max_level(level).with_writer(move || writer.clone()).finish();
        (said, set_default(subscriber))
    }

    /// What all threads say, as much as there is.
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

    /// The lines that have this in them.
    pub(crate) fn lines(&self, part: &str) -> Vec<String> {
        self.text().lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
    }
}
