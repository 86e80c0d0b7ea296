//! Runs every backend under faults for the given time, with ids that are used again after the stores have forgotten
//! them. Every answer must be correct, and the stored data must not grow. Growth cannot be detected in less than ten
//! minutes.
//!
//! ```text
//! soak MINUTES [BACKEND...]
//! soak messages COUNT [BACKEND...]
//! ```

#![allow(clippy::disallowed_methods, reason = "it waits for servers, on the real clock")]

mod caller;
mod fault;
mod growth;
mod heap;
mod lives;
mod messages;
mod place;
mod report;
mod size;
mod tally;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use storagebox::Store;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use caller::Caller;
use growth::{Growth, Slack};
use lives::Shared;
use place::{BACKENDS, Place};
use report::Report;
use tally::Tally;

const CALLERS: usize = 4;
/// The number of times that a store is measured in a run.
const SAMPLES: u32 = 24;
/// The pause between two calls of `maintain`.
const UPKEEP: Duration = Duration::from_secs(2);
/// The maximum number of entries that one call of `maintain` deletes.
const STEP: usize = 1_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let are_messages = arguments.next_if(|argument| argument == "messages").is_some();
    match asked(arguments) {
        Ok((count, backends)) if are_messages => messages(count, backends).await,
        Ok((minutes, backends)) => soak(minutes, backends).await,
        Err(usage) => {
            let backends = BACKENDS.join(", ");
            eprintln!("{usage}; soak MINUTES [BACKEND...] or soak messages COUNT [BACKEND...], with {backends}");
            ExitCode::from(2)
        }
    }
}

/// Parses a number and the names of backends. Returns all backends if no name is given.
fn asked(mut arguments: impl Iterator<Item = String>) -> Result<(u32, Vec<String>), String> {
    let number = arguments.next().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    let number = number.ok_or("the first argument must be a positive number of minutes or messages")?;
    let named: Vec<String> = arguments.collect();
    if let Some(unknown) = named.iter().find(|name| !BACKENDS.contains(&name.as_str())) {
        return Err(format!("`{unknown}` is no backend"));
    }
    let all = || BACKENDS.map(str::to_owned).to_vec();
    Ok((number, if named.is_empty() { all() } else { named }))
}

/// Tests all backends at once and prints their reports.
async fn soak(minutes: u32, backends: Vec<String>) -> ExitCode {
    let time = Duration::from_secs(60 * u64::from(minutes));
    let mut runs = JoinSet::new();
    runs.spawn(process(time));
    for backend in backends {
        runs.spawn(async move {
            let report = one(&backend, time).await;
            report.unwrap_or_else(|failure| Report::broken(&backend, &failure))
        });
    }
    let mut reports = runs.join_all().await;
    reports.sort_by_key(|report| BACKENDS.iter().position(|name| *name == report.backend).unwrap_or(BACKENDS.len()));
    print(&reports)
}

/// Processes `count` messages on each backend, one backend after another.
async fn messages(count: u32, backends: Vec<String>) -> ExitCode {
    let mut reports = vec![];
    for backend in backends {
        let report = messages::one(&backend, count as usize).await;
        reports.push(report.unwrap_or_else(|failure| Report::broken(&backend, &failure)));
    }
    print(&reports)
}

fn print(reports: &[Report]) -> ExitCode {
    println!("\n{}", report::table(reports));
    reports.iter().flat_map(|report| &report.faults).for_each(|fault| println!("{fault}"));
    match reports.iter().all(|report| report.faults.is_empty()) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Tests one backend until the time is over or a promise is broken.
async fn one(backend: &str, time: Duration) -> Result<Report, Failure> {
    let place = Arc::new(Place::start(backend).await?);
    let (tally, shared) = (Arc::new(Tally::default()), Arc::new(Shared::default()));
    let (mut work, end) = (JoinSet::new(), Instant::now() + time);
    for number in 0..CALLERS {
        work.spawn(lives::until(end, Caller::new(number, &tally), place.store().await?, Arc::clone(&shared)));
    }
    work.spawn(upkeep(place.store().await?, Arc::clone(&tally), end));
    work.spawn(fault::until(end, Arc::clone(&place), Arc::clone(&tally)));
    let growth = watched(&place, &tally, end, time / SAMPLES).await;
    work.join_all().await;
    Ok(Report::of(backend, time, &tally, &growth))
}

/// Measures the memory of this process, including the clients of all stores.
async fn process(time: Duration) -> Report {
    let mut growth = Growth::within(Slack::IN_USE);
    let begun = Instant::now();
    for sample in 1..=SAMPLES {
        sleep_until(begun + time / SAMPLES * sample).await;
        growth.add(heap::size().await);
    }
    Report::of_process(time, &growth)
}

/// Deletes expired entries at regular intervals until `end`.
async fn upkeep(store: Store, tally: Arc<Tally>, end: Instant) {
    while tally.goes_on(end) {
        match store.maintain(STEP).await {
            Ok(maintained) => tally.forgot(maintained.deleted),
            Err(error) if error.is_retryable() => tally.failed(),
            Err(error) => tally.wrong(format!("upkeep: {error}")),
        }
        sleep(UPKEEP).await;
    }
}

/// Measures the size of the store at regular intervals until `end`, and prints each size.
async fn watched(place: &Place, tally: &Tally, end: Instant, every: Duration) -> Growth {
    let mut growth = Growth::within(place.slack());
    let mut next = Instant::now();
    while tally.goes_on(end) {
        next += every;
        sleep_until(next.min(end)).await;
        match place.size().await {
            Ok(size) => {
                println!("{:8} {tally}; {size}", place.name());
                growth.add(size);
            }
            Err(failure) => println!("{:8} {tally}; not measured: {failure}", place.name()),
        }
    }
    growth
}
