//! A TCP stream to a server that counts the bytes written to it and records whether it has ended.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use redis::io::tcp::socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::error;

/// The number of bytes written to a stream, and whether the stream has ended. A request was not sent if the stream
/// ended before any byte of the request was written.
#[derive(Debug, Default)]
pub(super) struct Line {
    written: AtomicU64,
    ended: AtomicBool,
    /// Whether a TLS alert of the server ended the stream.
    refused: AtomicBool,
}

impl Line {
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// Returns whether the stream has ended with exactly `before` bytes written.
    pub(super) fn ended_at(&self, before: u64) -> bool {
        // Checks the end first, because nothing is written after the end.
        self.has_ended() && self.written() == before
    }

    pub(super) fn was_refused(&self) -> bool {
        self.refused.load(Ordering::SeqCst)
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    fn noted<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        outcome.inspect_err(|error| {
            self.refused.fetch_or(error::is_alert(error), Ordering::SeqCst);
            self.end();
        })
    }
}

/// A TCP stream that counts the bytes written to the socket (with TLS, the encrypted bytes).
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    line: Arc<Line>,
    /// Bytes that were read before the driver asked for them.
    early: Vec<u8>,
    /// Whether the driver has read since its last write, and may have found the end of the stream.
    may_have_ended: bool,
}

/// The most bytes that [`Counted::look`] reads at once.
const LOOK: usize = 1024;

impl Counted {
    pub(super) fn new(stream: TcpStream) -> (Self, Arc<Line>) {
        let line = Arc::<Line>::default();
        (Self { stream, line: Arc::clone(&line), early: vec![], may_have_ended: true }, line)
    }

    /// Reads from the socket without waiting. Returns whether the server has sent bytes, or an error if the stream has
    /// ended.
    fn look(&mut self) -> io::Result<bool> {
        // Reads the socket itself, because the runtime may not have noticed the bytes yet.
        let mut found = [0; LOOK];
        match (&*SockRef::from(&self.stream)).read(&mut found) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                self.early.extend_from_slice(&found[..length]);
                Ok(true)
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.early.is_empty() {
            self.may_have_ended = true;
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let length = self.early.len().min(buffer.remaining());
        buffer.put_slice(&self.early[..length]);
        drop(self.early.drain(..length));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !self.early.is_empty() || self.may_have_ended && self.look()? {
            // Makes the driver read these bytes before it writes: over TLS, they may be the end of the stream.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.may_have_ended = false;
        let outcome = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        if let Ok(length) = outcome {
            self.line.written.fetch_add(length as u64, Ordering::SeqCst);
        }
        Poll::Ready(outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A stream (with TLS, the decrypted stream) whose reads and writes all fail after the stream has ended.
#[derive(Debug)]
pub(super) struct Ending<S> {
    pub(super) stream: S,
    pub(super) line: Arc<Line>,
}

impl<S: Unpin> Ending<S> {
    /// Returns the stream, or an error if it has ended.
    fn open(&mut self) -> io::Result<(Pin<&mut S>, &Line)> {
        match self.line.has_ended() {
            true => Err(ErrorKind::BrokenPipe.into()),
            false => Ok((Pin::new(&mut self.stream), &self.line)),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Ending<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let (stream, line) = self.open()?;
        let outcome = ready!(stream.poll_read(cx, buffer));
        if buffer.filled().len() == before && buffer.remaining() > 0 {
            line.end();
        }
        Poll::Ready(line.noted(outcome))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Ending<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (stream, line) = self.open()?;
        stream.poll_write(cx, bytes).map(|outcome| line.noted(outcome))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (stream, line) = self.open()?;
        stream.poll_flush(cx).map(|outcome| line.noted(outcome))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (stream, line) = self.open()?;
        stream.poll_shutdown(cx).map(|outcome| line.noted(outcome))
    }
}
