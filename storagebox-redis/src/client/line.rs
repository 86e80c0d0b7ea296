//! The line to a server: a TCP stream that notes what was written to it, and whether it has ended.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use redis::io::tcp::socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::error;

/// What is known of a line. A request whose line ended while nothing was written to it was not sent.
#[derive(Debug, Default)]
pub(super) struct Line {
    written: AtomicU64,
    ended: AtomicBool,
    /// Whether it ended with a word of TLS on what the server refuses.
    refused: AtomicBool,
}

impl Line {
    /// How many bytes were written by now.
    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// Whether nothing was written since `before` bytes, and nothing will be.
    pub(super) fn ended_at(&self, before: u64) -> bool {
        // In this order: nothing is written after the end.
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

/// A TCP stream that counts, beneath TLS, because it is the bytes on their way that matter.
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    line: Arc<Line>,
    /// What was read before it was asked for.
    early: Vec<u8>,
    /// Whether something was read since the last write, so that the server may have ended the line meanwhile.
    may_have_ended: bool,
}

/// How many bytes a look before a write reads.
const LOOK: usize = 1024;

impl Counted {
    pub(super) fn new(stream: TcpStream) -> (Self, Arc<Line>) {
        let line = Arc::<Line>::default();
        (Self { stream, line: Arc::clone(&line), early: vec![], may_have_ended: true }, line)
    }

    /// Whether the server has said something; an error if it has ended the line. The socket itself is asked: the runtime
    /// may not have heard of it, because nobody ran it while the program waited.
    fn look(&mut self) -> io::Result<bool> {
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
            // The driver reads it, and writes then: over TLS it may be the end.
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

/// A stream that lets nothing through after its end, above TLS, which may keep what it has not written.
#[derive(Debug)]
pub(super) struct Ending<S> {
    pub(super) stream: S,
    pub(super) line: Arc<Line>,
}

impl<S: Unpin> Ending<S> {
    /// The stream, unless the line has ended.
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
