//! The table of what the promises cost.

use std::process::ExitCode;

fn main() -> ExitCode {
    storagebox_benches::run(std::env::args().skip(1))
}
