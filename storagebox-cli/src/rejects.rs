//! The list of lines that could not be used.

use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::input::{Reason, Source};
use crate::output::{PendingCsv, Target};
use crate::say::{Kind, say};

#[derive(Debug)]
pub(crate) struct Rejects {
    target: Target,
    file: Option<PendingCsv>,
    count: u64,
}

impl Rejects {
    pub(crate) fn new(target: Target) -> Self {
        Self { target, file: None, count: 0 }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn add(&mut self, source: &Source, line: u64, reason: Reason) -> Result<(), Failure> {
        self.count += 1;
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = PendingCsv::create(self.target.clone(), ["file", "line", "reason"])?;
                self.file.insert(file)
            }
        };
        file.write([&source.to_string(), &line.to_string(), &reason.to_string()])
    }

    /// Puts the list in its place. Without any rejected line, none is left there from an earlier run.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        match self.file {
            Some(file) => file.publish(),
            None => self.target.remove(),
        }
    }
}

/// Where the list is unless another place was named: `codes.rejects.csv` beside `codes.csv`.
pub(crate) fn beside(source: &Source) -> PathBuf {
    match source {
        Source::File(path) => path.with_extension("rejects.csv"),
        Source::StandardInput => "storagebox.rejects.csv".into(),
    }
}

/// Says that some lines were left out; it does not make the run a failure.
pub(crate) fn warn(count: u64, list: &Path) {
    if count > 0 {
        let lines = if count == 1 { "line" } else { "lines" };
        say(Kind::Warning, format_args!("{count} {lines} could not be used; see {}", list.display()));
    }
}
