//! The long tests of the Postgres backend, and tests through the released command.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use storagebox_testkit::Folder;
use storagebox_testkit::postgres::{Postgres, Settings};

use super::{hand_out, peak};
use crate::command::{captured, cargo, ended, not_started, shown};
use crate::failure::Failure;
use crate::hand_out_report::HandOutReport;
use crate::steps::step;
use crate::workspace;

const ROUNDS: u32 = 50;
const PROCESSES: usize = 8;
const IDS: u32 = 1_500;
/// More items than ids, so that every id gets one.
const ITEMS: u32 = 1_600;

const MILLION: u32 = 1_000_000;
const MEMORY: u64 = 64 << 20;

pub(super) fn run() -> Result<(), Failure> {
    let of_backend = ["test", "--locked", "-p", "storagebox-postgres", "--test", "prove", "--"];
    shown(cargo(of_backend.into_iter().chain(["--ignored", "--nocapture", "--test-threads=1"])))?;
    super::suite_at_length("storagebox-postgres")?;
    super::suite_in_other_set_ups("storagebox-postgres")?;
    step("release build", || {
        let of_program = ["build", "--release", "--locked", "-p", "storagebox-cli"];
        captured(cargo(of_program.into_iter().chain(["--features", "postgres"]))).map(|_| String::new())
    })?;
    let server = Postgres::start(&Settings::quick())?;
    let url = server.url();
    captured(program(&url, ["setup"])?)?;
    step("eight processes, one killed", || killed(&url))?;
    step("a million items", || million(&url))
}

/// Returns the command for this store. The URL is not on the command line, which other users can see.
fn program<'a>(url: &str, arguments: impl IntoIterator<Item = &'a str>) -> Result<Command, Failure> {
    let mut command = Command::new(workspace::released("storagebox")?);
    command.args(arguments).env("STORAGEBOX_URL", url);
    Ok(command)
}

/// Lets all processes hand out one bank to the same ids. One of them is killed while it runs, and started again.
fn killed(url: &str) -> Result<String, Failure> {
    let folder = Folder::new("prove-postgres")?;
    let (items, ids) = (folder.path().join("items.csv"), folder.path().join("ids.csv"));
    hand_out::write_items(&items, ITEMS)?;
    write_ids(&ids)?;
    println!();
    let mut hits = 0;
    for round in 1..=ROUNDS {
        let at_work = killed_once(url, folder.path(), round)?;
        hits += usize::from(at_work);
        println!("round {round} of {ROUNDS}: killed {}", if at_work { "at work" } else { "too late" });
    }
    if hits < ROUNDS as usize / 2 {
        return Err(Failure::Untrue { what: "kills at work", expected: ROUNDS as usize / 2, found: hits });
    }
    Ok(format!("{ROUNDS} rounds of {PROCESSES} for {IDS} ids, {hits} kills at work: one item each, the same by all"))
}

fn write_ids(path: &Path) -> Result<(), Failure> {
    let ids: String = (0..IDS).map(|number| format!("customer-{number}\n")).collect();
    fs::write(path, ids).map_err(|error| Failure::File { path: path.to_owned(), error })
}

/// Makes one round. Returns whether the process was running when it was killed.
fn killed_once(url: &str, folder: &Path, round: u32) -> Result<bool, Failure> {
    let bank = format!("bank-{round}");
    let mut processes: Vec<_> =
        (0..PROCESSES).map(|number| Process::start(url, folder, &bank, number)).collect::<Result<_, _>>()?;
    // Each round kills at another moment.
    thread::sleep(Duration::from_millis(u64::from(round) * 20));
    let at_work = processes[0].kill_and_start_again()?;
    for process in processes {
        process.end()?;
    }
    captured(program(url, ["bank", "audit", &bank])?)?;
    look_at(folder)?;
    Ok(at_work)
}

/// Checks the reports of all processes as one: no id may have two items and no item two ids.
fn look_at(folder: &Path) -> Result<(), Failure> {
    let mut lines = vec!["id,item,outcome".to_owned()];
    for number in 0..PROCESSES {
        let text = read(&folder.join(out(number)))?;
        lines.extend(text.lines().skip(1).map(str::to_owned));
    }
    let (text, bank) = (lines.join("\n"), read(&folder.join("items.csv"))?);
    let given = HandOutReport::read(&text)?;
    given.all_from(&bank)?;
    for (what, expected, found) in [
        ("lines", PROCESSES * IDS as usize, given.lines),
        ("ids", IDS as usize, given.by_id.len()),
        ("items given", IDS as usize, given.items.len()),
    ] {
        if expected != found {
            return Err(Failure::Untrue { what, expected, found });
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::File { path: path.to_owned(), error })
}

fn out(number: usize) -> String {
    format!("given-{number}.csv")
}

/// A process that hands out items.
struct Process {
    command: Command,
    child: Child,
}

impl Process {
    /// Starts a process. Each process also loads the bank; existing items do not change.
    fn start(url: &str, folder: &Path, bank: &str, number: usize) -> Result<Self, Failure> {
        let out = out(number);
        let mut command = program(url, ["hand-out", bank, "--items", "items.csv", "--ids", "ids.csv"])?;
        command.args(["--concurrency", "8", "--json", "--force", "--out", &out]).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| not_started(&command, error))?;
        Ok(Self { command, child })
    }

    /// Kills the process and starts it again. Returns whether it was running.
    fn kill_and_start_again(&mut self) -> Result<bool, Failure> {
        let failed = |command: &Command, error| not_started(command, error);
        let ended = self.child.try_wait().map_err(|error| failed(&self.command, error))?;
        self.child.kill().map_err(|error| failed(&self.command, error))?;
        self.child.wait().map_err(|error| failed(&self.command, error))?;
        self.child = self.command.spawn().map_err(|error| failed(&self.command, error))?;
        Ok(ended.is_none())
    }

    fn end(self) -> Result<(), Failure> {
        let output = self.child.wait_with_output().map_err(|error| not_started(&self.command, error))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = [output.stdout, output.stderr].concat();
                Err(ended(&self.command, output.status, String::from_utf8_lossy(&said).into_owned()))
            }
        }
    }
}

/// Checks that a file of a million items is streamed into a bank, and that a second load finds all of them.
fn million(url: &str) -> Result<String, Failure> {
    let folder = Folder::new("prove-million")?;
    let items = folder.path().join("items.csv");
    hand_out::write_items(&items, MILLION)?;
    println!();
    let mut peaks = vec![];
    for _ in 0..2 {
        let mut load = program(url, ["bank", "load", "million"])?;
        load.arg(&items);
        peaks.push(peak::of(load)?);
    }
    let peak = peaks.into_iter().max().unwrap_or_default();
    if peak >= MEMORY {
        return Err(Failure::TooMuchMemory { peak, limit: MEMORY });
    }
    let counts = captured(program(url, ["bank", "counts", "million", "--json"])?)?;
    let found = figure(&counts, "free").unwrap_or_default();
    if found != MILLION as usize {
        return Err(Failure::Untrue { what: "free items", expected: MILLION as usize, found });
    }
    Ok(format!("loaded twice, {found} free, peak {} MiB", peak >> 20))
}

/// Returns a number from an answer in JSON.
fn figure(json: &str, name: &str) -> Option<usize> {
    let (_, rest) = json.split_once(&format!("\"{name}\":"))?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read() {
        let json = "{\"bank\":\"million\",\"free\":1000000,\"held\": 7}";
        assert_eq!(figure(json, "free"), Some(1_000_000));
        assert_eq!(figure(json, "held"), Some(7));
        assert_eq!(figure(json, "spent"), None);
    }
}
