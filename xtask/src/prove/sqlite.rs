//! Tests the SQLite backend through the released command: killed half-way, and many processes at once on one file.

use std::io::Write;

use anyhow::{Result, bail, ensure};

use super::released::{self, Released};
use crate::command::{BackgroundCommand, captured, cargo, shown};
use crate::hand_out_report::check_count;
use crate::steps::step;
use crate::workspace;

const KILLS: usize = 50;
const PROCESSES: usize = 8;
/// The number of people that a run serves.
const PEOPLE: usize = 500;

/// The arguments that select the tests in which a signal ends `dedup run`.
const SIGNALS: [&str; 4] = ["--test", "cli", "--", "signals::"];

pub(super) fn run() -> Result<()> {
    let features = ["--no-default-features", "--features", "sqlite"];
    released::build(&features)?;
    step("killed half-way", killed)?;
    step("eight at once", at_once)?;
    super::suite_at_length("storagebox-sqlite", &[])?;
    super::suite_in_other_set_ups("storagebox-sqlite")?;
    let mut signals = cargo(["test", "--locked", "-p", "storagebox-cli"].into_iter().chain(features).chain(SIGNALS));
    // The number of times that each of five commands is ended, each time at another moment.
    signals.env("STORAGEBOX_SIGNALS", "100");
    shown(signals)?;
    shown(super::test("storagebox-sqlite", "processes", &["--include-ignored"]))?;
    shown(cargo(["test", "--locked", "-p", "storagebox-sqlite", "--lib", "--", "--ignored"]))
}

/// Creates a store whose bank has this number of items, and returns the released command for the store.
fn with_items(name: &str, items: usize) -> Result<Released> {
    let released = Released::new(name, "sqlite:store.db")?;
    let items: String = (0..items).map(|item| format!("CODE-{item:08}\n")).collect();
    workspace::write(released.path("items.csv"), items)?;
    captured(released.command(&["bank", "load", "items", "items.csv"]))?;
    Ok(released)
}

/// Checks the bank, and the number of held items.
fn audit(released: &Released, held: usize) -> Result<()> {
    released.audit("items")?;
    check_count("items held", held, released.count("items", "held")?)
}

/// Returns the input of a run: the id of each person three times, beginning with the person `first`.
fn ids(round: usize, first: usize) -> String {
    // A repeated id must not get a second item. People of different rounds have different ids.
    (0..3 * PEOPLE).map(|line| format!("p{round}-{}\n", (first + line) % PEOPLE)).collect()
}

/// Kills a run after it has served some people, and checks that the next run serves all people.
fn killed() -> Result<String> {
    let released = with_items("sqlite-killed", KILLS * PEOPLE + 10)?;
    for round in 0..KILLS {
        let before = round * PEOPLE;
        let served = kill_half_way(&released, round, before)?;
        workspace::write(released.path("ids.csv"), ids(round, 0))?;
        captured(released.command(&["hand-out", "items", "--ids", "ids.csv", "--out", "given.csv", "--force"]))?;
        released.check_reports(["given.csv".to_owned()].into_iter(), PEOPLE)?;
        ensure!((1..PEOPLE).contains(&served), "{served} of {PEOPLE} people were served when the command was killed");
        audit(&released, before + PEOPLE)?;
    }
    Ok(format!("{KILLS} kills, {} people, one item each, every audit ok", KILLS * PEOPLE))
}

/// Starts a run with only some of the ids, and kills the run when it has served a person. Returns the number of served
/// people.
fn kill_half_way(released: &Released, round: usize, before: usize) -> Result<usize> {
    let command = released.command(&["hand-out", "items", "--ids", "-", "--out", "given.csv", "--force"]);
    let (mut run, mut input) = BackgroundCommand::begin_with_input(command)?;
    let first: String = ids(round, 0).split_inclusive('\n').take(1 + (round * 7) % (PEOPLE - 1)).collect();
    input.write_all(first.as_bytes())?;
    while released.count("items", "held")? <= before {
        if !run.is_running() {
            run.captured()?;
            bail!("the command ended while its input was open");
        }
    }
    drop(run);
    Ok(released.count("items", "held")? - before)
}

/// Lets all processes serve the same people in different orders, and checks that no process reports a locked file.
fn at_once() -> Result<String> {
    let released = with_items("sqlite-at-once", 4 * PEOPLE)?;
    let out = |number| format!("given-{number}.csv");
    let mut runs = Vec::new();
    for number in 0..PROCESSES {
        let file = format!("ids-{number}.csv");
        workspace::write(released.path(&file), ids(0, number * PEOPLE / PROCESSES))?;
        let command = released.command(&["hand-out", "items", "--ids", &file, "--out", &out(number), "--force"]);
        runs.push(BackgroundCommand::begin(command)?);
    }
    for run in runs {
        let errors = run.output()?.stderr;
        let errors = String::from_utf8_lossy(&errors);
        ensure!(!errors.contains("locked"), "a command reports a locked file: {errors}");
    }
    let lines = released.check_reports((0..PROCESSES).map(out), PEOPLE)?;
    audit(&released, PEOPLE)?;
    Ok(format!("{PROCESSES} processes, {lines} lines, {PEOPLE} people, one item each"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_of_a_run_contains_each_id_three_times() {
        let text = ids(3, 7);
        assert_eq!(text.lines().count(), 3 * PEOPLE);
        let people: std::collections::HashSet<_> = text.lines().collect();
        assert_eq!(people.len(), PEOPLE);
        assert!(text.starts_with("p3-7\n"));
    }
}
