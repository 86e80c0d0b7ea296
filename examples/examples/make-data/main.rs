//! Regenerates the sample data: `cargo run -p storagebox-examples --example make-data [seed]`.
//!
//! The same seed generates the same files, byte for byte.

mod data;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let Ok(seed) = env::args().nth(1).map_or(Ok(data::DEFAULT_SEED), |seed| seed.parse()) else {
        eprintln!("error: the seed must be a whole number from 0 to {}", u64::MAX);
        return ExitCode::from(2);
    };
    println!("seed {seed}");
    match write(seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: cannot write the sample data: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(seed: u64) -> io::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for (name, text) in [("codes.csv", data::codes(seed)), ("subscribers.csv", data::subscribers(seed))] {
        let path = directory.join(name);
        fs::write(&path, &text)?;
        println!("{}: {} lines", path.display(), text.lines().count());
    }
    Ok(())
}
