//! A value on the command line or in a file.

use std::path::PathBuf;

use clap::Args;
use storagebox::{Error, ErrorKind};

/// Refuses an id or an item that ends with a line break.
pub(crate) fn without_line_end(text: &str) -> Result<&str, Error> {
    // A loop over the lines of a file may leave a carriage return, which would give one person two ids.
    match text.ends_with(['\r', '\n']) {
        true => Err(Error::new(ErrorKind::InvalidInput, "the value ends with a line end; remove the line end")),
        false => Ok(text),
    }
}

#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Content {
    /// The value, as text
    #[arg(value_name = "VALUE")]
    pub text: Option<String>,
    /// Read the value from FILE, at most 256 KiB; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// Omits the text, which may be a secret.
impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Content").field("file", &self.file).finish_non_exhaustive()
    }
}
