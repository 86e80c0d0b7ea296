//! Starts the command, follows it to its end, and ends its remaining processes if the run has no result.

use std::io;
use std::process::{ExitStatus, Stdio};

use futures_util::future::try_join3;
use storagebox::{Fence, Payload};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::sync::watch;
use tokio::task::yield_now;

use super::guard::Guard;
use super::output::Stream;
use super::record::Ended;
use super::stage::Stage;
use super::tree::{self, Tree};
use crate::cli::Run;
use crate::interrupt::ChildEnds;
use crate::message::{Kind, eprint_message};
use crate::store;

#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error("the command cannot be started: {0}")]
    Spawn(io::Error),
    #[error("the command cannot be watched: {0}")]
    Follow(#[from] io::Error),
    #[error("the command ended after an interruption: {0}")]
    Interrupted(ExitStatus),
    #[error("a signal ended the command: {0}")]
    BySignal(ExitStatus),
    #[error("the command failed; --retry-failures does not record failures")]
    Failed(Ended),
    #[error("the result cannot be recorded: {0}")]
    Record(#[from] storagebox::Error),
}

/// Runs the command to its end. Dropping the future kills the command.
pub(super) async fn run(args: &Run, fence: Fence, live: bool, stage: &Stage) -> Result<Payload, Stopped> {
    // Listens before the command starts, so that its end is not missed.
    let ends = ChildEnds::listen()?;
    let mut child = spawn(args, fence, stage).map_err(Stopped::Spawn)?;
    // Another runner may run the command after this future is dropped.
    let _before_the_child_is_dropped = KilledOnDrop(stage);
    let result = result(&mut child, ends, args, live, stage).await;
    if result.is_err() {
        // The lease is returned after this, and then the next run may begin. No process of this run may overlap with
        // it.
        end_what_is_left(stage, || stage.insists()).await;
    }
    result
}

async fn result(child: &mut Child, ends: ChildEnds, args: &Run, live: bool, stage: &Stage) -> Result<Payload, Stopped> {
    let (mut stdout, mut stderr) = (Stream::default(), Stream::default());
    let pipes = child.stdout.take().zip(child.stderr.take()).ok_or(io::Error::from(io::ErrorKind::BrokenPipe))?;
    let end = end(child, ends, args, stage);
    let judged = follow(pipes, end, [&mut stdout, &mut stderr], live).await?;
    stage.could_not_show(stdout.unshown.take().or(stderr.unshown.take()));
    let ended = Ended::of(judged?, stdout, stderr);
    match stage.exit_code() {
        Some(_) => Ok(ended.payload()?),
        None => Err(Stopped::Failed(ended)),
    }
}

fn spawn(args: &Run, fence: Fence, stage: &Stage) -> io::Result<Child> {
    let (program, arguments) = args.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if args.has_url && !(args.pass_url && std::env::var_os(store::URL).is_some()) {
        withhold_url(&mut command);
    }
    command.env("STORAGEBOX_ID", args.id.as_str()).env("STORAGEBOX_FENCE", fence.number().to_string());
    let is_apart = tree::set_apart(&mut command);
    let guard = is_apart.then(Guard::start).flatten();
    let child = command.spawn()?;
    if let Some(tree) = Tree::of(child.id(), is_apart) {
        stage.runs(tree, guard);
    }
    Ok(child)
}

/// Removes the variables with store URLs from the environment of the command.
fn withhold_url(command: &mut Command) {
    // A URL may hold a password, and the output of the command is recorded. With `STORAGEBOX_URL_WITHHELD`, a
    // `storagebox` that the command runs fails instead of using the default store.
    command.env_remove(store::URL).env_remove(store::FROM_URL).env(store::URL_WITHHELD, "1");
}

/// Waits until the command has ended and its output is complete. Does not wait for processes that outlive the command.
async fn follow(
    pipes: (ChildStdout, ChildStderr),
    end: impl Future<Output = io::Result<Result<u8, Stopped>>>,
    [out, err]: [&mut Stream; 2],
    live: bool,
) -> io::Result<Result<u8, Stopped>> {
    let (running, over) = watch::channel(());
    let stdout = out.tee(pipes.0, live.then(tokio::io::stdout), over.clone());
    let stderr = err.tee(pipes.1, live.then(tokio::io::stderr), over);
    let end = async {
        let ended = end.await;
        drop(running);
        ended
    };
    try_join3(end, stdout, stderr).await.map(|(ended, (), ())| ended)
}

/// Waits for the end of the command, and returns the exit code unless a signal interrupted the command.
async fn end(child: &mut Child, mut ends: ChildEnds, args: &Run, stage: &Stage) -> io::Result<Result<u8, Stopped>> {
    let status = loop {
        // A signal to this program and the command arrives before the system reports the end of the command, so the
        // status is read only after that report.
        ends.next().await;
        stage.tree().inspect(|tree| tree.reap());
        if let Some(status) = child.try_wait()? {
            break status;
        }
    };
    stage.leader_ended();
    // Lets a signal that has arrived be handled before the status is judged. A later signal does not change the result.
    yield_now().await;
    let judged = judged(status, stage);
    if let Ok(exit_code) = judged
        && !(exit_code != 0 && args.retry_failures)
    {
        stage.ended(exit_code);
    }
    Ok(judged)
}

/// Returns the exit code, unless a signal ended the command or was passed on to the command.
fn judged(status: ExitStatus, stage: &Stage) -> Result<u8, Stopped> {
    match status.code() {
        // After a signal, many commands exit with 0 and leave their work half done.
        _ if stage.was_interrupted() => Err(Stopped::Interrupted(status)),
        None => Err(Stopped::BySignal(status)),
        Some(code) => Ok(u8::try_from(code).unwrap_or(u8::MAX)),
    }
}

/// Ends all processes of the command, and warns if some cannot be ended.
pub(super) async fn end_what_is_left(stage: &Stage, with_force: impl Fn() -> bool) {
    let Some(tree) = stage.tree() else { return };
    if tree.end(with_force).await {
        stage.is_gone();
    } else {
        eprint_message(
            Kind::Warning,
            format_args!("processes that the command started are still there, and cannot be ended"),
        );
    }
}

struct KilledOnDrop<'a>(&'a Stage);

impl Drop for KilledOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(tree) = self.0.tree() {
            tree.kill();
            self.0.leader_ended();
        }
    }
}
