//! A file in place of values on the command line.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Default, Args)]
pub(crate) struct OfFile {
    /// Read them from this file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where to list the lines that could not be used [default: the name of --file, without .csv, and .rejects.csv; for
    /// standard input storagebox.rejects.csv]
    #[arg(long, value_name = "FILE", requires = "file")]
    pub rejects: Option<PathBuf>,
    /// The first line of the file is a header
    #[arg(long, requires = "file")]
    pub header: bool,
}
