//! The peak of a child process's memory.

use std::fs;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::command::{checked, not_started};

const EVERY: Duration = Duration::from_millis(20);

/// Runs a child to its end, and returns the peak of its memory in bytes.
pub(super) fn of(mut command: Command) -> Result<u64> {
    let mut child = command.spawn().with_context(|| not_started(&command))?;
    let (status, peak) = watch(&mut child)?;
    checked(&command, status, String::new)?;
    peak.context("the peak of memory cannot be read: only Linux shows it, in /proc")
}

pub(super) fn too_high(peak: u64, limit: u64) -> String {
    format!("its peak memory was {} MiB; the limit is {} MiB", peak >> 20, limit >> 20)
}

/// Waits for the child, and returns the peak of its memory as the system has recorded it.
fn watch(child: &mut Child) -> std::io::Result<(ExitStatus, Option<u64>)> {
    let path = format!("/proc/{}/status", child.id());
    let mut peak = None;
    loop {
        peak = fs::read_to_string(&path).ok().and_then(|status| high_water(&status)).or(peak);
        if let Some(status) = child.try_wait()? {
            return Ok((status, peak));
        }
        thread::sleep(EVERY);
    }
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::exit_code;

    #[test]
    fn peak_memory_is_read_from_the_process_status() {
        assert_eq!(high_water("VmPeak:\t  9 kB\nVmHWM:\t    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(high_water("State:\tZ (zombie)\n"), None);
    }

    #[test]
    fn a_failed_child_returns_its_exit_code() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        assert_eq!(exit_code(&of(command).unwrap_err()), 3);
    }
}
