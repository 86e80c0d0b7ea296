//! Mistakes with void calls, which banks and counters share.

use std::collections::HashSet;
use std::sync::Mutex;

use storagebox_core::{Attempt, Error, Result};

use crate::bank::BankMistake;
use crate::counter::CounterMistake;
use crate::steps::lock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoidMistake {
    VoidsNothing,
    HasNoNumber,
    NeverEnds,
}

impl VoidMistake {
    pub(crate) fn of_bank(mistake: BankMistake) -> Option<Self> {
        match mistake {
            BankMistake::RefusalVoidsNothing => Some(Self::VoidsNothing),
            BankMistake::VoidHasNoNumber => Some(Self::HasNoNumber),
            BankMistake::VoidNeverEnds => Some(Self::NeverEnds),
            _ => None,
        }
    }

    pub(crate) fn of_counter(mistake: CounterMistake) -> Option<Self> {
        match mistake {
            CounterMistake::RefusalVoidsNothing => Some(Self::VoidsNothing),
            CounterMistake::VoidHasNoNumber => Some(Self::HasNoNumber),
            CounterMistake::VoidNeverEnds => Some(Self::NeverEnds),
            _ => None,
        }
    }
}

/// The call numbers of the repeated attempts.
#[derive(Default)]
pub(crate) struct VoidState(Mutex<HashSet<i64>>);

impl VoidState {
    /// Returns the attempt that the mutant passes to the inner store.
    pub(crate) fn spoilt(&self, mistake: Option<VoidMistake>, attempt: Attempt) -> Result<Attempt> {
        match mistake {
            Some(VoidMistake::VoidsNothing) => Ok(Attempt::of_call(attempt.call())),
            Some(VoidMistake::HasNoNumber) => Ok(Attempt::of_call(0).after_lost(attempt.is_repeated())),
            Some(VoidMistake::NeverEnds) if attempt.is_repeated() => {
                let mut calls = lock(&self.0);
                calls.insert(attempt.call());
                let is_full = calls.len() > Attempt::MAX_VOID;
                if is_full { Err(Error::unknown("too many calls are void")) } else { Ok(attempt) }
            }
            _ => Ok(attempt),
        }
    }
}
