//! External faults: split writes, a server that stops or throttles, incomplete batches, and a clock that is set back.

use std::io;
use std::iter::repeat_n;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use aws_sdk_dynamodb::Client as Driver;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::dns::{DnsFuture, ResolveDns, ResolveDnsError};
use serde_json::Value;
use storagebox_conformance::{Proxy, keeps_text};
use storagebox_core::{
    Backend, Certainty, Change, ClaimId, Counted, Counter, ErrorKind, Hold, ItemBank, ItemState, ManualClock, OpId,
    Result, Retention, Strategy, Taken,
};
use storagebox_testkit::checks::{clocks, pauses};
use storagebox_testkit::dynamodb::Data;
use storagebox_testkit::dynamodb::faults::{Exchange, Fault};

use crate::metered::Metered;
use crate::scene::{recorded, with_place};
use crate::support::{Table, failed, items};
use crate::workload::builder;

/// A time limit for calls that the server answers, and for events that a test waits for.
const SOON: Duration = Duration::from_secs(2);
/// The longest timeout of a call.
const LONG: Duration = Duration::from_secs(540);

#[test]
fn data_that_arrives_in_pieces_is_stored_unchanged() -> Result<()> {
    with_place(async |place| {
        let server = place.table.server().ok_or_else(|| failed("a server without an address"))?;
        let proxy = Proxy::start(server).await.map_err(failed)?;
        proxy.slice(true);
        let driver = place.table.client(Some(proxy.addr()), None).await;
        let store = place.builder().call_timeout(LONG).from_client(&driver)?;
        keeps_text(&store, "split").await.map_err(failed)
    })
}

#[tokio::test]
async fn a_server_that_is_stopped_for_a_while_loses_nothing() -> Result<()> {
    let table = Table::alone(Data::InMemory).await?;
    let place = table.place().await?;
    let (hasty, patient) = (table.client(None, None).await, table.client(None, None).await);
    let hasty = place.builder().call_timeout(SOON).from_client(&hasty)?;
    let patient = place.builder().call_timeout(LONG).from_client(&patient)?;
    let own = table.own().expect("a server of its own");
    pauses::lose_nothing(&hasty, &patient, "namespace", || own.pause()).await
}

/// A DNS resolver that knows all names until the test removes them.
#[derive(Clone, Debug, Default)]
struct Names {
    are_gone: Arc<AtomicBool>,
}

impl ResolveDns for Names {
    fn resolve_dns<'a>(&'a self, _: &'a str) -> DnsFuture<'a> {
        DnsFuture::ready(match self.are_gone.load(Relaxed) {
            true => Err(ResolveDnsError::new(io::Error::other("no answer"))),
            false => Ok(vec![Ipv4Addr::LOCALHOST.into()]),
        })
    }
}

/// The first call opens the namespace. The second call sends only its change, and reaches no server.
#[test]
fn a_change_without_a_connection_is_certainly_not_applied() -> Result<()> {
    with_place(async |place| {
        let server = place.table.server().ok_or_else(|| failed("a server without an address"))?;
        let (names, tls) = (Names::default(), TlsContext::builder().with_trust_store(TrustStore::empty()).build());
        let http = aws_smithy_http_client::Builder::new().pool_max_idle_per_host(0);
        let http = http.tls_provider(Provider::Rustls(CryptoMode::Ring)).tls_context(tls.map_err(failed)?);
        let driver = place.table.client(None, Some(http.build_with_resolver(names.clone()))).await;
        let config = driver.config().to_builder().endpoint_url(format!("http://table.test:{}", server.port()));
        let store = place.builder().from_client(&Driver::from_conf(config.build()))?;
        let counter = store.counter(&"namespace".parse()?, Strategy::Atomic)?;
        let _ = counter.apply(&"key".parse()?, &Change::new("first".parse()?, 1)).await?;
        names.are_gone.store(true, Relaxed);
        let error = counter.apply(&"key".parse()?, &Change::new("second".parse()?, 1)).await.unwrap_err();
        let found = (error.kind(), error.certainty(), error.is_retryable());
        assert_eq!(found, (ErrorKind::Unavailable, Certainty::NotApplied, true), "{error:?}");
        Ok(())
    })
}

/// All clients of this test have the same clock, and `max_skew` is 0.
#[test]
fn a_clock_set_back_ends_no_hold_early_and_revives_nothing() -> Result<()> {
    with_place(async |place| {
        let driver = place.table.client(None, None).await;
        clocks::set_back(async |ahead| {
            let clock = ManualClock::new();
            clock.advance(ahead);
            Ok(Arc::new(place.builder().clock(clock).from_client(&driver)?) as _)
        })
        .await
    })
}

#[test]
fn a_take_from_a_table_at_its_limit_is_throttled_and_not_applied() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let (bank, ada) = (store.item_bank(&"namespace".parse()?)?, ClaimId::new("ada")?);
        bank.add(&items(1)?).await?;
        faults.reset();
        faults.script_for("TransactWriteItems", repeat_n(Fault::Throttle, 100));
        let error = bank.take(&ada, Hold::Forever).await.unwrap_err();
        assert_eq!((error.kind(), error.certainty()), (ErrorKind::Throttled, Certainty::NotApplied), "{error:?}");
        assert!(faults.injected()["Throttle"] > 2, "it was made again: {faults:?}");
        faults.heal();
        assert_eq!(bank.counts().await?.free, 1);
        assert!(matches!(bank.take(&ada, Hold::Forever).await?, Taken::New(_)));
        Ok(())
    })
}

/// The claims of a page are read in a batch. The server leaves half of the batch unread three times.
#[test]
fn keys_that_a_batch_left_unread_are_read_again() -> Result<()> {
    const TAKEN: usize = 8;
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder().shards(1)).await?;
        let bank = store.item_bank(&"namespace".parse()?)?;
        bank.add(&items(10)?).await?;
        for number in 0..TAKEN {
            let _ = bank.take(&ClaimId::new(format!("claim-{number}"))?, Hold::Forever).await?;
        }
        faults.reset();
        faults.script_for("BatchGetItem", repeat_n(Fault::Unprocessed, 3));
        let listed = bank.list(None, 100).await?.entries;
        assert_eq!(faults.injected().get("Unprocessed"), Some(&3), "{faults:?}");
        let held = listed.iter().filter(|one| matches!(one.state, ItemState::Held(_)));
        assert_eq!((listed.len(), held.count()), (10, TAKEN), "{listed:?}");
        Ok(())
    })
}

/// A read that is not strongly consistent may return an old row.
#[test]
fn every_read_is_strongly_consistent() -> Result<()> {
    with_place(async |place| {
        let mut metered = Metered::of(place, builder(place)).await?;
        metered.every_call(place).await?;
        metered.unusual_calls(place).await?;
        let (sent, by_operators) = metered.sent();
        let reads: Vec<_> = sent.iter().chain(&by_operators).flat_map(reads_of).collect();
        assert!(reads.len() > 100, "only {} reads were seen", reads.len());
        for (operation, read) in reads {
            assert_eq!(read["ConsistentRead"], true, "{operation}: {read}");
        }
        Ok(())
    })
}

/// Returns the reads of a request, each with its consistency.
fn reads_of(exchange: &Exchange) -> Vec<(&str, &Value)> {
    let (operation, request) = (exchange.operation.as_str(), &exchange.request);
    match operation {
        "GetItem" | "Query" | "Scan" => vec![(operation, request)],
        "BatchGetItem" => request["RequestItems"].as_object().unwrap().values().map(|one| (operation, one)).collect(),
        _ => vec![],
    }
}

/// The service recognises all attempts as one transaction by their common token.
#[test]
fn all_attempts_of_a_change_have_one_client_token() -> Result<()> {
    with_place(async |place| {
        let (store, faults) = recorded(&place.table, place.builder()).await?;
        let marker = Strategy::Marker { retention: Retention::Forever };
        for (name, strategy) in [("token", Strategy::TransactionToken), ("marker", marker)] {
            let counter = store.counter(&name.parse()?, strategy)?;
            counter.value(&"key".try_into()?).await?;
            let _ = faults.taken();
            faults.script_for("TransactWriteItems", [Fault::DropBefore, Fault::DropAfter]);
            let counted = counter.apply(&"key".parse()?, &Change::new(OpId::new("op")?, 5)).await?;
            assert!(matches!(counted, Counted::Applied { .. }), "{name}: {counted:?}");
            let sent = faults.taken();
            let attempts = sent.iter().filter(|exchange| exchange.operation == "TransactWriteItems");
            let tokens: Vec<_> = attempts.map(|exchange| &exchange.request["ClientRequestToken"]).collect();
            assert!(tokens.len() > 1 && tokens[0].is_string(), "{name}: {tokens:?}");
            assert!(tokens.iter().all(|token| *token == tokens[0]), "{name}: {tokens:?}");
            assert_eq!(counter.value(&"key".try_into()?).await?, 5, "{name}");
        }
        Ok(())
    })
}
