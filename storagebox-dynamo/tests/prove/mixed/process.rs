//! One of the processes: this program started again, or a Python program with the package.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use storagebox_core::Result;
use storagebox_testkit::python;

use super::worker::{IDS, ITEMS, RECORDS, TOLD};
use crate::support::failed;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Ours,
    Theirs,
}

pub(super) struct Tables {
    pub(super) endpoint: String,
    pub(super) items: String,
    pub(super) records: String,
}

pub(super) struct Process {
    pub(super) kind: Kind,
    command: Command,
    child: Child,
    told: PathBuf,
    /// The file with the process id. The test's folder ends the process with this id when the folder is removed.
    number: PathBuf,
    /// The length of the process's file of outcomes when the process was started.
    told_before: u64,
}

impl Process {
    pub(super) fn start(kind: Kind, tables: &Tables, folder: &Path, number: usize, ids: &[String]) -> Result<Self> {
        let file = |name| folder.join(format!("{name}-{number}.txt"));
        let (list, told) = (file("ids"), file("told"));
        fs::write(&list, ids.join("\n")).map_err(failed)?;
        let mut command = match kind {
            Kind::Ours => ours(tables, &list, &told)?,
            Kind::Theirs => theirs(tables, &list, &told)?,
        };
        // Every emulator accepts these keys.
        command.env("AWS_ACCESS_KEY_ID", "storagebox").env("AWS_SECRET_ACCESS_KEY", "nothing");
        command.env("AWS_DEFAULT_REGION", "us-east-1").env("AWS_ENDPOINT_URL", &tables.endpoint);
        command.env("AWS_EC2_METADATA_DISABLED", "true").stdin(Stdio::null()).stdout(Stdio::null());
        let number = file("process").with_extension("pid");
        let child = command.current_dir(folder).spawn().map_err(failed)?;
        let process = Self { kind, command, child, told, number, told_before: 0 };
        process.register().map(|()| process)
    }

    /// Returns whether the process is still running. Fails if the process failed.
    pub(super) fn is_at_work(&mut self) -> Result<bool> {
        match self.child.try_wait().map_err(failed)? {
            None => Ok(true),
            Some(status) if status.success() => Ok(false),
            Some(status) => Err(failed(format_args!("a process of {:?} ended with {status}", self.kind))),
        }
    }

    /// Returns whether the process has written an outcome since it was started.
    pub(super) fn has_begun(&self) -> bool {
        self.told_so_far() > self.told_before
    }

    fn told_so_far(&self) -> u64 {
        fs::metadata(&self.told).map_or(0, |file| file.len())
    }

    pub(super) fn kill_and_start_again(&mut self) -> Result<()> {
        self.child.kill().map_err(failed)?;
        self.child.wait().map_err(failed)?;
        self.told_before = self.told_so_far();
        self.child = self.command.spawn().map_err(failed)?;
        self.register()
    }

    fn register(&self) -> Result<()> {
        fs::write(&self.number, self.child.id().to_string()).map_err(failed)
    }

    pub(super) fn told(&self) -> Result<Vec<(String, String)>> {
        let text = fs::read_to_string(&self.told).map_err(failed)?;
        let pair = |line: &str| line.split_once('\t').map(|(id, item)| (id.to_owned(), item.to_owned()));
        let pairs: Option<Vec<_>> = text.lines().map(pair).collect();
        pairs.ok_or_else(|| failed(format_args!("{} has half a line", self.told.display())))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ours(tables: &Tables, ids: &Path, told: &Path) -> Result<Command> {
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.args(["--exact", "mixed::worker::a_worker_process", "--ignored", "--nocapture"]);
    command.env(ITEMS, format!("dynamodb://us-east-1/{}?endpoint={}", tables.items, tables.endpoint));
    command.env(RECORDS, &tables.records).env(IDS, ids).env(TOLD, told);
    Ok(command)
}

fn theirs(tables: &Tables, ids: &Path, told: &Path) -> Result<Command> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prove/worker.py");
    let mut command = Command::new(python::with_the_package_of_article_1().map_err(failed)?);
    command.arg(script).args([&tables.items, &tables.records]).args([ids, told]);
    Ok(command)
}
