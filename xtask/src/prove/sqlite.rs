//! Tests the SQLite backend through the released command: killed half-way, and many processes at once on one file.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use storagebox_testkit::Folder;

use crate::command::{captured, cargo, ended, not_started, shown};
use crate::failure::Failure;
use crate::hand_out_report::HandOutReport;
use crate::steps::step;
use crate::workspace;

const KILLS: usize = 50;
const PROCESSES: usize = 8;
/// The number of people per round; each is in the input three times.
const PEOPLE: usize = 500;

/// The arguments for the tests of `dedup run` and signals. The variable sets how often each of five commands is ended
/// at some moment.
const SIGNALS: [&str; 4] = ["--test", "cli", "--", "signals::"];

pub(super) fn run() -> Result<(), Failure> {
    let features = ["--no-default-features", "--features", "sqlite"];
    step("release build", || {
        let build = ["build", "--release", "--locked", "-p", "storagebox-cli"];
        captured(cargo(build.into_iter().chain(features))).map(|_| String::new())
    })?;
    step("killed half-way", killed)?;
    step("eight at once", at_once)?;
    super::suite_at_length("storagebox-sqlite")?;
    super::suite_in_other_set_ups("storagebox-sqlite")?;
    let mut signals = cargo(["test", "--locked", "-p", "storagebox-cli"].into_iter().chain(features).chain(SIGNALS));
    signals.env("STORAGEBOX_SIGNALS", "100");
    shown(signals)?;
    let processes = ["test", "--locked", "-p", "storagebox-sqlite", "--test", "processes"];
    shown(cargo(processes))?;
    let beside_others = ["test", "--locked", "-p", "storagebox-sqlite", "--lib", "--", "--ignored"];
    shown(cargo(beside_others))
}

/// A folder with a store, items and people.
struct Place {
    folder: Folder,
    program: PathBuf,
}

impl Place {
    fn new(name: &str, items: usize) -> Result<Self, Failure> {
        let place = Self { folder: Folder::new(name)?, program: workspace::released("storagebox")? };
        place.write("items.csv", (0..items).map(|item| format!("CODE-{item:08}\n")).collect())?;
        captured(place.command(&["setup"]))?;
        captured(place.command(&["bank", "load", "items", "items.csv"]))?;
        Ok(place)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path());
        command.env("STORAGEBOX_URL", "sqlite:store.db");
        command
    }

    fn hand_out(&self, ids: &str, out: &str) -> Command {
        self.command(&["hand-out", "items", "--ids", ids, "--out", out, "--force"])
    }

    fn write(&self, name: &str, text: String) -> Result<(), Failure> {
        let path = self.folder.path().join(name);
        fs::write(&path, text).map_err(|error| Failure::File { path, error })
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        let path = self.folder.path().join(name);
        fs::read_to_string(&path).map_err(|error| Failure::File { path, error })
    }

    /// Returns a number about the bank from the command's output.
    fn figure(&self, command: &str, key: &str) -> Result<usize, Failure> {
        let said = captured(self.command(&["bank", command, "items"]))?;
        let figures = said.lines().filter_map(|line| line.rsplit_once(' '));
        let found = figures.filter(|(found, _)| found.trim() == key).find_map(|(_, figure)| figure.parse().ok());
        found.ok_or(Failure::Untrue { what: "figures of the bank", expected: 1, found: 0 })
    }

    /// Runs the command's own audit, which fails if anything is inconsistent, and checks the number of held items.
    fn audited(&self, held: usize) -> Result<(), Failure> {
        captured(self.command(&["bank", "audit", "items"]))?;
        same("items held", held, self.figure("counts", "held")?)
    }
}

fn same(what: &'static str, expected: usize, found: usize) -> Result<(), Failure> {
    if expected == found { Ok(()) } else { Err(Failure::Untrue { what, expected, found }) }
}

/// Returns the ids of a round, beginning with the person `first`.
fn ids(round: usize, first: usize) -> String {
    (0..3 * PEOPLE).map(|line| format!("p{round}-{}\n", (first + line) % PEOPLE)).collect()
}

/// Kills a run when it has served somebody and waits for more ids; the next run serves everybody.
fn killed() -> Result<String, Failure> {
    let place = Place::new("sqlite-killed", KILLS * PEOPLE + 10)?;
    for round in 0..KILLS {
        let before = round * PEOPLE;
        let half = kill_half_way(&place, round, before)?;
        place.write("ids.csv", ids(round, 0))?;
        captured(place.hand_out("ids.csv", "given.csv"))?;
        let text = place.read("given.csv")?;
        let given = HandOutReport::read(&text)?;
        same("people served", PEOPLE, given.items.len())?;
        if half == 0 || half >= PEOPLE {
            return Err(Failure::Untrue { what: "people served when it was killed", expected: 1, found: half });
        }
        place.audited(before + PEOPLE)?;
    }
    Ok(format!("{KILLS} kills, {} people, one item each, every audit ok", KILLS * PEOPLE))
}

/// Kills a run half-way. Returns the number of people that it served.
fn kill_half_way(place: &Place, round: usize, before: usize) -> Result<usize, Failure> {
    let mut command = place.hand_out("-", "given.csv");
    let mut run = spawned(&mut command)?;
    let first: String = ids(round, 0).split_inclusive('\n').take(1 + (round * 7) % (PEOPLE - 1)).collect();
    let mut input = run.stdin.take().ok_or(Failure::NoCommand)?;
    input.write_all(first.as_bytes()).map_err(|error| not_started(&command, error))?;
    while place.figure("counts", "held")? <= before {
        if let Some(status) = run.try_wait().map_err(|error| not_started(&command, error))? {
            return Err(ended(&command, status, String::new()));
        }
    }
    run.kill().and_then(|()| run.wait()).map_err(|error| not_started(&command, error))?;
    Ok(place.figure("counts", "held")? - before)
}

fn spawned(command: &mut Command) -> Result<Child, Failure> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    piped.spawn().map_err(|error| not_started(command, error))
}

/// Lets all processes serve the same people, each in another order; no process may report that the file is locked.
fn at_once() -> Result<String, Failure> {
    let place = Place::new("sqlite-at-once", 4 * PEOPLE)?;
    let mut runs = Vec::new();
    for number in 0..PROCESSES {
        let (ids_file, out) = (format!("ids-{number}.csv"), format!("given-{number}.csv"));
        place.write(&ids_file, ids(0, number * PEOPLE / PROCESSES))?;
        let mut command = place.hand_out(&ids_file, &out);
        let run = spawned(&mut command)?;
        runs.push((command, run));
    }
    for (command, run) in runs {
        let output = run.wait_with_output().map_err(|error| not_started(&command, error))?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() || said.contains("locked") {
            return Err(ended(&command, output.status, said));
        }
    }
    let texts = (0..PROCESSES).map(|number| place.read(&format!("given-{number}.csv")));
    let all = texts.collect::<Result<Vec<_>, _>>()?.into_iter().enumerate().map(|(number, text)| match number {
        0 => text,
        _ => text.split_once('\n').map_or(String::new(), |(_, lines)| lines.to_owned()),
    });
    let all: String = all.collect();
    let given = HandOutReport::read(&all)?;
    same("people served", PEOPLE, given.items.len())?;
    place.audited(PEOPLE)?;
    Ok(format!("{PROCESSES} processes, {} lines, {PEOPLE} people, one item each", given.lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_person_of_a_round_comes_three_times() {
        let text = ids(3, 7);
        assert_eq!(text.lines().count(), 3 * PEOPLE);
        let people: std::collections::HashSet<_> = text.lines().collect();
        assert_eq!(people.len(), PEOPLE);
        assert!(text.starts_with("p3-7\n"));
    }
}
