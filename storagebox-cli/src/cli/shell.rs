//! The arguments of `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Print the completion script of a shell
#[derive(Debug, Args)]
#[command(after_help = "Example: storagebox completions bash > /etc/bash_completion.d/storagebox")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Print the manual page, or write the pages of all commands to a directory
#[derive(Debug, Args)]
#[command(after_help = "Example: storagebox man | man -l -")]
pub(crate) struct ManPage {
    /// Write the pages of all commands to DIR: storagebox.1, storagebox-bank.1 and so on
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
