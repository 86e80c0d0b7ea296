//! The processes of a command: its first process, the descendants, and the orphans among them.
//!
//! Without a terminal the command has its own process group, so that a signal reaches all its processes, and only
//! through this program. On a terminal the command stays in the group of this program, because Ctrl-C, Ctrl-Z and input
//! belong to the foreground group. On Linux this program also adopts every process that loses its parent, in any group
//! or session.

#[cfg(any(target_os = "android", target_os = "linux"))]
mod adopted;
#[cfg(not(any(target_os = "android", target_os = "linux")))]
#[path = "tree/not_adopted.rs"]
mod adopted;

use std::collections::HashSet;
use std::fs::File;
use std::time::Duration;

use rustix::process::{Pid, getpgid, getpgrp, kill_process, kill_process_group, test_kill_process_group};
use rustix::termios::tcgetpgrp;
use tokio::process::Command;
use tokio::time::{Instant, sleep};

use super::stage::DEATH;
use crate::interrupt::{ENDS, Signal};

pub(in crate::commands::dedup) use adopted::adopt_orphans;

/// How long processes that outlive the command may take to end after SIGTERM.
const GRACE: Duration = Duration::from_secs(5);

/// The pause between two checks for processes that outlive the command.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// The first process of the command, and how to reach the processes that it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    leader: Pid,
    has_group: bool,
    leader_is_there: bool,
}

/// Puts the command into its own group, unless this program has a terminal. Returns whether the command has its own
/// group.
pub(super) fn set_apart(command: &mut Command) -> bool {
    let has_group = File::open("/dev/tty").is_err();
    if has_group {
        command.process_group(0);
    }
    has_group
}

impl Tree {
    pub(super) fn of(leader: Option<u32>, has_group: bool) -> Option<Self> {
        let leader = Pid::from_raw(leader?.try_into().ok()?)?;
        Some(Self { leader, has_group, leader_is_there: true })
    }

    pub(super) fn group(self) -> Option<Pid> {
        self.has_group.then_some(self.leader)
    }

    /// Returns the tree without its first process, whose id may be reused after its end.
    pub(super) fn without_leader(self) -> Self {
        Self { leader_is_there: false, ..self }
    }

    /// Passes a signal on, unless the terminal has sent it to the command too.
    pub(super) fn pass_on(self, signal: Signal) {
        let of_terminals = matches!(signal, Signal::HUP | Signal::INT | Signal::QUIT);
        if !(of_terminals && !self.has_group && is_in_the_foreground()) {
            self.send(signal);
        }
        if ENDS.contains(&signal) {
            // A stopped process cannot end before it continues.
            self.send(Signal::CONT);
        }
    }

    /// Registers a child of this program that does not belong to a command.
    pub(super) fn leave_out(process: Pid) {
        adopted::leave_out(process);
    }

    pub(super) fn kill(self) {
        self.send(Signal::KILL);
    }

    /// Sends the signal to all processes of the command. Ignores a process that has just ended.
    fn send(self, signal: Signal) {
        let by_group = self.has_group && (self.leader_is_there || !adopted::are_known());
        if by_group {
            let _ = kill_process_group(self.leader, signal);
        } else if self.leader_is_there {
            // Signals the leader last, because its descendants are found through it.
            for process in adopted::below(self.leader).into_iter().chain([self.leader]) {
                let _ = kill_process(process, signal);
            }
        }
        for orphan in self.orphans() {
            if !(by_group && getpgid(Some(orphan)) == Ok(self.leader)) {
                let _ = kill_process(orphan, signal);
            }
        }
    }

    pub(super) fn reap(self) {
        adopted::reap(self.leader_is_there.then_some(self.leader));
    }

    fn orphans(self) -> Vec<Pid> {
        adopted::orphans(self.leader_is_there.then_some(self.leader))
    }

    /// Returns whether no process is left.
    fn is_gone(self) -> bool {
        self.reap();
        let has_group = self.has_group && !adopted::are_known() && test_kill_process_group(self.leader).is_ok();
        // Reads the orphans twice, because Linux may omit an orphan while another orphan ends.
        !has_group && self.orphans().is_empty() && self.orphans().is_empty()
    }

    /// Ends the processes that outlive the command, and returns whether all have ended. Sends SIGTERM, and SIGKILL
    /// after the time `GRACE` or as soon as `insists` returns true.
    #[allow(clippy::disallowed_methods, reason = "processes end in real time")]
    pub(super) async fn end(self, insists: impl Fn() -> bool) -> bool {
        let begun = Instant::now();
        let mut asked = HashSet::new();
        while !self.is_gone() {
            match begun.elapsed() {
                late if late > GRACE + DEATH => return false,
                waited if waited > GRACE || insists() => self.kill(),
                _ => self.ask(&mut asked),
            }
            // When a process ends, its children become orphans, and the next round finds them.
            sleep(LOOK_AGAIN).await;
        }
        true
    }

    fn ask(self, asked: &mut HashSet<Pid>) {
        if !adopted::are_known() && asked.insert(self.leader) {
            self.send(Signal::TERM);
        }
        for orphan in self.orphans() {
            if asked.insert(orphan) {
                let _ = kill_process(orphan, Signal::TERM);
            }
        }
    }
}

/// Returns whether signals of the terminal reach the group of this program.
fn is_in_the_foreground() -> bool {
    let foreground = File::open("/dev/tty").and_then(|terminal| Ok(tcgetpgrp(&terminal)?));
    foreground.is_ok_and(|foreground| foreground == getpgrp())
}
