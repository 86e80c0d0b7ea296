//! Passes the output of a command on as it comes, and keeps it for the record.

use std::io;
use std::time::Duration;

use storagebox::values::MAX_PAYLOAD_BYTES;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::timeout;

use super::record::{Ended, Output};

const CHUNK_BYTES: usize = 16 * 1024;

/// How long to read output after the end of the command. A process that filters the output may still write its last
/// lines.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// The output that came through a pipe: as many bytes as a record can hold, and the number of all bytes.
#[derive(Debug, Default)]
pub(super) struct Stream {
    kept: Vec<u8>,
    bytes: u64,
    /// The error that stopped the output from being shown. A closed pipe is not an error.
    pub(super) unshown: Option<io::Error>,
}

/// The reading end of a pipe, with the number of bytes that wait in it.
pub(super) trait Pipe: AsyncRead + Unpin {
    fn waiting_bytes(&self) -> io::Result<u64>;
}

#[cfg(unix)]
impl<T: AsyncRead + Unpin + std::os::fd::AsFd> Pipe for T {
    fn waiting_bytes(&self) -> io::Result<u64> {
        Ok(rustix::io::ioctl_fionread(self)?)
    }
}

/// Windows does not show the number of waiting bytes.
#[cfg(not(unix))]
impl<T: AsyncRead + Unpin> Pipe for T {
    fn waiting_bytes(&self) -> io::Result<u64> {
        Ok(0)
    }
}

impl Stream {
    /// Copies the bytes of the pipe to `to`, and keeps them, until the pipe is closed or `over` reports the end of the
    /// command.
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
        // Bytes that already wait in the pipe belong to the output. Later bytes count only if the pipe is closed within
        // `LAST_LOOK`.
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
            // The command keeps running, and its output is still kept for the record.
            *to = None;
            self.unshown = Some(error).filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
        }
    }

    fn is_whole(&self) -> bool {
        self.bytes == self.kept.len() as u64
    }
}

/// Reads the given number of bytes, which already wait in the pipe.
async fn rest(from: &mut impl Pipe, bytes: u64) -> io::Result<Vec<u8>> {
    let mut rest = vec![];
    from.take(bytes).read_to_end(&mut rest).await?;
    Ok(rest)
}

/// Reads until the pipe is closed. Returns no bytes if the pipe stays open or holds too many bytes, because these bytes
/// are then not the output of the command.
async fn late(from: &mut impl Pipe) -> io::Result<Vec<u8>> {
    let mut late = vec![];
    let most = MAX_PAYLOAD_BYTES as u64 + 1;
    let is_closed = match timeout(LAST_LOOK, from.take(most).read_to_end(&mut late)).await {
        Ok(read) => read? <= MAX_PAYLOAD_BYTES,
        // On Windows `late` has the rest of the pipe.
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
