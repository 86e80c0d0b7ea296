//! A worker: a process that consumes the queue of one stage.

use std::time::Duration;

use clap::Args;
use storagebox_transports::{ConsumeOptions, consume};
use tokio::io::{copy, sink, stdin};
use tokio::signal::ctrl_c;
use tokio::signal::unix::{SignalKind, signal};

use crate::events::Event;
use crate::failure::Failure;
use crate::pipeline::{Pipeline, Settings};
use crate::queues::LEASE;
use crate::stage::Stage;

/// The number of messages that a worker processes concurrently. A larger number would not help, because a stage has few
/// entities.
const CONCURRENCY: usize = 8;
/// The first and the longest pause before a message is retried after the store or the broker failed.
const BACKOFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(2));

#[derive(Args)]
pub(crate) struct Worker {
    #[command(flatten)]
    settings: Settings,
    /// The stage whose messages the worker processes.
    #[arg(long)]
    stage: Stage,
    /// Also stops at the end of standard input, because the program that started the worker has then ended.
    #[arg(long)]
    until_eof: bool,
}

impl Worker {
    /// Processes messages until the process is asked to stop, and then finishes the messages that it has begun.
    pub(crate) async fn execute(self) -> Result<(), Failure> {
        let pipeline = Pipeline::open(&self.settings).await?;
        let (stage, processor) = (self.stage, pipeline.processor(self.stage)?);
        let deliveries = pipeline.queues.deliveries(&pipeline.queue(stage.name())?, self.settings.dedup)?;
        let mut terminate = signal(SignalKind::terminate())?;
        let stopped = async move {
            let (mut stdin, mut sink) = (stdin(), sink());
            tokio::select! {
                _ = ctrl_c() => {}
                _ = terminate.recv() => {}
                _ = copy(&mut stdin, &mut sink), if self.until_eof => {}
            }
        };
        // A stage refuses a message each time until the missing stock is supplied, so the worker parks it at once.
        let options = ConsumeOptions::default().concurrency(CONCURRENCY).prefetch(CONCURRENCY).park_after(1);
        let options = options.lease(LEASE)?.backoff(BACKOFF.0, BACKOFF.1).until(stopped);
        let options = options.observe(move |_, result| {
            if let Err(error) = result {
                eprintln!("{error}");
            }
            if let Err(error) = Event::of(stage, result).record(&self.settings) {
                eprintln!("{error}");
            }
        });
        let consumed = consume(deliveries, move |received| stage.entity(received), &processor, options).await;
        eprintln!("{}: {consumed:?}", stage.name());
        consumed.error.map_or(Ok(()), |error| Err(Failure::Transport(error.into())))
    }
}
