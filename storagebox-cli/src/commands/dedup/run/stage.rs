//! The state of a run, and what a signal does in each phase.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::exit::RunFailure;
use crate::interrupt::{ENDS, ONE_REQUEST, Signal};

use super::guard::Guard;
use super::tree::Tree;

/// How long a killed process may take to end. A process that the system holds or that another user owns may never end.
pub(super) const DEATH: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The command has not started, because the store was not called yet or another runner has the lease.
    #[default]
    Waiting,
    /// The command runs, or has ended without a result and may have left processes.
    Running(Tree),
    /// The command has ended without a result, and no process that it started still runs.
    Gone,
    /// The command has ended by itself with this exit code. If the result is recorded, processes that the command left
    /// may keep running.
    Ended(u8, Tree),
}

/// The signals that asked for the end of the command while the command was running.
#[derive(Debug, Default)]
struct Requests {
    first: Option<Instant>,
    heard: Vec<Signal>,
    /// The time of the first attempt to kill the command.
    forced: Option<Instant>,
}

/// The meaning of a signal that requests the end while the command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    ForTheEnd,
    Again,
    WithForce,
    /// End this process, because the command was killed and has not ended.
    ToLeave,
}

impl Requests {
    fn weigh(&mut self, signal: Signal, now: Instant) -> Asks {
        if is_one_request(&mut self.first, now) {
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

/// Returns whether a signal belongs to the first request to end, and notes the time of that request.
fn is_one_request(first: &mut Option<Instant>, now: Instant) -> bool {
    now.duration_since(*first.get_or_insert(now)) < ONE_REQUEST
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// Whether another runner had the lease.
    waited: bool,
    requests: Requests,
    /// The time of the first request to end since the command ended.
    asked_at_the_end: Option<Instant>,
    unshown: Option<io::Error>,
    guard: Option<Guard>,
}

/// The state of a run, shared by the code that runs the command, handles signals and records the result.
#[derive(Debug, Default)]
pub(super) struct Stage {
    state: Mutex<State>,
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that another runner has the lease. Returns true only at the first call.
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

    /// Notes that no process of the command is left.
    pub(super) fn is_gone(&self) {
        let mut state = self.lock();
        state.phase = Phase::Gone;
        state.guard = None;
    }

    /// Notes that the command has ended, and forgets the id of its first process.
    pub(super) fn leader_ended(&self) {
        let mut state = self.lock();
        if let Phase::Running(tree) = state.phase {
            state.phase = Phase::Running(tree.without_leader());
        }
    }

    /// Notes the result of a command that has ended by itself.
    pub(super) fn ended(&self, exit_code: u8) {
        let mut state = self.lock();
        if let Phase::Running(tree) = state.phase {
            state.phase = Phase::Ended(exit_code, tree);
            state.guard = None;
        }
    }

    /// Notes that the result will never be recorded.
    pub(super) fn result_is_lost(&self) {
        let mut state = self.lock();
        if let Phase::Ended(_, tree) = state.phase {
            state.phase = Phase::Running(tree);
        }
    }

    /// Returns the exit code, if the command ran here and ended by itself.
    pub(super) fn exit_code(&self) -> Option<u8> {
        match self.lock().phase {
            Phase::Ended(exit_code, _) => Some(exit_code),
            _ => None,
        }
    }

    /// Returns the processes of the command, unless the command has a result.
    pub(super) fn tree(&self) -> Option<Tree> {
        match self.lock().phase {
            Phase::Running(tree) => Some(tree),
            _ => None,
        }
    }

    pub(super) fn could_not_show(&self, why: Option<io::Error>) {
        self.lock().unshown = why;
    }

    pub(super) fn unshown(&self) -> Option<io::Error> {
        self.lock().unshown.take()
    }

    /// Returns whether the command was asked to end.
    pub(super) fn was_interrupted(&self) -> bool {
        self.lock().requests.first.is_some()
    }

    /// Returns whether the command was killed on request.
    pub(super) fn insists(&self) -> bool {
        self.lock().requests.forced.is_some()
    }

    /// Handles a signal, and returns whether this process must end at once. A running command gets the signal, and is
    /// killed at a later request to end.
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
            // The first request to end is ignored, so that the result is recorded or the lease is returned.
            Phase::Ended(..) | Phase::Gone => {
                let now = Instant::now();
                ENDS.contains(&signal) && !is_one_request(&mut state.asked_at_the_end, now)
            }
        }
    }

    /// Returns the failure for a process that a signal ends at once.
    pub(super) fn why_interrupted(&self) -> RunFailure {
        match self.lock().phase {
            Phase::Waiting => RunFailure::NotRun,
            Phase::Running(_) => RunFailure::Abandoned,
            Phase::Gone => RunFailure::LeaseKept,
            Phase::Ended(exit_code, _) => RunFailure::Unrecorded { exit_code },
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::time::advance;

    use super::*;

    /// Returns the stage of a command that has ended by itself, and whose result is to be recorded.
    fn ended() -> Stage {
        let stage = Stage::default();
        stage.runs(Tree::of(Some(std::process::id()), false).unwrap(), None);
        stage.ended(0);
        stage
    }

    /// `timeout` sends a signal to the process and to its group, and a terminal that closes sends SIGHUP too.
    #[tokio::test(start_paused = true)]
    async fn signals_at_once_after_the_end_of_the_command_are_one_request() {
        let gone = ended();
        gone.is_gone();
        for stage in [ended(), gone] {
            assert!(!stage.hears(Signal::TERM) && !stage.hears(Signal::HUP), "{:?}", stage.lock().phase);
            advance(ONE_REQUEST - Duration::from_millis(1)).await;
            assert!(!stage.hears(Signal::TERM), "{:?}", stage.lock().phase);
            advance(Duration::from_millis(1)).await;
            assert!(!stage.hears(Signal::USR1) && stage.hears(Signal::TERM), "{:?}", stage.lock().phase);
        }
    }
}
