//! The command itself: started, followed, and what it writes both shown and kept.

use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::try_join3;
use storagebox::{Fence, MAX_PAYLOAD_BYTES, Payload};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::record::{Ended, Output};
use super::signal::exit_code;
use super::stage::Stage;
use crate::cli::Run;
use crate::store;

const CHUNK_BYTES: usize = 16 * 1024;

/// Why a command that was to run leaves no record.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
    #[error("it cannot be started: {0}")]
    Spawn(io::Error),
    #[error("it cannot be followed: {0}")]
    Follow(#[from] io::Error),
    #[error("it was interrupted")]
    Interrupted,
    #[error("it failed, and that is not to be recorded")]
    Failed(Ended),
    #[error("it cannot be recorded: {0}")]
    Record(#[from] storagebox::Error),
}

/// Runs the command to its end; dropping the future kills it, because another has begun then.
pub(super) async fn run(args: &Run, fence: Fence, live: bool, stage: &Stage) -> Result<Payload, Stopped> {
    let mut child = spawn(args, fence).map_err(Stopped::Spawn)?;
    stage.runs(child.id().unwrap_or_default());
    let (mut stdout, mut stderr) = (Stream::default(), Stream::default());
    let status = follow(&mut child, [&mut stdout, &mut stderr], live, stage).await?;
    stage.could_not_show(stdout.unshown.take().or(stderr.unshown.take()));
    let ended = Ended::of(exit_code(status), stdout, stderr);
    match ended.exit_code {
        0 => Ok(ended.payload()?),
        _ if stage.was_interrupted() => Err(Stopped::Interrupted),
        _ if args.retry_failures => Err(Stopped::Failed(ended)),
        _ => Ok(ended.payload()?),
    }
}

fn spawn(args: &Run, fence: Fence) -> io::Result<Child> {
    let (program, arguments) = args.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if args.has_url && !(args.pass_url && std::env::var_os(store::URL).is_some()) {
        withhold_url(&mut command);
    }
    command.env("STORAGEBOX_ID", args.id.as_str()).env("STORAGEBOX_FENCE", fence.number().to_string());
    command.spawn()
}

/// It may hold a password, and what the command says of its environment is recorded for everybody. A storagebox in the
/// command is told, so that it does not take the store that nobody named for the one that was meant.
fn withhold_url(command: &mut Command) {
    command.env_remove(store::URL).env_remove(store::FROM_URL).env(store::URL_WITHHELD, "1");
}

/// How long an output that is given up is still read.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// Until the command has ended and its output is closed; or until nobody wants to wait for what it left behind, which
/// may hold the output open for as long as it likes.
async fn follow(child: &mut Child, [out, err]: [&mut Stream; 2], live: bool, stage: &Stage) -> io::Result<ExitStatus> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let stdout = out.tee(stdout, live.then(tokio::io::stdout));
    let stderr = err.tee(stderr, live.then(tokio::io::stderr));
    {
        let mut followed = pin!(try_join3(end(child, stage), stdout, stderr));
        let ended = tokio::select! {
            biased;
            followed = &mut followed => Ok(followed),
            // What the command itself wrote may still be on its way.
            () = stage.output_is_given_up() => timeout(LAST_LOOK, followed).await,
        };
        if let Ok(followed) = ended {
            return followed.map(|(status, (), ())| status);
        }
    }
    child.wait().await
}

async fn end(child: &mut Child, stage: &Stage) -> io::Result<ExitStatus> {
    let status = child.wait().await?;
    // From here on the process id may be another's.
    stage.ended(exit_code(status));
    Ok(status)
}

/// What came through a pipe: the beginning, as long as a record can hold, and how much it was.
#[derive(Debug, Default)]
pub(super) struct Stream {
    kept: Vec<u8>,
    bytes: u64,
    /// Why not all of it was shown, unless nobody reads it any more.
    unshown: Option<io::Error>,
}

impl Stream {
    fn enter(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        let room = MAX_PAYLOAD_BYTES.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }

    /// A reader that has gone has read enough; the command runs on.
    async fn tee(
        &mut self,
        from: Option<impl AsyncRead + Unpin>,
        mut to: Option<impl AsyncWrite + Unpin>,
    ) -> io::Result<()> {
        let Some(mut from) = from else { return Ok(()) };
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = from.read(&mut chunk).await?;
            if read == 0 {
                return Ok(());
            }
            self.enter(&chunk[..read]);
            if let Some(open) = &mut to
                && let Err(error) = show(open, &chunk[..read]).await
            {
                to = None;
                self.unshown = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.bytes == self.kept.len() as u64
    }
}

impl Ended {
    fn of(exit_code: u8, stdout: Stream, stderr: Stream) -> Self {
        match stdout.is_whole() && stderr.is_whole() {
            true => Self::with(exit_code, stdout.kept, stderr.kept),
            false => Self { exit_code, output: Output::TooLong { bytes: stdout.bytes + stderr.bytes } },
        }
    }
}

async fn show(to: &mut (impl AsyncWrite + Unpin), chunk: &[u8]) -> io::Result<()> {
    to.write_all(chunk).await?;
    to.flush().await
}
