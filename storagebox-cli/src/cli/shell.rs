//! The arguments of what belongs to the shell: completions and manual pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

use super::EXIT_CODES;

/// Print what a shell needs to complete this command
///
/// Such as `storagebox completions bash > /etc/bash_completion.d/storagebox`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Print the manual page, or write one for each command into a folder
///
/// Such as `storagebox man | man -l -`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ManPage {
    /// Write the pages of all commands here: storagebox.1, storagebox-bank.1 and so on
    #[arg(long, value_name = "FOLDER")]
    pub dir: Option<PathBuf>,
}
