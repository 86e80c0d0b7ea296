//! Counts system calls of this process with strace.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::NamedTempFile;

pub(super) struct Strace {
    child: Child,
    summary: NamedTempFile,
}

impl Strace {
    /// Attaches strace. Returns `None` if strace is missing, or may not trace this process.
    pub(super) fn attach() -> Option<Self> {
        let summary = NamedTempFile::new().ok()?;
        let mut child = Command::new("strace")
            .args(["-f", "-c", "-o"])
            .arg(summary.path())
            .args(["-p", &std::process::id().to_string()])
            .stderr(Stdio::piped())
            .spawn()
            .ok()?;
        let mut first = String::new();
        BufReader::new(child.stderr.as_mut()?).read_line(&mut first).ok()?;
        if first.contains(" attached") {
            return Some(Self { child, summary });
        }
        child.wait().ok()?;
        None
    }

    pub(super) fn detach(mut self) -> Option<u64> {
        let interrupt = format!("kill -INT {}", self.child.id());
        Command::new("sh").args(["-c", &interrupt]).status().ok()?;
        self.child.wait().ok()?;
        total(&fs::read_to_string(self.summary.path()).ok()?)
    }
}

fn total(summary: &str) -> Option<u64> {
    summary.lines().find(|line| line.ends_with(" total"))?.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_call_total_is_read_from_the_last_line() {
        let summary = "\
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000003           3         1           write
------ ----------- ----------- --------- --------- ----------------
100.00    0.000005           2         3         1 total
";
        assert_eq!(total(summary), Some(3));
        assert_eq!(total(""), None);
    }
}
