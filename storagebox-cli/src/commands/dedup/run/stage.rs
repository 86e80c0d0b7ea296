//! How far a run has come, and what a signal does there.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::exit::RunFailure;
use crate::interrupt::{ENDS, ONE_REQUEST, Signal};

use super::guard::Guard;
use super::tree::Tree;

/// How long a process may take to end that was killed; the system may hold it, or it may be another user's.
pub(super) const DEATH: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The store was not asked yet, or said that another runs it.
    #[default]
    Waiting,
    /// The command runs, or has ended without a result while other processes of it are still there.
    Running(Tree),
    /// The command has ended without a result, and no process of it is left.
    Gone,
    /// The command has ended by itself, with this code. What it left behind may go on, if the result is recorded.
    Ended(u8, Tree),
}

/// The requests to end while the command runs.
#[derive(Debug, Default)]
struct Requests {
    first: Option<Instant>,
    heard: Vec<Signal>,
    /// When force was asked for.
    forced: Option<Instant>,
}

/// What a request to end asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    ForTheEnd,
    Again,
    WithForce,
    /// Force was used, and did not help.
    ToLeave,
}

impl Requests {
    fn weigh(&mut self, signal: Signal, now: Instant) -> Asks {
        if now.duration_since(*self.first.get_or_insert(now)) < ONE_REQUEST {
            let is_heard = self.heard.contains(&signal);
            self.heard.push(signal);
            return if is_heard { Asks::Again } else { Asks::ForTheEnd };
        }
        match now.duration_since(*self.forced.get_or_insert(now)) {
            since if since < DEATH => Asks::WithForce,
            _ => Asks::ToLeave,
        }
    }
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Whether another was seen to run it.
    waited: bool,
    requests: Requests,
    /// Requests since the command ended.
    asked_at_the_end: u32,
    unshown: Option<io::Error>,
    guard: Option<Guard>,
}

/// Where one run is.
#[derive(Debug, Default)]
pub(super) struct Stage {
    state: Mutex<State>,
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

    pub(super) fn runs(&self, tree: Tree, guard: Option<Guard>) {
        if let Some((guard, group)) = guard.as_ref().zip(tree.group()) {
            guard.guards(group);
        }
        let mut state = self.lock();
        state.phase = Phase::Running(tree);
        state.guard = guard;
    }

    /// No process of the command is left.
    pub(super) fn is_gone(&self) {
        let mut state = self.lock();
        state.phase = Phase::Gone;
        state.guard = None;
    }

    /// The command itself has ended, and its id may be another's.
    pub(super) fn leader_ended(&self) {
        let mut state = self.lock();
        if let Phase::Running(tree) = state.phase {
            state.phase = Phase::Running(tree.without_leader());
        }
    }

    /// The command has ended by itself, and that is its result.
    pub(super) fn ended(&self, exit_code: u8) {
        let mut state = self.lock();
        if let Phase::Running(tree) = state.phase {
            state.phase = Phase::Ended(exit_code, tree);
            state.guard = None;
        }
    }

    /// The result was not recorded, and never will be.
    pub(super) fn result_is_lost(&self) {
        let mut state = self.lock();
        if let Phase::Ended(_, tree) = state.phase {
            state.phase = Phase::Running(tree);
        }
    }

    /// How the command ended, if it ran here and ended by itself.
    pub(super) fn exit_code(&self) -> Option<u8> {
        match self.lock().phase {
            Phase::Ended(exit_code, _) => Some(exit_code),
            _ => None,
        }
    }

    /// The processes of the command, unless its result stands.
    pub(super) fn tree(&self) -> Option<Tree> {
        match self.lock().phase {
            Phase::Running(tree) => Some(tree),
            _ => None,
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

    /// Whether the command was asked to end.
    pub(super) fn was_interrupted(&self) -> bool {
        self.lock().requests.first.is_some()
    }

    /// Whether that was asked with force.
    pub(super) fn insists(&self) -> bool {
        self.lock().requests.forced.is_some()
    }

    /// A signal came. Whether this process ends at once: a command that runs gets the signal and is waited for, and one
    /// that has ended is recorded, unless somebody insists.
    #[allow(clippy::disallowed_methods, reason = "people and programs send signals in real time")]
    pub(super) fn hears(&self, signal: Signal) -> bool {
        let mut state = self.lock();
        match state.phase {
            Phase::Waiting => ENDS.contains(&signal),
            Phase::Running(tree) if !ENDS.contains(&signal) => {
                tree.pass_on(signal);
                false
            }
            Phase::Running(tree) => {
                let asks = state.requests.weigh(signal, Instant::now());
                match asks {
                    Asks::ForTheEnd => tree.pass_on(signal),
                    Asks::WithForce => tree.kill(),
                    Asks::Again | Asks::ToLeave => {}
                }
                asks == Asks::ToLeave
            }
            Phase::Ended(..) | Phase::Gone => {
                state.asked_at_the_end += u32::from(ENDS.contains(&signal));
                state.asked_at_the_end > 1
            }
        }
    }

    /// What a signal ended, if this process ends at once.
    pub(super) fn why_interrupted(&self) -> RunFailure {
        match self.lock().phase {
            Phase::Waiting => RunFailure::NotRun,
            Phase::Running(_) => RunFailure::Abandoned,
            Phase::Gone => RunFailure::LeaseKept,
            Phase::Ended(exit_code, _) => RunFailure::Unrecorded { exit_code },
        }
    }
}
