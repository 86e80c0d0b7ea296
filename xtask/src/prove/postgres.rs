//! The long tests of the Postgres backend, and tests through the released command.

use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use storagebox_testkit::postgres::{Postgres, Settings};

use super::released::{self, Released};
use super::{hand_out, peak};
use crate::command::{BackgroundCommand, shown};
use crate::hand_out_report::check_count;
use crate::steps::step;
use crate::workspace;

const ROUNDS: u32 = 50;
const PROCESSES: usize = 8;
const IDS: usize = 1_500;
/// More items than ids, so that every id gets one.
const ITEMS: u32 = 1_600;

const MILLION: u32 = 1_000_000;
const MEMORY: u64 = 64 << 20;

pub(super) fn run() -> Result<()> {
    shown(super::test_at_length("storagebox-postgres", "prove", &[]))?;
    super::suite_at_length("storagebox-postgres", &[])?;
    super::suite_in_other_set_ups("storagebox-postgres")?;
    released::build(&["--features", "postgres"])?;
    let server = Postgres::start(&Settings::quick())?;
    step("eight processes, one killed", || killed(&server.url()))?;
    step("a million items", || million(&server.url()))
}

/// Lets all processes hand out one bank to the same ids, while one process is killed and started again.
fn killed(url: &str) -> Result<String> {
    let released = Released::new("prove-postgres", url)?;
    hand_out::write_items(&released.path("items.csv"), ITEMS)?;
    let ids: String = (0..IDS).map(|number| format!("customer-{number}\n")).collect();
    workspace::write(released.path("ids.csv"), ids)?;
    println!();
    let mut hits = 0;
    for round in 1..=ROUNDS {
        let at_work = killed_once(&released, round)?;
        hits += u32::from(at_work);
        println!("round {round} of {ROUNDS}: killed {}", if at_work { "at work" } else { "too late" });
    }
    ensure!(hits >= ROUNDS / 2, "only {hits} of {ROUNDS} kills hit a running process");
    Ok(format!("{ROUNDS} rounds of {PROCESSES} for {IDS} ids, {hits} kills at work: one item each, the same by all"))
}

/// Runs all processes on a new bank, and kills and restarts one process. Returns whether the killed process was still
/// running.
fn killed_once(released: &Released, round: u32) -> Result<bool> {
    let bank = format!("bank-{round}");
    let out = |number| format!("given-{number}.csv");
    // Each process also loads the bank; existing items do not change.
    let begin = |number| {
        let files = ["hand-out", &bank, "--items", "items.csv", "--ids", "ids.csv", "--force", "--out", &out(number)];
        BackgroundCommand::begin(released.command(&[&files[..], &["--concurrency", "8", "--json"]].concat()))
    };
    let mut processes = (0..PROCESSES).map(begin).collect::<Result<Vec<_>>>()?;
    // Each round kills the process at another moment.
    thread::sleep(Duration::from_millis(u64::from(round) * 20));
    let mut killed = processes.remove(0);
    let at_work = killed.is_running();
    drop(killed);
    processes.push(begin(0)?);
    for process in processes {
        process.captured()?;
    }
    released.audit(&bank)?;
    let lines = released.check_reports((0..PROCESSES).map(out), IDS)?;
    check_count("lines", PROCESSES * IDS, lines)?;
    Ok(at_work)
}

/// Checks that a file of a million items is streamed into a bank, and that a second load finds all of them.
fn million(url: &str) -> Result<String> {
    let released = Released::new("prove-million", url)?;
    hand_out::write_items(&released.path("items.csv"), MILLION)?;
    println!();
    let load = || peak::of(released.command(&["bank", "load", "million", "items.csv"]));
    let peak = load()?.max(load()?);
    ensure!(peak < MEMORY, peak::too_high(peak, MEMORY));
    let free = released.count("million", "free")?;
    check_count("free items", MILLION as usize, free)?;
    Ok(format!("loaded twice, {free} free, peak {} MiB", peak >> 20))
}
