//! The workers of a run: child processes, each of which is started again when it ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::failure::Failure;
use crate::place::Place;
use crate::stage::Stage;
use crate::tally::Tally;

/// The pause before a worker that ended by itself is started again: its broker may be down.
const PAUSE: Duration = Duration::from_millis(200);

/// Who is told that a worker was killed.
type Killed = oneshot::Sender<()>;

/// The workers. They end with this value.
pub(crate) struct Crew {
    kills: Vec<mpsc::Sender<Killed>>,
    stop: watch::Sender<bool>,
    posts: JoinSet<Result<(), Failure>>,
}

impl Crew {
    /// Starts so many workers for each of the stages.
    pub(crate) fn start(place: &Place, stages: &[Stage], workers: usize, tally: &Arc<Tally>) -> Self {
        let (mut kills, mut posts) = (Vec::new(), JoinSet::new());
        let (stop, stopped) = watch::channel(false);
        for stage in stages.iter().flat_map(|stage| std::iter::repeat_n(*stage, workers)) {
            let (sender, receiver) = mpsc::channel(1);
            let (place, tally) = (place.clone(), Arc::clone(tally));
            posts.spawn(Post { place, stage, tally, kills: receiver, stop: stopped.clone() }.keep());
            kills.push(sender);
        }
        Self { kills, stop, posts }
    }

    pub(crate) fn size(&self) -> usize {
        self.kills.len()
    }

    /// Kills a worker (SIGKILL), as soon as there is one at its post. Another one takes its place.
    pub(crate) async fn kill(&self, worker: usize) {
        let (killed, is_killed) = oneshot::channel();
        if self.kills[worker].send(killed).await.is_ok() {
            // A post that fails says why when it is stopped.
            let _ = is_killed.await;
        }
    }

    /// Lets the workers finish what they are at, and waits for them.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.stop.send_replace(true);
        while let Some(ended) = self.posts.join_next().await {
            ended??;
        }
        Ok(())
    }
}

/// A place for one worker at a time.
struct Post {
    place: Place,
    stage: Stage,
    tally: Arc<Tally>,
    kills: mpsc::Receiver<Killed>,
    stop: watch::Receiver<bool>,
}

impl Post {
    async fn keep(mut self) -> Result<(), Failure> {
        while !*self.stop.borrow() {
            let mut worker = self.spawn()?;
            if self.attend(&mut worker).await? {
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    fn spawn(&self) -> io::Result<Child> {
        let mut worker = Command::new(std::env::current_exe()?);
        worker.args(["worker", "--until-eof", "--stage", self.stage.name()]).envs(self.place.variables());
        worker.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(self.log()?).kill_on_drop(true).spawn()
    }

    fn log(&self) -> io::Result<File> {
        OpenOptions::new().append(true).create(true).open(self.place.log())
    }

    /// Hears a worker until it ends. Returns whether it ended by itself.
    async fn attend(&mut self, worker: &mut Child) -> io::Result<bool> {
        let Some(mut lines) = worker.stdout.take().map(|stdout| BufReader::new(stdout).lines()) else {
            return Ok(true);
        };
        let (killed, ended_by_itself) = tokio::select! {
            heard = hear(&self.tally, self.stage, &mut lines) => { heard?; (None, true) }
            Some(killed) = self.kills.recv() => { worker.kill().await?; (Some(killed), false) }
            _ = self.stop.changed() => { drop(worker.stdin.take()); (None, false) }
        };
        // What it said before its end.
        hear(&self.tally, self.stage, &mut lines).await?;
        worker.wait().await?;
        if let Some(killed) = killed {
            self.tally.worker_killed();
            let _ = killed.send(());
        }
        Ok(ended_by_itself)
    }
}

async fn hear(tally: &Tally, stage: Stage, lines: &mut Lines<BufReader<ChildStdout>>) -> io::Result<()> {
    while let Some(line) = lines.next_line().await? {
        tally.hear(stage, &line);
    }
    Ok(())
}
