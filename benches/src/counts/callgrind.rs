//! Counts instructions with valgrind's callgrind, which runs this program again.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::counting::{CALLS, Counting};
use crate::error::Result;
use crate::row::{Row, Side};
use crate::rows;

/// Returns the number of instructions per call for both sides of a row. Returns `None` if valgrind is missing.
pub(super) fn instructions(name: &str) -> Option<(f64, f64)> {
    let folder = tempfile::tempdir().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--instr-atstart=no", "--quiet"])
        .arg(format!("--callgrind-out-file={}", folder.path().join("out").display()))
        .arg(std::env::current_exe().ok()?)
        .args(["--instructions", name])
        .env(FOLDER, folder.path())
        .output()
        .ok()?;
    let told = String::from_utf8(output.stdout).ok()?;
    let mut sides = told.split_whitespace().map(|number| number.parse::<f64>().ok());
    let answer = sides.next().flatten().zip(sides.next().flatten());
    if answer.is_none() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    answer
}

/// The environment variable with the folder that callgrind writes to.
const FOLDER: &str = "STORAGEBOX_CALLGRIND";

/// Prints the number of instructions per call for both sides of a row. This process must run under callgrind.
pub(super) fn tell(name: &str) -> Result<ExitCode> {
    let Some(row) = rows::counted().into_iter().find(|row| row.name() == name) else {
        eprintln!("there is no row `{name}`");
        return Ok(ExitCode::from(2));
    };
    let counting = Counting::new()?;
    let ours = of_side(&counting, &row, &row.ours, 1)?;
    let floor = of_side(&counting, &row, &row.floor, 2)?;
    println!("{ours} {floor}");
    Ok(ExitCode::SUCCESS)
}

fn of_side(counting: &Counting, row: &Row, side: &Side, dump: u32) -> Result<f64> {
    // The first measurement is a warm-up.
    counting.slice(side, row, 1, || (), |()| ())?;
    let told = counting.slice(
        side,
        row,
        2,
        || control("--instr=on"),
        |()| {
            control("--instr=off");
            control("--dump");
            total(dump)
        },
    )?;
    Ok(told.map_or(f64::NAN, |total| total as f64 / CALLS as f64))
}

fn control(what: &str) {
    let process = std::process::id().to_string();
    if let Err(error) = Command::new("callgrind_control").args([what, &process]).output() {
        eprintln!("callgrind_control {what}: {error}");
    }
}

fn total(dump: u32) -> Option<u64> {
    let folder = std::env::var_os(FOLDER)?;
    let text = fs::read_to_string(Path::new(&folder).join(format!("out.{dump}"))).ok()?;
    totals(&text)
}

fn totals(dump: &str) -> Option<u64> {
    dump.lines().rev().find_map(|line| line.strip_prefix("totals:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_total_is_read_from_the_end_of_a_dump() {
        assert_eq!(totals("version: 1\nsummary: 7\n\ntotals: 12345\n"), Some(12345));
        assert_eq!(totals("version: 1\n"), None);
    }
}
