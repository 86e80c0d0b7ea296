//! The workers of a run. They are child processes, and a worker that ends is started again.

use std::fs::{self, File};
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::events::Event;
use crate::failure::Failure;
use crate::pipeline::Settings;
use crate::stage::Stage;

/// The name of the file with the errors of the workers.
const LOG: &str = "workers.log";
/// The number of lines of the workers' errors that a failure shows.
const LOG_LINES: usize = 12;

/// The pause before a worker that failed is started again, because its broker may be down.
const RESTART_PAUSE: Duration = Duration::from_millis(200);

/// The running workers, which end when this value is dropped.
pub(crate) struct Workers {
    kills: Vec<Arc<Notify>>,
    stop: watch::Sender<bool>,
    supervisors: JoinSet<Result<(), Failure>>,
}

impl Workers {
    pub(crate) fn start(settings: &Settings, stages: &[Stage], count: usize) -> Self {
        let mut workers = Self { kills: Vec::new(), stop: watch::Sender::default(), supervisors: JoinSet::new() };
        for stage in stages.iter().flat_map(|stage| std::iter::repeat_n(*stage, count)) {
            let (kill, stop) = (Arc::default(), workers.stop.subscribe());
            workers.kills.push(Arc::clone(&kill));
            workers.supervisors.spawn(supervise(settings.clone(), stage, kill, stop));
        }
        workers
    }

    pub(crate) fn len(&self) -> usize {
        self.kills.len()
    }

    /// Kills a worker (SIGKILL). If the worker has just ended, kills its successor.
    pub(crate) fn kill(&self, worker: usize) {
        self.kills[worker].notify_one();
    }

    /// Asks the workers to stop, and waits until they have finished the messages that they have begun.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.stop.send_replace(true);
        while let Some(ended) = self.supervisors.join_next().await {
            ended??;
        }
        Ok(())
    }
}

/// Runs one worker, and starts it again whenever it ends.
async fn supervise(
    settings: Settings,
    stage: Stage,
    kill: Arc<Notify>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    while !*stop.borrow() {
        let mut worker = spawn(&settings, stage)?;
        let stdin = worker.stdin.take();
        tokio::select! {
            ended = worker.wait() => {
                ended?;
                sleep(RESTART_PAUSE).await;
            }
            () = kill.notified() => {
                worker.kill().await?;
                Event::WorkerKilled.record(&settings)?;
            }
            _ = stop.changed() => {
                drop(stdin);
                worker.wait().await?;
            }
        }
    }
    Ok(())
}

fn spawn(settings: &Settings, stage: Stage) -> io::Result<Child> {
    let log = File::options().append(true).create(true).open(settings.file(LOG))?;
    let mut worker = Command::new(std::env::current_exe()?);
    worker.args(["worker", "--until-eof", "--stage", stage.name()]).envs(settings.variables());
    worker.stdin(Stdio::piped()).stderr(log).kill_on_drop(true).spawn()
}

/// Returns the last errors of the workers.
pub(crate) fn end_of_log(settings: &Settings) -> String {
    let log = fs::read_to_string(settings.file(LOG)).unwrap_or_default();
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
