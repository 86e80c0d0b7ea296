//! Logs a worker's errors of its queue. Logs each kind of error at `WARN` at most every five minutes.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use storagebox_core::{BoxError, Error, ErrorKind};
use tokio::time::Instant;
use tracing::{debug, error, warn};

/// The shortest time between two warnings about errors of the same kind.
const RARELY: Duration = Duration::from_secs(300);

/// When each kind of error was last logged.
#[derive(Default)]
pub(super) struct Missed(HashMap<String, Instant>);

impl Missed {
    /// Logs an error of the stream. Returns the error if a retry cannot succeed.
    pub(super) fn note(&mut self, error: BoxError) -> Option<Arc<Error>> {
        let text = with_causes(error.as_ref());
        let error = match error.downcast::<Error>() {
            Ok(error) => *error,
            Err(_) => {
                self.warn("", &text);
                return None;
            }
        };
        if is_final(error.kind()) {
            error!(error = text, "the worker stops: the queue refuses it, and a retry cannot help");
            return Some(Arc::new(error));
        }
        self.warn(&format!("{:?}", error.kind()), &text);
        None
    }

    /// Logs that a message was not settled. Returns the error if the queue will refuse every later settlement.
    pub(super) fn note_unsettled(&mut self, error: BoxError) -> Option<Arc<Error>> {
        let text = with_causes(error.as_ref());
        match error.downcast::<Error>() {
            Ok(error) if matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unsupported) => {
                error!(error = text, "the worker stops: it cannot settle messages, and a retry cannot help");
                Some(Arc::new(*error))
            }
            _ if self.is_due("unsettled") => {
                warn!(error = text, "settling a message failed; it may be delivered again");
                None
            }
            _ => None,
        }
    }

    fn warn(&mut self, kind: &str, error: &str) {
        match self.is_due(kind) {
            true => warn!(error, "the queue delivers no messages; the worker keeps asking"),
            false => debug!(error, "the queue gave no delivery"),
        }
    }

    fn is_due(&mut self, kind: &str) -> bool {
        let now = now();
        let is_due = self.0.get(kind).is_none_or(|last| now.duration_since(*last) >= RARELY);
        if is_due {
            self.0.insert(kind.to_owned(), now);
        }
        is_due
    }
}

/// Returns whether an error of this kind lasts until a person corrects the server, the queue or the user's rights.
fn is_final(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Denied | ErrorKind::Unsupported | ErrorKind::Corrupt | ErrorKind::InvalidInput)
}

fn with_causes(error: &(dyn StdError + 'static)) -> String {
    let mut shown = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        shown = if shown.contains(&text) { shown } else { format!("{shown}: {text}") };
        next = cause.source();
    }
    shown
}

#[allow(clippy::disallowed_methods, reason = "how often something is logged; no promise depends on it")]
fn now() -> Instant {
    Instant::now()
}
