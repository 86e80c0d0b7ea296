//! What became of a call's writes, whatever it was answered.

use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox_core::{Certainty, Error, ErrorKind, Result};

use super::log::{Log, Mark};

/// How often a call asks again at once after a lost reply: the longer it waits, the more others write over its own
/// write.
const AT_ONCE: u32 = 6;

/// What became of a call's writes.
#[derive(Debug)]
pub(super) enum Fate<T> {
    /// One was made, and this is its answer.
    Made(T),
    /// None was made, and none ever will be: what they asked of the row is gone for ever.
    Not,
    /// Others wrote too much since.
    Unknown,
}

/// What a call has sent, and what it is answered if that was made.
#[derive(Debug)]
pub(super) struct Sent<T>(Mutex<Vec<Try<T>>>);

#[derive(Debug)]
struct Try<T> {
    mark: Mark,
    answer: T,
    /// Whether it may land yet, for all that is known.
    is_lost: bool,
}

impl<T> Default for Sent<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Sent<T> {
    fn lock(&self) -> MutexGuard<'_, Vec<Try<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a write before it is sent: whatever it is answered, it may be found in the row.
    pub(super) fn note(&self, mark: Mark, answer: T) {
        self.lock().push(Try { mark, answer, is_lost: false });
    }

    /// Remembers that the last write may land yet, if its failure leaves that open.
    pub(super) fn failed(&self, error: Error) -> Error {
        if let Some(last) = self.lock().last_mut() {
            last.is_lost = error.certainty() == Certainty::Unknown;
        }
        error
    }

    /// What became of the writes, as the log tells.
    pub(super) fn fate(&self, log: &Log) -> Fate<T> {
        let sent = self.lock();
        match sent.iter().find(|one| log.has(one.mark)) {
            Some(made) => Fate::Made(made.answer.clone()),
            None if sent.iter().all(|one| !one.is_lost || log.reaches(one.mark.number())) => Fate::Not,
            None => Fate::Unknown,
        }
    }
}

/// Makes an attempt, and a few more at once while their replies are lost.
pub(super) async fn at_once<T, F>(attempt: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut is_lost = false;
    for _ in 0..AT_ONCE {
        match attempt().await {
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => is_lost = true,
            Err(error) if is_lost => return Err(error.after_unresolved()),
            answer => return answer,
        }
    }
    attempt().await.map_err(Error::after_unresolved)
}
