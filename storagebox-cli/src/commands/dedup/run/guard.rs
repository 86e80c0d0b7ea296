//! A second process of this program, which ends a command whose runner was killed.
//!
//! It waits at a pipe that the system closes with the runner, however that ends. It is in a group of its own, so that what
//! kills the group of the runner does not reach it. What left the group of the command is beyond it.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::tree::Tree;

/// The only argument of a guard.
const GUARD: &str = "guard-a-run";

/// What the guard is told when the command may go on, or is gone.
const DONE: &str = "done\n";

#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// It starts while the command does.
    pub(super) fn start() -> Option<Self> {
        // A test is another program.
        let program = if cfg!(test) { None } else { myself() };
        let mut command = Command::new(program?);
        command
            .arg0("storagebox")
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let child = command.spawn().ok()?;
        Tree::leave_out(Pid::from_child(&child));
        Some(Self(child))
    }

    /// From here on the guard ends the group, if this program does not call it off.
    pub(super) fn guards(&self, group: Pid) {
        self.tell(&format!("{}\n", group.as_raw_nonzero()));
    }

    /// One that has gone is told nothing.
    fn tell(&self, line: &str) {
        let _ = self.0.stdin.as_ref().map(|mut pipe| pipe.write_all(line.as_bytes()));
    }
}

/// Calls the guard off. It may have just begun, and is not waited for.
impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(DONE);
    }
}

/// This program, also after another version took its place.
fn myself() -> Option<std::path::PathBuf> {
    match cfg!(target_os = "linux") {
        true => Some("/proc/self/exe".into()),
        false => std::env::current_exe().ok(),
    }
}

/// Whether this process was started as a guard. It has done its work then.
pub(crate) fn was_asked_for() -> bool {
    let is_guard = std::env::args_os().skip(1).eq([OsStr::new(GUARD)]);
    if is_guard {
        let _ = guard();
    }
    is_guard
}

fn guard() -> io::Result<()> {
    let mut told = String::new();
    io::stdin().read_to_string(&mut told)?;
    let group = told.lines().last().and_then(|line| line.parse().ok()).and_then(Pid::from_raw);
    group.map_or(Ok(()), |group| Ok(kill_process_group(group, Signal::KILL)?))
}
