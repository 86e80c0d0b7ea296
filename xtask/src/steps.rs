//! The steps of a task, which are named while they run, and listed with their times at the end.

use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Result;

/// The steps that have run so far.
#[derive(Debug)]
pub(crate) struct Steps {
    start: Instant,
    done: Vec<Step>,
    printed: Printed,
}

/// When a step is printed.
#[derive(Debug)]
enum Printed {
    /// Prints the name when the step begins.
    AtOnce,
    /// Prints everything when the step has ended, because other steps print at the same time.
    AtItsEnd,
}

#[derive(Debug)]
struct Step {
    name: String,
    took: Duration,
    /// The summary of the step; `None` if it failed.
    summary: Option<String>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), done: Vec::new(), printed: Printed::AtOnce }
    }

    /// Creates the list for steps that run concurrently with others.
    pub(crate) fn beside() -> Self {
        Self { printed: Printed::AtItsEnd, ..Self::new() }
    }

    /// Runs a step and records its time, whether or not it fails.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
        let start = Instant::now();
        let mut summary = None;
        if let Printed::AtOnce = self.printed {
            begun(name);
        }
        let outcome = work().inspect(|found| summary = Some(found.clone()));
        match self.printed {
            Printed::AtOnce => println!("{}", ended(&outcome, start)),
            Printed::AtItsEnd => println!("{name:<34}{}", ended(&outcome, start)),
        }
        self.add(name, start.elapsed(), summary);
        outcome.map(drop)
    }

    pub(crate) fn any(&self) -> bool {
        !self.done.is_empty()
    }

    /// Adds the steps that ran concurrently with these.
    pub(crate) fn append(&mut self, others: Self) {
        self.done.extend(others.done);
    }

    /// Adds a step that has already run.
    pub(crate) fn add(&mut self, name: &str, took: Duration, summary: Option<String>) {
        self.done.push(Step { name: name.to_owned(), took, summary });
    }
}

/// Writes the table, with the total time at its end.
impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<34} {:>9}", "step", "time")?;
        for Step { name, took, summary } in &self.done {
            let summary = summary.as_deref().unwrap_or("FAILED");
            writeln!(f, "{}", format!("{name:<34} {:>7.1} s  {summary}", took.as_secs_f64()).trim_end())?;
        }
        writeln!(f, "{:<34} {:>7.1} s", "all of it", self.start.elapsed().as_secs_f64())
    }
}

/// Runs a part of a task, and prints its time and its summary.
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result<String>) -> Result<()> {
    Steps::new().step(name, work)
}

fn begun(name: &str) {
    print!("{name:<34}");
    // Shows the name while the work runs, because the line has no end yet.
    let _ = io::stdout().flush();
}

fn ended(outcome: &Result<String>, start: Instant) -> String {
    let seconds = start.elapsed().as_secs_f64();
    match outcome {
        Ok(summary) => format!(" ok     {seconds:7.1} s  {summary}"),
        Err(_) => format!(" FAILED {seconds:7.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::*;

    #[test]
    fn a_failed_step_returns_an_error() {
        assert!(step("one", || Ok(String::new())).is_ok());
        assert!(step("two", || bail!("no example")).is_err());
    }

    #[test]
    fn concurrent_steps_are_listed_after_the_other_steps() {
        let (mut steps, mut beside) = (Steps::new(), Steps::beside());
        beside.step("two", || Ok(String::new())).unwrap();
        beside.step("three", || bail!("no example")).unwrap_err();
        steps.step("one", || Ok(String::new())).unwrap();
        steps.append(beside);
        let table = steps.to_string();
        let names = table.lines().filter_map(|line| line.split(' ').next()).collect::<Vec<_>>();
        assert_eq!(names, ["step", "one", "two", "three", "all"], "{table}");
    }

    #[test]
    fn the_table_lists_what_ran_and_what_failed() {
        let mut steps = Steps::new();
        steps.step("one", || Ok("two builds".to_owned())).unwrap();
        steps.step("three", || bail!("no example")).unwrap_err();
        let table = steps.to_string();
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[1].starts_with("one ") && lines[1].ends_with(" s  two builds"), "{table}");
        assert!(lines[2].starts_with("three ") && lines[2].ends_with(" s  FAILED"), "{table}");
        assert!(lines[3].starts_with("all of it "), "{table}");
    }
}
