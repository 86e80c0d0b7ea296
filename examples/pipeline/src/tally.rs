//! What the workers say.

use std::sync::{Mutex, MutexGuard, PoisonError};

use storagebox::Outcome;
use storagebox::messages::ProcessError;

use crate::stage::Stage;

/// What became of a copy of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Processed,
    Resumed,
    Duplicate,
    Parked,
    Retried,
}

impl Said {
    const ALL: [Self; 5] = [Self::Processed, Self::Resumed, Self::Duplicate, Self::Parked, Self::Retried];

    pub(crate) fn of(result: &Result<Outcome, ProcessError>) -> Self {
        match result {
            Ok(Outcome::Processed { .. } | Outcome::NoEffect) => Self::Processed,
            Ok(Outcome::Resumed { .. }) => Self::Resumed,
            Ok(Outcome::Duplicate { .. }) => Self::Duplicate,
            // Workers park at the first refusal.
            Err(ProcessError::Handler(_) | ProcessError::NoToken) => Self::Parked,
            Err(ProcessError::Store(_) | ProcessError::Dispatch(_)) => Self::Retried,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Processed => "processed",
            Self::Resumed => "resumed",
            Self::Duplicate => "duplicate",
            Self::Parked => "parked",
            Self::Retried => "retried",
        }
    }
}

/// How often each was said, by stage, and who was killed. A worker that is killed before it speaks is not heard, so these
/// numbers are for people; the books are what counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    said: [[u64; Said::ALL.len()]; Stage::ALL.len()],
    pub(crate) workers_killed: u64,
    pub(crate) brokers_killed: u64,
}

impl Counts {
    pub(crate) fn of(&self, stage: Stage, said: Said) -> u64 {
        self.said[stage as usize][said as usize]
    }

    pub(crate) fn all(&self, said: Said) -> u64 {
        Stage::ALL.iter().map(|stage| self.of(*stage, said)).sum()
    }

    /// Everything that was said, and every kill: it grows as long as anything happens.
    pub(crate) fn events(&self) -> u64 {
        self.said.as_flattened().iter().sum::<u64>() + self.workers_killed + self.brokers_killed
    }
}

#[derive(Debug, Default)]
pub(crate) struct Tally(Mutex<Counts>);

impl Tally {
    pub(crate) fn hear(&self, stage: Stage, line: &str) {
        if let Some(said) = Said::ALL.into_iter().find(|said| said.word() == line) {
            self.counts_mut().said[stage as usize][said as usize] += 1;
        }
    }

    pub(crate) fn worker_killed(&self) {
        self.counts_mut().workers_killed += 1;
    }

    pub(crate) fn broker_killed(&self) {
        self.counts_mut().brokers_killed += 1;
    }

    pub(crate) fn counts(&self) -> Counts {
        *self.counts_mut()
    }

    fn counts_mut(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_counted_by_stage() {
        let tally = Tally::default();
        for line in ["processed", "duplicate", "processed", "nonsense"] {
            tally.hear(Stage::Payments, line);
        }
        tally.hear(Stage::Shipping, "parked");
        let counts = tally.counts();
        assert_eq!((counts.of(Stage::Payments, Said::Processed), counts.all(Said::Parked), counts.events()), (2, 1, 4));
    }
}
