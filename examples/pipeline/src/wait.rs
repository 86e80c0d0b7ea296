//! Waiting for a condition, for as long as anything happens.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::failure::Failure;

/// For how long nothing may happen. RabbitMQ takes a minute to start.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// How often is looked.
const POLL: Duration = Duration::from_millis(100);

/// The last lines of the workers' log that a failure shows.
const LINES: usize = 12;

/// A wait that ends in a failure when nothing has happened for too long.
pub(crate) struct Wait<'a> {
    what: &'static str,
    log: &'a Path,
    events: u64,
    since: Instant,
}

impl<'a> Wait<'a> {
    pub(crate) fn for_(what: &'static str, log: &'a Path) -> Self {
        Self { what, log, events: 0, since: Instant::now() }
    }

    /// Waits for the next look. `events` grows when something happens.
    pub(crate) async fn look_again(&mut self, events: u64) -> Result<(), Failure> {
        if events != self.events {
            (self.events, self.since) = (events, Instant::now());
        }
        if self.since.elapsed() > PATIENCE {
            return Err(Failure::Stuck { what: self.what, log: last_words(self.log) });
        }
        sleep(POLL).await;
        Ok(())
    }

    /// For how long nothing has happened.
    pub(crate) fn quiet(&self) -> Duration {
        self.since.elapsed()
    }
}

fn last_words(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
