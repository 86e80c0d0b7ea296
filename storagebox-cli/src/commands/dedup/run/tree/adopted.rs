//! The processes that Linux gives to this program because they lost their parent.

use std::fs;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, WaitOptions, getpgid, getpid, set_child_subreaper, waitpid};

/// The children of this program that are no command's: a shell may have had them before it became this program.
static OTHERS: OnceLock<Mutex<Vec<Pid>>> = OnceLock::new();

/// From here on every process of a command becomes a child of this program when it loses its parent. Where the system
/// refuses that, the command's group is all that is reached.
pub(in crate::commands::dedup) fn adopt_orphans() {
    let me = getpid();
    if me == Pid::INIT || set_child_subreaper(Some(me)).is_ok() {
        let _ = OTHERS.set(Mutex::new(children(me)));
    }
}

/// Whether the orphans that come to this program are the command's. To the first process of a container come those of
/// all others too; whatever is left there ends with it.
pub(super) fn are_known() -> bool {
    OTHERS.get().is_some() && getpid() != Pid::INIT
}

/// A child of this program that is no command's.
pub(super) fn leave_out(process: Pid) {
    if let Some(others) = OTHERS.get() {
        others.lock().unwrap_or_else(PoisonError::into_inner).push(process);
    }
}

/// The children of this program other than the command itself.
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

/// What was started by a process, and by what that started, and shares its group.
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

/// Each thread has its own list.
fn children(process: Pid) -> Vec<Pid> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero())).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let parsed = lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>());
    parsed.filter_map(Pid::from_raw).collect()
}
