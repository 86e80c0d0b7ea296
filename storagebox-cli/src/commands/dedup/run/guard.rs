//! The guard: a second process of this program that ends a command whose runner was killed.
//!
//! The guard reads from a pipe that the system closes when the runner ends in any way. The guard has its own process
//! group, so that a signal to the group of the runner does not reach it. It cannot end processes that left the group of
//! the command.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::tree::Tree;

/// The command-line argument that makes this program run as a guard.
const GUARD: &str = "guard-a-run";

/// The line that tells the guard to kill no process.
const DONE: &str = "done\n";

#[derive(Debug)]
pub(super) struct Guard(Child);

impl Guard {
    /// Starts the guard process. Returns `None` if it cannot be started.
    pub(super) fn start() -> Option<Self> {
        // The executable of a test is the test program, which cannot be a guard.
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

    /// Tells the guard which group to kill when this program ends.
    pub(super) fn guards(&self, group: Pid) {
        self.tell(&format!("{}\n", group.as_raw_nonzero()));
    }

    /// Sends a line to the guard. Ignores a guard that has ended.
    fn tell(&self, line: &str) {
        let _ = self.0.stdin.as_ref().map(|mut pipe| pipe.write_all(line.as_bytes()));
    }
}

/// Tells the guard to kill no process, and does not wait until the guard has ended.
impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(DONE);
    }
}

/// Returns the path of this program, even if the file was replaced by another version.
fn myself() -> Option<std::path::PathBuf> {
    match cfg!(target_os = "linux") {
        true => Some("/proc/self/exe".into()),
        false => std::env::current_exe().ok(),
    }
}

/// Runs the guard if this process was started as a guard. Returns whether this process is a guard.
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
