//! How far a run has come, and what a signal does there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::interrupt::Caught;

use super::signal;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The store was not asked yet, or said that another runs it.
    #[default]
    Waiting,
    /// The command runs, under this process id.
    Running(u32),
    /// The command has ended, with this code.
    Ended(u8),
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Whether another was seen to run it.
    waited: bool,
    caught: u32,
}

/// Where one run is.
#[derive(Debug, Default)]
pub(super) struct Stage(Mutex<State>);

impl Stage {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another runs it; whether that is news.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.lock();
        !std::mem::replace(&mut state.waited, true)
    }

    pub(super) fn waited(&self) -> bool {
        self.lock().waited
    }

    pub(super) fn runs(&self, process: u32) {
        self.lock().phase = Phase::Running(process);
    }

    pub(super) fn ended(&self, exit_code: u8) {
        self.lock().phase = Phase::Ended(exit_code);
    }

    /// How the command ended, if it ran here.
    pub(super) fn exit_code(&self) -> Option<u8> {
        match self.lock().phase {
            Phase::Ended(exit_code) => Some(exit_code),
            Phase::Waiting | Phase::Running(_) => None,
        }
    }

    pub(super) fn was_interrupted(&self) -> bool {
        self.lock().caught > 0
    }

    /// A signal came. Whether there is nothing to wait for: a command that runs is told and waited for, and one that
    /// has ended is recorded.
    pub(super) fn hears(&self, caught: Caught) -> bool {
        let mut state = self.lock();
        match state.phase {
            Phase::Waiting => true,
            Phase::Ended(_) => false,
            Phase::Running(process) => {
                state.caught += 1;
                match state.caught {
                    1 => signal::hand_on(process, caught),
                    _ => signal::kill(process),
                }
                false
            }
        }
    }
}
