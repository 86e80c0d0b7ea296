//! Connections to one node, over a TCP stream whose end is recorded, with the TLS settings of the store.

use std::io;
use std::sync::Arc;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::SockRef;
use redis::{AsyncConnectionConfig, ConnectionAddr, ConnectionInfo, RedisConnectionInfo, RedisError};
use rustls::pki_types::ServerName;
use storagebox_core::{Error, ErrorKind, Result};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::{AbortHandle, JoinSet};
use tokio_rustls::TlsConnector;

use super::line::{Counted, Ending, Line};
use crate::config::Access;
use crate::error;

/// A connection to one Redis node, shared by all clones of this value.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) connection: MultiplexedConnection,
    /// The state of the stream, or `None` if the driver opened the stream.
    pub(super) line: Option<Arc<Line>>,
    _driver: Option<Arc<Driver>>,
}

/// The task that reads and writes a connection. Dropping this value aborts the task.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Node {
    /// Connects over TCP or TLS, or lets the driver connect to other kinds of addresses.
    pub(super) async fn connect(node: &ConnectionInfo, access: &Access, config: AsyncConnectionConfig) -> Result<Self> {
        let login = node.redis_settings();
        match node.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let (counted, line) = Counted::new(reached(host, *port, node.tcp_settings()).await?);
                Self::over(counted, line, login, config).await
            }
            ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None } => {
                let (counted, line) = Counted::new(reached(host, *port, node.tcp_settings()).await?);
                let name =
                    ServerName::try_from(host.clone()).map_err(|_| error::bad("host", "is not a valid DNS name"))?;
                let tls = TlsConnector::from(Arc::new(access.tls()?));
                Self::over(tls.connect(name, counted).await.map_err(error::securing)?, line, login, config).await
            }
            _ => Self::by_the_driver(node, config).await,
        }
    }

    /// Returns the error for a connection that failed before its first call.
    pub(super) fn refused(line: Option<&Line>, error: RedisError) -> Error {
        match line.is_some_and(Line::was_refused) {
            true => error::refusing(error),
            false => error::connecting(error),
        }
    }

    async fn over<S>(
        stream: S,
        line: Arc<Line>,
        login: &RedisConnectionInfo,
        config: AsyncConnectionConfig,
    ) -> Result<Self>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let ending = Ending { stream, line: Arc::clone(&line) };
        let made = MultiplexedConnection::new_with_config(login, ending, config).await;
        let (connection, driver) = made.map_err(|error| Self::refused(Some(&line), error))?;
        let driver = Arc::new(Driver(tokio::spawn(driver).abort_handle()));
        Ok(Self { connection, line: Some(line), _driver: Some(driver) })
    }

    async fn by_the_driver(node: &ConnectionInfo, config: AsyncConnectionConfig) -> Result<Self> {
        check_ciphers(node)?;
        let client = redis::Client::open(node.clone()).map_err(error::connecting)?;
        let connected = client.get_multiplexed_async_connection_with_config(&config).await;
        Ok(Self { connection: connected.map_err(error::connecting)?, line: None, _driver: None })
    }
}

/// Returns an error if the node needs TLS and the process has not chosen its TLS ciphers.
pub(super) fn check_ciphers(node: &ConnectionInfo) -> Result<()> {
    let is_tls = matches!(node.addr(), ConnectionAddr::TcpTls { .. });
    // Otherwise the driver would choose ciphers for the whole process, or panic.
    match is_tls && rustls::crypto::CryptoProvider::get_default().is_none() {
        true => Err(error::bad("TLS", NO_CIPHERS)),
        false => Ok(()),
    }
}

const NO_CIPHERS: &str = "to a cluster, or from an existing client, needs ciphers that the process has chosen: first \
    call `rustls::crypto::ring::default_provider().install_default()`";

/// Connects to all addresses of the host at once, and returns the first stream that opens.
async fn reached(host: &str, port: u16, settings: &TcpSettings) -> Result<TcpStream> {
    let addresses = lookup_host((host, port)).await.map_err(error::resolving)?;
    let mut dials: JoinSet<_> = addresses.map(TcpStream::connect).collect();
    let mut refused = io::Error::other("the host has no address");
    while let Some(dialed) = dials.join_next().await {
        match dialed.map_err(io::Error::other).and_then(|stream| with(stream?, settings)) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(Error::new(ErrorKind::Unavailable, error::UNREACHABLE).caused_by(refused).on("redis"))
}

fn with(stream: TcpStream, settings: &TcpSettings) -> io::Result<TcpStream> {
    stream.set_nodelay(settings.nodelay())?;
    let socket = SockRef::from(&stream);
    if let Some(keepalive) = settings.keepalive() {
        socket.set_tcp_keepalive(keepalive)?;
    }
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    socket.set_tcp_user_timeout(settings.user_timeout())?;
    Ok(stream)
}
