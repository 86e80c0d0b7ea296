//! The list of lines that could not be used.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};
use crate::input::{Reason, Source};
use crate::message::{Kind, eprint_message};
use crate::output::{PendingCsv, Reserved, Target};

const HEADER: [&str; 3] = ["file", "line", "reason"];
/// The first line of a list of rejected lines.
const FIRST_LINE: &[u8] = b"file,line,reason\n";

#[derive(Debug)]
pub(crate) struct Rejects {
    target: Target,
    file: Option<PendingCsv>,
    rejected: Rejected,
}

/// The number of lines that could not be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub lines: u64,
    /// The number of unusable lines that are not blank.
    lost: u64,
}

impl Rejected {
    /// Returns the exit code of a command that should use every line. If a rejected line is not blank, success becomes
    /// exit code 1.
    pub(crate) fn exit(self, exit: Exit) -> Exit {
        match (exit, self.lost) {
            (Exit::Done, 1..) => Exit::Nothing,
            _ => exit,
        }
    }
}

impl Rejects {
    /// Prepares the list of rejected lines in the named file, or else in a file beside the source. The new list
    /// replaces an older list.
    pub(crate) fn at(named: Option<&Path>, source: &Source, reserved: &Reserved) -> Result<Self, Failure> {
        let path = named.map_or_else(|| beside(source), Path::to_owned);
        let target = Target::at(&path, is_list(&path), reserved)?;
        if Source::named(&path) == Source::StandardInput {
            return Err(Failure::NotAFile(path));
        }
        Ok(Self { target, file: None, rejected: Rejected::default() })
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

    /// Publishes the list, and prints a warning. If no line was rejected, an older list stays.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let (path, was_there) = (self.target.path(), self.target.is_there());
        match self.file {
            // Another program may have replaced the older list by a file of its own.
            Some(_) if was_there && !is_list(path) => Err(Failure::Exists(path.to_owned())),
            Some(file) => file.publish().map(|()| warn(self.rejected.lines, path)),
            None if was_there => {
                let list = path.display();
                eprint_message(
                    Kind::Note,
                    format_args!("every line could be used; {list} is older and stays as it is"),
                );
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Returns whether the file at this path is empty or a list of an earlier run.
fn is_list(path: &Path) -> bool {
    let mut beginning = vec![];
    let mut read = || File::open(path)?.take(FIRST_LINE.len() as u64).read_to_end(&mut beginning);
    path.is_file() && read().is_ok() && (beginning.is_empty() || beginning == FIRST_LINE)
}

/// Returns the default path of the list: `codes.rejects.csv` for `codes.csv`, and `codes.txt.rejects.csv` for
/// `codes.txt`, so that each of the two files has its own list.
fn beside(source: &Source) -> PathBuf {
    match source {
        Source::File(path) if !is_stream(path) => match path.extension() {
            Some(extension) if extension != "csv" => path.with_added_extension("rejects.csv"),
            _ => path.with_extension("rejects.csv"),
        },
        Source::File(_) | Source::StandardInput => "storagebox.rejects.csv".into(),
    }
}

/// Returns whether the path leads to a pipe or a device, such as `/dev/stdin`.
fn is_stream(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file())
}

fn warn(count: u64, list: &Path) {
    let lines = if count == 1 { "line" } else { "lines" };
    eprint_message(Kind::Warning, format_args!("{count} {lines} could not be used; see {}", list.display()));
}
