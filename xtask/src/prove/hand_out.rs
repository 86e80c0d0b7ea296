//! Runs the released command's `hand-out` at scale and with odd input.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::Command;

use storagebox_testkit::Folder;

use super::peak;
use crate::command::{captured, cargo};
use crate::failure::Failure;
use crate::hand_out_report::HandOutReport;
use crate::steps::step;
use crate::workspace;

const ITEMS: u32 = 10_000_000;
const MEMORY: u64 = 3 << 29;
const WORDS: &str = "/usr/share/dict/words";

pub(super) fn run() -> Result<(), Failure> {
    step("release build", || {
        captured(cargo(["build", "--release", "--locked", "-p", "storagebox-cli"])).map(|_| String::new())
    })?;
    step("ten million items", ten_million)?;
    step("words to odd ids", words)
}

/// Checks that a file of ten million items is streamed, and that their bank stays within its memory limit.
fn ten_million() -> Result<String, Failure> {
    let folder = Folder::new("ten-million")?;
    let items = folder.path().join("items.csv");
    write_items(&items, ITEMS)?;
    let ids = workspace::root().join("examples/data/subscribers.csv");
    let (peak, summary) = hand_out(&items, &ids, &folder)?;
    if peak >= MEMORY {
        return Err(Failure::TooMuchMemory { peak, limit: MEMORY });
    }
    Ok(format!("{ITEMS} items, {summary}"))
}

/// Hands out real words as items, to ids in every script.
fn words() -> Result<String, Failure> {
    if !Path::new(WORDS).is_file() {
        return Err(Failure::NoWords);
    }
    let folder = Folder::new("words")?;
    let ids = workspace::root().join("examples/data/odd-ids.txt");
    hand_out(Path::new(WORDS), &ids, &folder).map(|(_, summary)| summary)
}

/// Runs the command and checks its report. Returns the peak of its memory.
fn hand_out(items: &Path, ids: &Path, folder: &Folder) -> Result<(u64, String), Failure> {
    let out = folder.path().join("given.csv");
    let mut command = Command::new(workspace::released("storagebox")?);
    command.args(["hand-out", "items", "--items"]).arg(items).arg("--ids").arg(ids).arg("--out").arg(&out);
    println!();
    let peak = peak::of(command)?;
    let text = fs::read_to_string(&out).map_err(|error| Failure::File { path: out, error })?;
    let given = HandOutReport::read(&text)?;
    let (lines, ids, items) = (given.lines, given.by_id.len(), given.items.len());
    if items != ids {
        return Err(Failure::Untrue { what: "items given", expected: ids, found: items });
    }
    Ok((peak, format!("{lines} lines, {ids} ids, {items} given, none twice, peak {} MiB", peak >> 20)))
}

/// Writes this number of items, one per line.
pub(super) fn write_items(path: &Path, count: u32) -> Result<(), Failure> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        for item in 0..count {
            writeln!(file, "CODE-{item:010}")?;
        }
        file.flush()
    };
    write().map_err(|error: io::Error| Failure::File { path: path.to_owned(), error })
}
