//! What a command writes: shown as it comes, and kept for the record.

use std::io;
use std::time::Duration;

use storagebox::values::MAX_PAYLOAD_BYTES;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::timeout;

use super::record::{Ended, Output};

const CHUNK_BYTES: usize = 16 * 1024;

/// How long the output may stay open after the command's end and still count: a filter that the command did not wait for
/// writes its last lines meanwhile.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// What came through a pipe: the beginning, as long as a record can hold, and how much it was.
#[derive(Debug, Default)]
pub(super) struct Stream {
    kept: Vec<u8>,
    bytes: u64,
    /// Why not all of it was shown, unless nobody reads it any more.
    pub(super) unshown: Option<io::Error>,
}

/// An end of a pipe that knows how much is in it.
pub(super) trait Pipe: AsyncRead + Unpin {
    fn waiting_bytes(&self) -> io::Result<u64>;
}

#[cfg(unix)]
impl<T: AsyncRead + Unpin + std::os::fd::AsFd> Pipe for T {
    fn waiting_bytes(&self) -> io::Result<u64> {
        Ok(rustix::io::ioctl_fionread(self)?)
    }
}

/// The system does not say it.
#[cfg(not(unix))]
impl<T: AsyncRead + Unpin> Pipe for T {
    fn waiting_bytes(&self) -> io::Result<u64> {
        Ok(0)
    }
}

impl Stream {
    /// Until the output is closed, or the command has ended (`over` has no sender any more) and left it open to others:
    /// then what was in the pipe at that time is the end of it. A reader that has gone has read enough; the command runs
    /// on.
    pub(super) async fn tee(
        &mut self,
        mut from: impl Pipe,
        mut to: Option<impl AsyncWrite + Unpin>,
        mut over: watch::Receiver<()>,
    ) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let read = tokio::select! {
                biased;
                _ = over.changed() => break,
                read = from.read(&mut chunk) => read?,
            };
            if read == 0 {
                return Ok(());
            }
            self.pass(&chunk[..read], &mut to).await;
        }
        let written = from.waiting_bytes()?;
        for chunk in [rest(&mut from, written).await?, late(&mut from).await?] {
            self.pass(&chunk, &mut to).await;
        }
        Ok(())
    }

    async fn pass(&mut self, chunk: &[u8], to: &mut Option<impl AsyncWrite + Unpin>) {
        self.bytes += chunk.len() as u64;
        let room = MAX_PAYLOAD_BYTES.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if let Some(open) = to
            && let Err(error) = show(open, chunk).await
        {
            *to = None;
            self.unshown = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        }
    }

    fn is_whole(&self) -> bool {
        self.bytes == self.kept.len() as u64
    }
}

/// So many bytes, which are there.
async fn rest(from: &mut impl Pipe, bytes: u64) -> io::Result<Vec<u8>> {
    let mut rest = vec![];
    from.take(bytes).read_to_end(&mut rest).await?;
    Ok(rest)
}

/// What comes until the output is closed, if that is soon and it is not much; otherwise nothing of it is the command's.
async fn late(from: &mut impl Pipe) -> io::Result<Vec<u8>> {
    let mut late = vec![];
    let most = MAX_PAYLOAD_BYTES as u64 + 1;
    let is_closed = match timeout(LAST_LOOK, from.take(most).read_to_end(&mut late)).await {
        Ok(read) => read? <= MAX_PAYLOAD_BYTES,
        // Where the system does not say how much was in the pipe, it is among this.
        Err(_) => cfg!(not(unix)),
    };
    Ok(if is_closed { late } else { vec![] })
}

impl Ended {
    pub(super) fn of(exit_code: u8, stdout: Stream, stderr: Stream) -> Self {
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
