//! What commands write to files.
//!
//! - A file must not exist. `--force` replaces it, and a list of rejects replaces an older list.
//! - A file appears in one step, with all its bytes on disk, when the work is done. A file that another program creates
//!   under that name meanwhile stays, and the command fails.
//! - No file takes the name of one of the store's own files or of an input.
//! - Only its owner can read a file, because codes are money.
//! - `-`, `/dev/stdout`, `/dev/stderr`, a pipe and a device are written when the work is done.

mod csv;
mod reserved;
mod row;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use csv::PendingCsv;
pub(crate) use reserved::Reserved;
pub(crate) use row::{csv_to, quoted};
pub(crate) use target::Target;
