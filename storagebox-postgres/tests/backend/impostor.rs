//! An impostor of a server: it offers no encryption and asks for the password in clear.

use std::env;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::thread::{self, JoinHandle};

use storagebox_core::{Backend, ErrorKind, Result};
use storagebox_postgres::PostgresStore;

use crate::support::failed;

const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];
const NO_ENCRYPTION: &[u8] = b"N";

const ASK: &[u8] = b"R\0\0\0\x08\0\0\0\x03";

struct Impostor {
    address: SocketAddr,
    heard: JoinHandle<io::Result<Option<String>>>,
}

impl Impostor {
    fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        Ok(Self { address, heard: thread::spawn(move || ask(listener.accept()?.0)) })
    }

    fn url(&self, host: &str, settings: &str) -> String {
        format!("postgres://shop:hunter2@{host}:{}/namespace?{settings}", self.address.port())
    }

    async fn heard(self) -> Result<Option<String>> {
        let heard = tokio::task::spawn_blocking(|| self.heard.join()).await.map_err(failed)?;
        heard.map_err(|_| failed("the impostor panicked"))?.map_err(failed)
    }
}

/// Asks the client for its password. Returns `None` if the client closes the connection instead.
fn ask(mut client: TcpStream) -> io::Result<Option<String>> {
    let mut first = message(&mut client, 0)?;
    if first == SSL_REQUEST[4..] {
        client.write_all(NO_ENCRYPTION)?;
        first = message(&mut client, 0)?;
    }
    if first.is_empty() {
        return Ok(None);
    }
    client.write_all(ASK)?;
    let password = message(&mut client, 1)?;
    client.shutdown(Shutdown::Both)?;
    Ok(Some(String::from_utf8_lossy(&password).trim_end_matches('\0').to_owned()))
}

/// Returns the body of the message whose length follows after `before` bytes. Returns an empty body at the end of the
/// stream.
fn message(client: &mut TcpStream, before: usize) -> io::Result<Vec<u8>> {
    let mut head = vec![0; before + 4];
    match client.read_exact(&mut head) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(vec![]),
        read => read?,
    }
    let length = u32::from_be_bytes([head[before], head[before + 1], head[before + 2], head[before + 3]]);
    let mut body = vec![0; length as usize - 4];
    client.read_exact(&mut body)?;
    Ok(body)
}

async fn heard(host: &str, settings: &str) -> Result<Option<String>> {
    let impostor = Impostor::start().map_err(failed)?;
    let error = PostgresStore::connect(&impostor.url(host, settings))?.ping().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Misconfigured), "{error}");
    impostor.heard().await
}

const URL_VARIABLE: &str = "STORAGEBOX_TEST_IMPOSTOR_URL";

/// Returns the password that a child process sends with `mode` as `PGSSLMODE`.
async fn heard_of_a_process(settings: &str, mode: &[u8]) -> Result<Option<String>> {
    let impostor = Impostor::start().map_err(failed)?;
    let mut process = Command::new(env::current_exe().map_err(failed)?);
    process.args(["--exact", "impostor::child_process_pings_the_impostor", "--ignored"]);
    process.env(URL_VARIABLE, impostor.url(FAR, settings)).env("PGSSLMODE", OsStr::from_bytes(mode));
    let ended = tokio::task::spawn_blocking(move || process.output()).await.map_err(failed)?;
    let ended = ended.map_err(failed)?;
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    // Ends the wait of an impostor that no client has connected to.
    drop(TcpStream::connect(impostor.address));
    impostor.heard().await
}

#[tokio::test]
#[ignore = "it is the process that another test starts"]
async fn child_process_pings_the_impostor() -> Result<()> {
    let url = env::var(URL_VARIABLE).map_err(failed)?;
    let answer = match PostgresStore::connect(&url) {
        Ok(store) => store.ping().await,
        Err(error) => Err(error),
    };
    let kind = answer.unwrap_err().kind();
    assert!(matches!(kind, ErrorKind::Unavailable | ErrorKind::Misconfigured), "{kind:?}");
    Ok(())
}

/// An address of this machine that is not a loopback address.
const FAR: &str = "0.0.0.0";

#[tokio::test]
async fn unencrypted_password_to_another_machine_needs_an_sslmode() -> Result<()> {
    for settings in ["", "sslmode=require", "sslmode=verify-full"] {
        assert_eq!(heard(FAR, settings).await?, None, "{settings}");
    }
    for settings in ["sslmode=prefer", "sslmode=disable"] {
        assert_eq!(heard(FAR, settings).await?.as_deref(), Some("hunter2"), "{settings}");
    }
    Ok(())
}

#[tokio::test]
async fn unencrypted_server_on_this_machine_is_accepted() -> Result<()> {
    for host in ["127.0.0.1", "localhost"] {
        assert_eq!(heard(host, "").await?.as_deref(), Some("hunter2"), "{host}");
    }
    Ok(())
}

#[tokio::test]
async fn client_with_an_unreadable_pgsslmode_sends_no_password() -> Result<()> {
    for mode in [&b"verify-full\xff"[..], b"\xff", b"verify_full", b""] {
        assert_eq!(heard_of_a_process("", mode).await?, None, "{mode:?}");
    }
    let heard = heard_of_a_process("", b"prefer").await?;
    assert_eq!(heard.as_deref(), Some("hunter2"));
    Ok(())
}

#[tokio::test]
async fn ca_in_the_url_overrides_pgsslmode() -> Result<()> {
    for mode in ["disable", "allow", "prefer"] {
        let heard = heard_of_a_process("sslrootcert=authority.pem", mode.as_bytes());
        assert_eq!(heard.await?, None, "{mode}");
    }
    let settings = "sslrootcert=authority.pem&sslmode=disable";
    let heard = heard_of_a_process(settings, b"verify-full").await?;
    assert_eq!(heard.as_deref(), Some("hunter2"));
    Ok(())
}
