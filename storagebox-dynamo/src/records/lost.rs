//! Writes whose replies were lost.

use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox_core::{Certainty, Error, ErrorKind, Result};

use super::log::{Log, Mark};

/// How often a call asks again at once after a lost reply: the longer it waits, the more others write over its own write.
const AT_ONCE: u32 = 6;

/// What became of writes whose replies were lost.
#[derive(Debug)]
pub(super) enum Fate<T> {
    /// One was made, and this is its answer.
    Made(T),
    /// None was made, and none ever will be: what they asked of the row is gone for ever.
    Not,
    /// Others wrote too much since.
    Unknown,
}

/// What a call wrote without learning whether it did, and what it is answered if it did.
#[derive(Debug)]
pub(super) struct Lost<T>(Mutex<Vec<(Mark, T)>>);

impl<T> Default for Lost<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Lost<T> {
    fn lock(&self) -> MutexGuard<'_, Vec<(Mark, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the write if its failure leaves it open.
    pub(super) fn noting(&self, error: Error, mark: Mark, answer: T) -> Error {
        if error.certainty() == Certainty::Unknown {
            self.lock().push((mark, answer));
        }
        error
    }

    /// What became of the writes, as the log tells.
    pub(super) fn fate(&self, log: &Log) -> Fate<T> {
        let lost = self.lock();
        match lost.iter().find(|(mark, _)| log.has(*mark)) {
            Some((_, answer)) => Fate::Made(answer.clone()),
            None if lost.iter().all(|(mark, _)| log.reaches(mark.number())) => Fate::Not,
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
