//! Files in place of values on the command line or in the answer.

use std::path::PathBuf;

use clap::Args;

/// The file that gets the bytes of a value and nothing else.
#[derive(Debug, Default, Args)]
pub(crate) struct OfOutput {
    /// Write nothing but the bytes of the value, to FILE; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace the file of --out if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// The options for reading a file of lines.
#[derive(Debug, Default, Args)]
pub(crate) struct OfLines {
    /// Where to list rejected lines [default: FILE without .csv, and .rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Skip the first line, which is a header
    #[arg(long)]
    pub header: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct OfFile {
    /// Read them from FILE, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Where to list rejected lines [default: the name of --file without .csv, and .rejects.csv]
    #[arg(long, value_name = "FILE", requires = "file")]
    pub rejects: Option<PathBuf>,
    /// Skip the first line of the file, which is a header
    #[arg(long, requires = "file")]
    pub header: bool,
}
