//! One connection of a proxy: two directions with a shared state.

use std::io;
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use super::trap::Sent;
use super::{Cut, Plan};

const CHUNK: usize = 16 * 1024;

/// Why the proxy stops carrying a connection.
enum End {
    /// One side has closed the connection.
    Closed,
    Cut(Cut),
    /// The server has finished or closed the connection, and the connection of the client stays open.
    Silent,
    /// The proxy keeps the request with these bytes, and does not send the request to the server yet.
    Kept(Vec<u8>),
}

pub(super) struct Connection<'a> {
    plan: &'a Plan,
    turn: Mutex<Turn>,
}

/// The side that sent last, and the cut that is planned for the answer, if any.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Server,
    Client(Option<Cut>),
}

impl<'a> Connection<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, turn: Mutex::new(Turn::Server) }
    }

    /// Carries bytes in both directions until one side closes or the cut comes.
    pub(super) async fn carry(&self, mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let (mut from_client, mut to_client) = client.split();
        let (mut from_server, mut to_server) = server.split();
        let end = tokio::select! {
            end = self.requests(&mut from_client, &mut to_server) => end?,
            end = self.replies(&mut from_server, &mut to_client) => end?,
        };
        match end {
            End::Closed => Ok(()),
            End::Cut(cut) => self.cut(cut, client, server).await,
            End::Kept(request) => {
                self.keep(request, client, server).await;
                Ok(())
            }
            End::Silent => tokio::io::copy(&mut client, &mut tokio::io::sink()).await.map(drop),
        }
    }

    /// Waits until the server has finished its work, and then cuts the connection of the client. So the client notices
    /// the cut only after the request took effect, if the server received the request.
    async fn cut(&self, cut: Cut, client: TcpStream, mut server: TcpStream) -> io::Result<()> {
        // A server that is gone or resets the connection has finished too.
        let _ = server.shutdown().await;
        let _ = tokio::io::copy(&mut server, &mut tokio::io::sink()).await;
        if cut != Cut::HalfReply {
            client.set_zero_linger()?;
        }
        self.plan.cut();
        Ok(())
    }

    /// Keeps all that the client sends until `Proxy::let_go` is called. Then delivers everything, even if the client is
    /// gone, and waits until the server has finished.
    async fn keep(&self, mut request: Vec<u8>, mut client: TcpStream, mut server: TcpStream) {
        let mut lets_go = self.plan.lets_go.subscribe();
        self.plan.keep();
        while !*lets_go.borrow_and_update() {
            tokio::select! {
                read = client.read_buf(&mut request) => {
                    if read.unwrap_or(0) == 0 {
                        let _ = lets_go.wait_for(|lets_go| *lets_go).await;
                    }
                }
                _ = lets_go.changed() => {}
            }
        }
        // A server that is gone or closes the connection has finished too. The first answer is read before the
        // shutdown: a server that sees the end of the connection first may not begin.
        let _ = server.write_all(&request).await;
        let _ = server.read(&mut [0; CHUNK]).await;
        let _ = server.shutdown().await;
        let _ = tokio::io::copy(&mut server, &mut tokio::io::sink()).await;
        self.plan.deliver();
    }

    async fn requests(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<End> {
        let (mut chunk, mut sent) = (vec![0; CHUNK], Sent::default());
        loop {
            let length = from.read(&mut chunk).await?;
            if length == 0 {
                return Ok(End::Closed);
            }
            let chunk = &chunk[..length];
            self.client_speaks(&mut sent);
            match self.plan.strike(|trap| trap.look(&mut sent, chunk)) {
                None => {}
                Some((Cut::Kept, _)) => return Ok(End::Kept(chunk.to_vec())),
                Some((cut @ Cut::RequestLost, _)) => return Ok(End::Cut(cut)),
                Some((cut @ Cut::HalfRequest, part)) => {
                    // If the server is gone, it receives no part of the request, and the effect is the same.
                    let _ = self.pass(&chunk[..part], to).await;
                    return Ok(End::Cut(cut));
                }
                Some((cut, _)) => self.set(Turn::Client(Some(cut))),
            }
            if self.pass(chunk, to).await.is_err() {
                return Ok(self.server_ended());
            }
        }
    }

    async fn replies(
        &self,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<End> {
        let mut chunk = vec![0; CHUNK];
        loop {
            let length = from.read(&mut chunk).await.unwrap_or(0);
            if length == 0 {
                return Ok(self.server_ended());
            }
            match self.server_speaks() {
                None => self.pass(&chunk[..length], to).await?,
                Some(Cut::NoAnswer) => {
                    self.plan.cut();
                    // The client receives nothing, whatever else the server sends.
                    let _ = tokio::io::copy(from, &mut tokio::io::sink()).await;
                    return Ok(End::Silent);
                }
                Some(cut) => {
                    let part = if cut == Cut::HalfReply { length / 2 } else { 0 };
                    self.pass(&chunk[..part], to).await?;
                    return Ok(End::Cut(cut));
                }
            }
        }
    }

    /// Forwards the bytes unchanged, or byte by byte with each byte in its own segment.
    async fn pass(&self, bytes: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        if !self.plan.slices() {
            return to.write_all(bytes).await;
        }
        for byte in bytes.chunks(1) {
            to.write_all(byte).await?;
            // Lets the reader read this byte first.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn set(&self, turn: Turn) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
    }

    fn client_speaks(&self, sent: &mut Sent) {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if *turn == Turn::Server {
            *turn = Turn::Client(None);
            sent.begin_anew();
            self.plan.round_trip();
        }
    }

    /// Returns how the connection ends after the server has closed it.
    fn server_ended(&self) -> End {
        match self.server_speaks() {
            None => End::Closed,
            Some(Cut::NoAnswer) => {
                // The planned cut is made now, because no answer can arrive any more.
                self.plan.cut();
                End::Silent
            }
            Some(cut) => End::Cut(cut),
        }
    }

    /// Notes that the server sends an answer, and returns the cut of the answer, if one is planned.
    fn server_speaks(&self) -> Option<Cut> {
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *turn, Turn::Server) {
            Turn::Server => None,
            Turn::Client(cut) => cut,
        }
    }
}
