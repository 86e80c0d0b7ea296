//! A PostgreSQL server for as long as standard input is open: `cargo run -p storagebox-testkit`.

use std::io;
use std::process::ExitCode;

use storagebox_testkit::{Failure, servers};

fn main() -> ExitCode {
    match hold() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(2)
        }
    }
}

fn hold() -> Result<(), Failure> {
    let server = servers::postgres(None)?;
    println!("{server}\n{}", server.url());
    // However the input ends, it has ended.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    Ok(())
}
