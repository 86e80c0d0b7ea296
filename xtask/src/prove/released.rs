//! The released command, in a folder with its files and on one store.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;
use storagebox_testkit::Folder;

use crate::command::{captured, cargo, silent};
use crate::hand_out_report::HandOutReport;
use crate::steps::step;
use crate::workspace;

/// Builds the command with these options of cargo.
pub(super) fn build(options: &[&str]) -> Result<()> {
    let build = ["build", "--release", "--locked", "-p", "storagebox-cli"];
    step("release build", || silent(cargo(build.iter().chain(options).copied())))
}

pub(super) fn program() -> Result<Command> {
    Ok(Command::new(workspace::released("storagebox")?))
}

pub(super) struct Released {
    program: PathBuf,
    folder: Folder,
    url: String,
}

impl Released {
    /// Sets up the store. A relative path in the URL starts in the folder.
    pub(super) fn new(name: &str, url: &str) -> Result<Self> {
        let program = workspace::released("storagebox")?;
        let released = Self { program, folder: Folder::new(name)?, url: url.to_owned() };
        captured(released.command(&["setup"]))?;
        Ok(released)
    }

    /// Returns a command in the folder. Other users cannot see the URL, which is not on the command line.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env("STORAGEBOX_URL", &self.url);
        command
    }

    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// Checks that the combined reports in these files give each of `people` people one item. Returns the number of
    /// lines.
    pub(super) fn check_reports(&self, files: impl Iterator<Item = String>, people: usize) -> Result<usize> {
        let texts = files.map(|file| workspace::read(self.path(&file))).collect::<Result<Vec<_>>>()?;
        let report = HandOutReport::read(texts.iter().map(String::as_str))?;
        report.check_items(&workspace::read(self.path("items.csv"))?)?;
        report.check_people(people)?;
        Ok(report.lines)
    }

    /// Runs the command's own audit, which fails if anything is inconsistent.
    pub(super) fn audit(&self, bank: &str) -> Result<()> {
        captured(self.command(&["bank", "audit", bank])).map(drop)
    }

    /// Returns one of the counts that the command prints for a bank, such as `free` or `held`.
    pub(super) fn count(&self, bank: &str, key: &str) -> Result<usize> {
        let counts: Value = serde_json::from_str(&captured(self.command(&["bank", "counts", bank, "--json"]))?)?;
        let count = counts[key].as_u64().and_then(|count| usize::try_from(count).ok());
        count.with_context(|| format!("the command printed no count `{key}`: {counts}"))
    }
}
