//! Servers that speak PostgreSQL's protocol and are not PostgreSQL: `setup` refuses each and leaves nothing behind.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use storagebox_core::{Backend, Certainty, Error, ErrorKind, Result};
use storagebox_postgres::PostgresStore;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::scene::{LONG, count, owner_url, with_database};
use crate::support::{Database, failed};

/// How a fake server answers a message that contains a given text.
#[derive(Clone, Copy, Debug)]
enum Fake {
    /// Returns PostgreSQL's answer with this column of each row set to false. All earlier columns must have one byte.
    Denies(usize),
    Refuses(&'static str),
}

/// Returns the type and the body of one message. The first message of a client has no type.
async fn message(from: &mut OwnedReadHalf, has_type: bool) -> io::Result<(Option<u8>, Vec<u8>)> {
    let kind = if has_type { Some(from.read_u8().await?) } else { None };
    let mut body = vec![0; (from.read_u32().await? as usize).saturating_sub(4)];
    from.read_exact(&mut body).await?;
    Ok((kind, body))
}

async fn pass(to: &mut OwnedWriteHalf, kind: Option<u8>, body: &[u8]) -> io::Result<()> {
    let mut whole: Vec<u8> = kind.into_iter().collect();
    whole.extend((body.len() as u32 + 4).to_be_bytes());
    whole.extend(body);
    to.write_all(&whole).await
}

impl Fake {
    async fn start(self, needle: &'static str, server: SocketAddr) -> io::Result<u16> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (asks, client) = (Arc::new(AtomicBool::new(false)), client.into_split());
                let server = TcpStream::connect(server).await?.into_split();
                tokio::spawn(ask(client.0, server.1, needle, Arc::clone(&asks)));
                tokio::spawn(self.answer(server.0, client.1, asks));
            }
            io::Result::Ok(())
        });
        Ok(port)
    }

    /// Forwards the server's messages, and replaces the answers while `asks` is true.
    async fn answer(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, asks: Arc<AtomicBool>) -> io::Result<()> {
        loop {
            let (kind, mut body) = message(&mut from, true).await?;
            match (self, kind) {
                _ if !asks.load(Relaxed) => {}
                (Self::Denies(column), Some(b'D')) => body[2 + column * 5 + 4] = b'f',
                (Self::Refuses(code), Some(b'Z')) => {
                    pass(&mut to, Some(b'E'), format!("SERROR\0C{code}\0Mno\0\0").as_bytes()).await?;
                    body = b"E".to_vec();
                }
                (Self::Refuses(_), _) => continue,
                _ => {}
            }
            pass(&mut to, kind, &body).await?;
        }
    }
}

/// Forwards the client's messages. Records in `asks` whether the last message contains the text `needle`.
async fn ask(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, needle: &str, asks: Arc<AtomicBool>) -> io::Result<()> {
    let mut has_type = false;
    loop {
        let (kind, body) = message(&mut from, has_type).await?;
        asks.store(String::from_utf8_lossy(&body).contains(needle), Relaxed);
        pass(&mut to, kind, &body).await?;
        has_type = true;
    }
}

/// A text that occurs only in the statement that probes the server.
const PROBE: &str = "probe_address";
const BEGIN: &str = "pg_advisory_xact_lock";

async fn set_up(database: &Database, fake: Fake, needle: &'static str) -> Result<()> {
    let port = fake.start(needle, database.server()).await.map_err(failed)?;
    let url = owner_url(database, "fake").replace(&format!(":{}/", database.server().port()), &format!(":{port}/"));
    let store = PostgresStore::builder().schema("fake")?.call_timeout(LONG);
    store.connect(&format!("{url}&sslmode=disable"))?.setup().await
}

/// Checks that a setup fails and leaves nothing. Returns the error.
async fn refused(database: &Database, fake: Fake, needle: &'static str) -> Result<Error> {
    let error = set_up(database, fake, needle).await.expect_err("a fake");
    assert_eq!(error.certainty(), Certainty::NotApplied, "{fake:?}: {error:?}");
    assert_eq!(count(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'fake'").await?, 0, "{fake:?}");
    Ok(error)
}

#[test]
fn setup_names_the_behaviour_that_a_server_lacks() -> Result<()> {
    with_database(async |database| {
        for (column, words) in
            ["(ctid)", "(SKIP LOCKED)", "lock_timeout", "undo a block", "(txid_current_if_assigned)", "keep a setting"]
                .into_iter()
                .enumerate()
        {
            let error = refused(database, Fake::Denies(column), PROBE).await?;
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            for words in ["a server that cannot", words, "use PostgreSQL itself"] {
                assert!(error.message().contains(words), "{words}: {error}");
            }
        }
        Ok(())
    })
}

/// The codes of servers without `SKIP LOCKED`, `ctid`, advisory locks, `plpgsql` or a function.
#[test]
fn server_that_rejects_a_setup_statement_is_unsupported() -> Result<()> {
    with_database(async |database| {
        for needle in [BEGIN, PROBE] {
            for code in ["0A000", "42601", "42703", "42704", "42883"] {
                let error = refused(database, Fake::Refuses(code), needle).await?;
                assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
                for words in [code, "use PostgreSQL itself"] {
                    assert!(error.message().contains(words), "{words}: {error}");
                }
                assert!(std::error::Error::source(&error).is_some(), "{error:?}");
            }
        }
        Ok(())
    })
}

/// Shows that setup refuses servers because of their answers, and not because of the proxy.
#[test]
fn proxy_that_changes_no_answer_lets_setup_succeed() -> Result<()> {
    with_database(async |database| {
        assert_eq!(refused(database, Fake::Refuses("42501"), PROBE).await?.kind(), ErrorKind::Denied);
        set_up(database, Fake::Refuses("0A000"), "a text that no statement holds").await?;
        assert_eq!(count(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'fake'").await?, 1);
        Ok(())
    })
}
