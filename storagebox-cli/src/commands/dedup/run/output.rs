//! Passes the output of a command on as it comes, and keeps it for the record.

use std::io;
use std::pin::pin;
use std::time::Duration;

use storagebox::values::MAX_PAYLOAD_BYTES;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::sleep;

use super::record::{Ended, Output};

const CHUNK_BYTES: usize = 16 * 1024;

/// How long to read output after the end of the command. A process that filters the output may still write its last
/// lines.
const LAST_LOOK: Duration = Duration::from_millis(500);

/// The most bytes that are held back until the pipe is closed. If more come, they count even if the pipe stays open,
/// because holding them all could exhaust the memory, and a record cannot hold them anyway.
const MOST_HELD: u64 = 8 * 1024 * 1024;

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
        // Bytes that already wait in the pipe belong to the output.
        let written = from.waiting_bytes()?;
        let rest = rest(&mut from, written).await?;
        self.pass(&rest, &mut to).await;
        self.pass_late(&mut from, &mut to).await
    }

    /// Passes on what comes within `LAST_LOOK`, if the pipe is closed by then or if more than `MOST_HELD` bytes come.
    /// Otherwise drops it, because it is then not the output of the command.
    #[allow(clippy::disallowed_methods, reason = "processes write in real time")]
    async fn pass_late(&mut self, from: &mut impl Pipe, to: &mut Option<impl AsyncWrite + Unpin>) -> io::Result<()> {
        let mut last_look = pin!(sleep(LAST_LOOK));
        loop {
            let (mut held, mut next) = (vec![], (&mut *from).take(MOST_HELD));
            let read = tokio::select! {
                biased;
                () = &mut last_look => None,
                read = next.read_to_end(&mut held) => Some(read? as u64),
            };
            // On Windows `held` has the rest of the pipe.
            if read.is_some() || cfg!(not(unix)) {
                self.pass(&held, to).await;
            }
            if read != Some(MOST_HELD) {
                return Ok(());
            }
        }
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

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::thread;

    use tokio::process::ChildStdout;

    use super::*;

    /// The most bytes that wait in a pipe.
    const PIPE: u64 = 64 * 1024;

    /// Returns the output of a command that has ended, while a process that it left writes so many bytes, and then
    /// closes the output or keeps it open.
    async fn after_the_end(bytes: usize, closes: bool) -> Stream {
        let (from, mut to) = io::pipe().unwrap();
        let from = ChildStdout::from_std(OwnedFd::from(from).into()).unwrap();
        let kept_open = (!closes).then(|| to.try_clone().unwrap());
        // The pipe may be closed before all is written.
        let writer = thread::spawn(move || drop(to.write_all(&vec![b'a'; bytes])));
        let (running, over) = watch::channel(());
        drop(running);
        let mut stream = Stream::default();
        stream.tee(from, None::<tokio::io::Sink>, over).await.unwrap();
        drop(kept_open);
        writer.join().unwrap();
        stream
    }

    #[tokio::test]
    async fn late_output_counts_if_the_pipe_is_closed_however_long_it_is() {
        for bytes in [100_000, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 1, 600_000] {
            let stream = after_the_end(bytes, true).await;
            assert_eq!((stream.bytes, stream.is_whole()), (bytes as u64, bytes <= MAX_PAYLOAD_BYTES), "{bytes}");
        }
    }

    #[tokio::test]
    async fn late_output_is_dropped_if_the_pipe_stays_open() {
        for bytes in [100_000, 600_000] {
            let stream = after_the_end(bytes, false).await;
            assert!(stream.bytes <= PIPE && stream.is_whole(), "{} of {bytes}", stream.bytes);
        }
    }

    #[tokio::test]
    async fn late_output_that_cannot_be_held_back_counts_although_the_pipe_stays_open() {
        let stream = after_the_end(9 * 1024 * 1024, false).await;
        assert!(stream.bytes >= MOST_HELD && !stream.is_whole(), "{}", stream.bytes);
    }
}
