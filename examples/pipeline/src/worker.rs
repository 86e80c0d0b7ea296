//! A worker: one process, one stage, one loop.

use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use storagebox::Outcome;
use storagebox::messages::ProcessError;
use storagebox_transports::{ConsumeOptions, Received, consume};
use tokio::io::AsyncReadExt;

use crate::failure::Failure;
use crate::place::{Dedup, Place, Site};
use crate::queues::LEASE;
use crate::stage::Stage;
use crate::tally::Said;

/// A stage of few entities gains nothing from more.
const CONCURRENCY: usize = 8;
/// The pause before a message whose store or broker failed comes again, the first and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

#[derive(Args, Clone)]
pub(crate) struct Worker {
    #[command(flatten)]
    place: Place,
    /// The stage whose messages it processes.
    #[arg(long)]
    stage: Stage,
    /// Stops also when standard input ends, as it does when the program that started it is gone.
    #[arg(long)]
    until_eof: bool,
}

impl Worker {
    /// Works until it is told to stop. Messages that are being processed are finished then.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let site = Site::open(&self.place).await?;
        let (stage, processor) = (self.stage, site.processor(self.stage)?);
        let deliveries = site.queues.deliveries(&site.queue(stage)?, site.dedup == Dedup::Off);
        // A stage that refuses a message would refuse it again: somebody has to do something first.
        let options = ConsumeOptions::default().concurrency(CONCURRENCY).prefetch(CONCURRENCY).park_after(1);
        let options = options.lease(LEASE).backoff(PAUSES.0, PAUSES.1).observe(say).until(stopped(self.until_eof));
        let consumed = consume(deliveries, move |received| stage.entity(received), &processor, options).await;
        eprintln!("{stage}: {consumed:?}");
        consumed.error.map_or(Ok(()), |error| Err(Failure::Queues(error.into())))
    }
}

/// One line for each message, for the program that shows them all.
fn say(_: &Received, result: &Result<Outcome, ProcessError>) {
    if let Err(error) = result {
        eprintln!("{error}");
    }
    // Nobody may be listening.
    let _ = writeln!(io::stdout(), "{}", Said::of(result).word());
}

async fn stopped(until_eof: bool) {
    tokio::select! {
        () = terminated() => {}
        () = eof(), if until_eof => {}
    }
}

/// Ctrl-C, and SIGTERM where there is one.
async fn terminated() {
    #[cfg(unix)]
    if let Ok(mut signal) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = signal.recv() => {}
        }
        return;
    }
    // Without signals there is nothing that could stop it in good order.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}

async fn eof() {
    let mut bytes = [0; 64];
    while tokio::io::stdin().read(&mut bytes).await.is_ok_and(|read| read > 0) {}
}
