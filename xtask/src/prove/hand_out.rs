//! Runs the released command's `hand-out` at scale and with odd input.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use storagebox_testkit::Folder;

use super::{peak, released};
use crate::hand_out_report::HandOutReport;
use crate::steps::step;
use crate::workspace;

const ITEMS: u32 = 10_000_000;
const MEMORY: u64 = 3 << 29;
const WORDS: &str = "/usr/share/dict/words";

pub(super) fn run() -> Result<()> {
    released::build(&[])?;
    step("ten million items", ten_million)?;
    step("words to odd ids", words)
}

/// Checks that a file of ten million items is streamed, and that the peak of the command's memory stays below `MEMORY`.
fn ten_million() -> Result<String> {
    let folder = Folder::new("ten-million")?;
    let items = folder.path().join("items.csv");
    write_items(&items, ITEMS)?;
    let (peak, summary) = hand_out(&items, "examples/data/subscribers.csv", &folder)?;
    ensure!(peak < MEMORY, peak::too_high(peak, MEMORY));
    Ok(format!("{ITEMS} items, {summary}"))
}

/// Hands out real words as items, to ids in every script.
fn words() -> Result<String> {
    let words = Path::new(WORDS);
    ensure!(words.is_file(), "there is no word list at {WORDS}; on Debian: apt-get install wamerican");
    hand_out(words, "examples/data/odd-ids.txt", &Folder::new("words")?).map(|(_, summary)| summary)
}

/// Runs the command, checks its report, and returns the peak of the command's memory.
fn hand_out(items: &Path, ids: &str, folder: &Folder) -> Result<(u64, String)> {
    let (ids, out) = (workspace::root().join(ids), folder.path().join("given.csv"));
    let mut command = released::program()?;
    command.args(["hand-out", "items", "--items"]).arg(items).arg("--ids").arg(ids).arg("--out").arg(&out);
    println!();
    let peak = peak::of(command)?;
    let text = workspace::read(out)?;
    let report = HandOutReport::read([text.as_str()])?;
    let people = report.by_id.len();
    report.check_people(people)?;
    Ok((peak, format!("{} lines, {people} ids, {people} given, none twice, peak {} MiB", report.lines, peak >> 20)))
}

pub(super) fn write_items(path: &Path, count: u32) -> Result<()> {
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        for item in 0..count {
            writeln!(file, "CODE-{item:010}")?;
        }
        file.flush()
    };
    write().with_context(|| path.display().to_string())
}
