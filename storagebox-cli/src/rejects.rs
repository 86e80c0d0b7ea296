//! The list of lines that could not be used.

use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::input::{Reason, Source};
use crate::output::{PendingCsv, Reserved, Target};
use crate::say::{Kind, say};

const HEADER: [&str; 3] = ["file", "line", "reason"];
/// The same as it stands in a file.
const FIRST_LINE: &[u8] = b"file,line,reason\n";

#[derive(Debug)]
pub(crate) struct Rejects {
    target: Target,
    is_named: bool,
    file: Option<PendingCsv>,
    rejected: Rejected,
}

/// How many lines could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub lines: u64,
    /// Those of them that are not blank.
    lost: u64,
}

impl Rejected {
    /// The exit of a command that was asked for each line: what was left out is no success.
    pub(crate) fn exit(self, exit: Exit) -> Exit {
        match (exit, self.lost) {
            (Exit::Done, 1..) => Exit::Nothing,
            _ => exit,
        }
    }
}

impl Rejects {
    /// At the place that was named, or else beside the source, where nothing but an older list is replaced.
    pub(crate) fn at(named: Option<&Path>, source: &Source, reserved: &Reserved) -> Result<Self, Failure> {
        let target = match named {
            Some(path) => Target::at(path, reserved)?,
            None => Target::at(&beside(source), reserved)?,
        };
        let is_named = named.is_some();
        if !is_named {
            refuse_a_strangers(&target)?;
        }
        if target.is_standard_output() && Source::named(target.shown()) == Source::StandardInput {
            return Err(Failure::NotAFile("-".into()));
        }
        Ok(Self { target, is_named, file: None, rejected: Rejected::default() })
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    pub(crate) fn rejected(&self) -> Rejected {
        self.rejected
    }

    pub(crate) fn add(&mut self, source: &Source, line: u64, reason: &Reason) -> Result<(), Failure> {
        self.rejected.lines += 1;
        self.rejected.lost += u64::from(!reason.is_blank());
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(PendingCsv::create(self.target.clone(), HEADER)?),
        };
        file.write([&source.to_string(), &line.to_string(), &reason.to_string()])
    }

    /// Puts the list in its place, and says so; it does not make the run a failure. Without any rejected line, what is
    /// there stays, because this run did not write it.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Self { target, is_named, file, rejected } = self;
        match file {
            Some(file) => {
                if !is_named {
                    refuse_a_strangers(&target)?;
                }
                file.publish().map(|()| warn(rejected.lines, target.shown()))
            }
            None => {
                if target.is_there() {
                    let list = target.shown().display();
                    say(Kind::Note, format_args!("every line could be used; {list} is older and stays as it is"));
                }
                Ok(())
            }
        }
    }
}

/// Nobody asked for a file of this name, so one that holds something else stays.
fn refuse_a_strangers(target: &Target) -> Result<(), Failure> {
    if !target.is_there() {
        return Ok(());
    }
    let beginning = target.beginning(FIRST_LINE.len() as u64)?;
    match beginning.is_empty() || beginning == FIRST_LINE {
        true => Ok(()),
        false => Err(Failure::NotAList(target.shown().to_owned())),
    }
}

/// Where the list is unless another place was named: `codes.rejects.csv` beside `codes.csv`, and beside `codes.txt`
/// `codes.txt.rejects.csv`, so that each has its own.
fn beside(source: &Source) -> PathBuf {
    match source {
        Source::File(path) if !is_stream(path) => match path.extension() {
            Some(extension) if extension != "csv" => path.with_added_extension("rejects.csv"),
            _ => path.with_extension("rejects.csv"),
        },
        Source::File(_) | Source::StandardInput => "storagebox.rejects.csv".into(),
    }
}

/// Such as `/dev/stdin`, beside which nothing is put.
fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file())
}

fn warn(count: u64, list: &Path) {
    let lines = if count == 1 { "line" } else { "lines" };
    say(Kind::Warning, format_args!("{count} {lines} could not be used; see {}", list.display()));
}
