//! Orphans: Linux makes processes that lost their parent children of this program.

use std::fs;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, WaitOptions, getpgid, getpid, set_child_subreaper, waitpid};

/// Children of this program that do not belong to a command, such as the children of a shell that became this program
/// by `exec`.
static OTHERS: OnceLock<Mutex<Vec<Pid>>> = OnceLock::new();

/// Makes this program the parent of all orphans of a command. If the system refuses, signals reach only the group of
/// the command.
pub(in crate::commands::dedup) fn adopt_orphans() {
    let me = getpid();
    if me == Pid::INIT || set_child_subreaper(Some(me)).is_ok() {
        let _ = OTHERS.set(Mutex::new(children(me)));
    }
}

/// Returns whether all orphans belong to the command.
pub(super) fn are_known() -> bool {
    // The first process of a container also gets the orphans of other programs.
    OTHERS.get().is_some() && getpid() != Pid::INIT
}

/// Registers a child of this program that does not belong to a command.
pub(super) fn leave_out(process: Pid) {
    if let Some(others) = OTHERS.get() {
        others.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }
}

/// Returns the orphans of the command. Returns no orphan if [`are_known`] returns false.
pub(super) fn orphans(leader: Option<Pid>) -> Vec<Pid> {
    if are_known() { came(leader) } else { vec![] }
}

pub(super) fn reap(leader: Option<Pid>) {
    for orphan in came(leader) {
        let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

fn came(leader: Option<Pid>) -> Vec<Pid> {
    let Some(others) = OTHERS.get() else { return vec![] };
    let others = others.lock().unwrap_or_else(PoisonError::into_inner);
    let mut came = children(getpid());
    came.retain(|child| Some(*child) != leader && !others.contains(child));
    came
}

/// Returns the descendants of a process that are in its group.
pub(super) fn below(process: Pid) -> Vec<Pid> {
    let group = getpgid(Some(process)).ok();
    let (mut below, mut next) = (vec![], 0);
    let mut of = process;
    loop {
        below.extend(children(of));
        let Some(child) = below.get(next) else { break };
        (of, next) = (*child, next + 1);
    }
    below.retain(|process| getpgid(Some(*process)).ok() == group);
    below
}

fn children(process: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let parsed = lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>());
    parsed.filter_map(Pid::from_raw).collect()
}
