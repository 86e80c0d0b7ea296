//! The program that prints the table of the cost of the guarantees.

use std::process::ExitCode;

fn main() -> ExitCode {
    storagebox_benches::run(std::env::args().skip(1))
}
