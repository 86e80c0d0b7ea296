//! A connection that the server, or a device on the network path, ended while it was idle: nothing was sent on it, so
//! the next call uses another connection and its answer is certain.

use std::sync::Arc;
use std::time::Duration;

use storagebox_conformance::{Cut, Proxy};
use storagebox_core::{
    Backend, Begun, Bounds, Change, ClaimId, Confirmed, Counted, Counter, DedupId, Hold, ItemBank, Key, LeaseRepo,
    OpId, Result, Strategy, Taken,
};
use storagebox_redis::RedisStore;
use storagebox_testkit::redis::{Redis, Settings};
use tokio::task::spawn_blocking;

use crate::scene::{in_server, with_place, with_server};
use crate::support::{Place, failed};

const TERM: Duration = Duration::from_secs(3_600);

/// Calls that return an error if it is not certain whether an earlier attempt was applied.
struct Certain {
    bank: Arc<dyn ItemBank>,
    leases: Arc<dyn LeaseRepo>,
    counters: Arc<dyn Counter>,
}

impl Certain {
    async fn of(store: &RedisStore) -> Result<Self> {
        let name = "namespace".parse()?;
        let (bank, leases, counters) =
            (store.item_bank(&name)?, store.lease_repo(&name)?, store.counter(&name, Strategy::Atomic)?);
        let _ = leases.begin(&DedupId::new("id")?, &OpId::new("first")?, TERM, None).await?;
        Ok(Self { bank, leases, counters })
    }

    /// Runs `disturb` before each call, and checks the answer of the call.
    async fn are_answered(&self, disturb: impl AsyncFn() -> Result<()>) -> Result<()> {
        let (ada, key, op) = (ClaimId::new("ada")?, Key::new("key")?, OpId::new("change")?);
        for round in 0..3 {
            disturb().await?;
            assert_eq!(self.bank.take(&ada, Hold::Forever).await?, Taken::Empty, "{round}");
            disturb().await?;
            assert_eq!(self.bank.confirm(&ada).await?, Confirmed::Unknown, "{round}");
            disturb().await?;
            let begun = self.leases.begin(&DedupId::new("id")?, &OpId::new("second")?, TERM, None).await?;
            assert!(matches!(begun, Begun::InFlight { .. }), "{round}: {begun:?}");
            let change = |delta| Change::new(op.clone(), delta).within(Bounds::at_least(0));
            disturb().await?;
            assert_eq!(self.counters.apply(&key, &change(-1_000)).await?, Counted::OutOfBounds, "{round}");
            disturb().await?;
            let added = self.counters.apply(&key, &change(1)).await?;
            assert!(matches!(added, Counted::Applied { .. }), "{round}: {added:?}");
        }
        Ok(())
    }
}

/// Ends all connections except the administrator's.
fn end_all(administrator: &redis::Client) -> Result<()> {
    // The runtime cannot notice the ends, as in a program that is blocked.
    let mut connection = administrator.get_connection().map_err(failed)?;
    redis::cmd("CLIENT")
        .arg("KILL")
        .arg("TYPE")
        .arg("normal")
        .arg("SKIPME")
        .arg("yes")
        .exec(&mut connection)
        .map_err(failed)?;
    redis::cmd("CLIENT").arg("LIST").query::<String>(&mut connection).map(drop).map_err(failed)
}

async fn answers_are_certain(place: &Place) -> Result<()> {
    let administrator = redis::Client::open(place.server.url_as_administrator()).map_err(failed)?;
    Certain::of(&place.store()?).await?.are_answered(async || end_all(&administrator)).await
}

#[test]
fn a_call_after_an_idle_disconnect_has_a_certain_answer() -> Result<()> {
    with_server(Settings::quick(), answers_are_certain)
}

#[tokio::test(flavor = "multi_thread")]
async fn many_threads_get_certain_answers_after_an_idle_disconnect() -> Result<()> {
    in_server(Settings::quick(), answers_are_certain).await
}

/// The server sends a TLS alert before it ends the connection.
#[tokio::test]
async fn a_call_after_an_idle_tls_disconnect_has_a_certain_answer() -> Result<()> {
    let settings = Settings::quick().with_tls();
    let server = spawn_blocking(move || Redis::start(&settings)).await.map_err(failed)?.map_err(failed)?;
    let authority = std::fs::read(server.authority().expect("it has TLS")).map_err(failed)?;
    let store = RedisStore::builder().authority(&authority)?.connect(&server.url())?;
    store.setup().await?;
    let other = RedisStore::builder().authority(&authority)?.connect(&server.url())?;
    let administrator = administrator_of(&server, authority)?;
    drop(other);
    Certain::of(&store).await?.are_answered(async || end_all(&administrator)).await
}

fn administrator_of(server: &Redis, authority: Vec<u8>) -> Result<redis::Client> {
    let certificates = redis::TlsCertificates { client_tls: None, root_cert: Some(authority) };
    // The driver's own TLS uses the ciphers of the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    redis::Client::build_with_tls(server.url(), certificates).map_err(failed)
}

/// A firewall has silently dropped an idle connection. The `PING` before the next call discovers the loss.
#[test]
fn a_call_after_a_silent_disconnect_has_a_certain_answer() -> Result<()> {
    with_place(async |place| {
        let proxy = Proxy::start(place.server.address()).await.map_err(failed)?;
        let store = place.builder()?.connect(&place.server.url_at(proxy.addr()))?;
        let certain = Certain::of(&store).await?;
        for cut in [Cut::RequestLost, Cut::ReplyLost] {
            let forget = async || {
                place.moved.advance(Duration::from_secs(31));
                proxy.arm(cut, "PING", 0);
                Ok(())
            };
            certain.are_answered(forget).await?;
        }
        Ok(())
    })
}
