//! How far a run has come, and what a signal does there.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

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
    /// Signals since the command ended.
    caught_at_the_end: u32,
    unshown: Option<io::Error>,
}

/// Where one run is.
#[derive(Debug, Default)]
pub(super) struct Stage {
    state: Mutex<State>,
    given_up: Notify,
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The command's output was wanted and could not be written.
    pub(super) fn could_not_show(&self, why: Option<io::Error>) {
        self.lock().unshown = why;
    }

    /// Why the output of the command was not shown, if it was not.
    pub(super) fn unshown(&self) -> Option<io::Error> {
        self.lock().unshown.take()
    }

    pub(super) fn was_interrupted(&self) -> bool {
        self.lock().caught > 0
    }

    /// The command has ended, and nobody wants to wait for those that hold its output open.
    pub(super) async fn output_is_given_up(&self) {
        self.given_up.notified().await;
    }

    /// A signal came. Whether this process ends at once: a command that runs is told and waited for, and one that has
    /// ended is recorded, unless somebody insists.
    pub(super) fn hears(&self, caught: Caught) -> bool {
        let mut state = self.lock();
        match state.phase {
            Phase::Waiting => true,
            Phase::Running(process) => {
                state.caught += 1;
                match state.caught {
                    1 => signal::hand_on(process, caught),
                    _ => signal::kill(process),
                }
                false
            }
            Phase::Ended(_) => {
                state.caught_at_the_end += 1;
                self.given_up.notify_one();
                state.caught_at_the_end > 1
            }
        }
    }
}
