//! A program that uses a handle without a retry loop, while every third reply is lost and idle connections end. Half of
//! the people come too late, and are refused.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::collections::HashSet;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use storagebox::{Counted, DynamoStore, Store, Taken};
use storagebox_conformance::{Cut, Proxy};
use storagebox_testkit::servers;

/// The number of people in the short tests.
const FEW: usize = 150;
const MANY: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn every_person_gets_an_item_or_a_refusal_on_postgres() {
    assign(&Far::postgres().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_person_gets_an_item_or_a_refusal_on_redis() {
    assign(&Far::redis().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_person_gets_an_item_or_a_refusal_on_dynamodb() {
    assign(&Far::dynamodb().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_or_a_refusal_on_postgres() {
    assign(&Far::postgres().await, MANY).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_or_a_refusal_on_redis() {
    assign(&Far::redis().await, MANY).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_or_a_refusal_on_dynamodb() {
    assign(&Far::dynamodb().await, MANY).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn void_calls_leave_few_rows_and_upkeep_deletes_them_on_postgres() {
    let url = servers::shared_postgres().unwrap().url().to_owned();
    refuse_and_forget(&Far::by_url(&url, &format!("schema=void&remember={}s", MEMORY.as_secs())).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn void_calls_leave_few_rows_and_upkeep_deletes_them_on_redis() {
    let url = servers::shared_redis().unwrap().url().to_owned();
    refuse_and_forget(&Far::by_url(&url, &format!("prefix=void&remember={}s", MEMORY.as_secs())).await).await;
}

/// The time for which a store remembers ended claims and void calls.
const MEMORY: Duration = Duration::from_secs(20);

/// Makes refused calls, a third of them with a lost reply. Checks that only calls with a lost reply leave rows, and
/// that upkeep later deletes the rows.
async fn refuse_and_forget(far: &Far) {
    let Far { store, proxy } = far;
    store.setup().await.unwrap();
    let bank = store.bank("empty").unwrap();
    proxy.arm_every(Cut::ReplyLost, "person-", 3);
    for number in 0..FEW {
        let taken = bank.assign(format!("person-{number}")).await.unwrap();
        assert_eq!(taken, Taken::Empty, "person {number}");
    }
    proxy.disarm();
    let lost = proxy.cuts();
    assert_eq!(store.maintain(FEW).await.unwrap().deleted, 0, "void calls before their end");
    tokio::time::sleep(MEMORY).await;
    let deleted = store.maintain(FEW).await.unwrap().deleted;
    assert!((1..=lost as u64).contains(&deleted), "{deleted} rows after {lost} lost replies");
    assert_eq!(store.maintain(FEW).await.unwrap().deleted, 0, "rows that are left");
    println!(
        "handles: {FEW} people refused on {}, {lost} replies lost: {deleted} rows of void calls, none after their memory",
        store.backend()
    );
}

/// All connections are closed each time that this number of people have made their calls.
const IDLE: usize = 50;

/// Calls a bank and a counter for each person, with stock for half of the people. Checks that no call fails, that half
/// of the people are refused, and that all items are different.
async fn assign(far: &Far, people: usize) {
    far.store.setup().await.unwrap();
    assign_items(far, people).await;
    sell_pieces(far, people).await;
}

async fn assign_items(far: &Far, people: usize) {
    let Far { store, proxy } = far;
    let bank = store.bank(format!("vouchers-for-{people}")).unwrap();
    bank.add((0..people / 2).map(|number| format!("item-{number}"))).await.unwrap();

    let (mut given, mut refused) = (HashSet::new(), 0);
    let cuts = proxy.cuts();
    for number in 0..people {
        far.before(number);
        match bank.assign(format!("person-{number}")).await {
            Ok(Taken::New(held) | Taken::Again(held)) => assert!(given.insert(held.item), "twice"),
            Ok(Taken::Empty) => refused += 1,
            other => panic!("person {number}: {other:?}"),
        }
    }
    proxy.disarm();
    let (counts, lost) = (bank.counts().await.unwrap(), proxy.cuts() - cuts);
    assert_eq!((counts.free, counts.held), (0, people as u64 / 2));
    assert_eq!((given.len(), refused), (people / 2, people - people / 2));
    assert!(lost >= people / 3, "{lost} cuts");
    println!(
        "handles: {people} people at {} items on {}, {lost} replies lost: {} have an item each, {refused} were told Empty, \
         no error",
        people / 2,
        store.backend(),
        given.len()
    );
}

async fn sell_pieces(far: &Far, people: usize) {
    let Far { store, proxy } = far;
    let stock = store.counters(format!("stock-for-{people}")).unwrap();
    let delivered = stock.add("piece", people as i64 / 2).by("delivery").await.unwrap();
    assert!(matches!(delivered, Counted::Applied { .. }), "{delivered:?}");

    let (mut sold, mut refused) = (0, 0);
    let cuts = proxy.cuts();
    for number in 0..people {
        far.before(number);
        match stock.add("piece", -1).within(0..).by(format!("person-{number}")).await {
            Ok(Counted::Applied { .. } | Counted::AlreadyApplied { .. }) => sold += 1,
            Ok(Counted::OutOfBounds) => refused += 1,
            other => panic!("person {number}: {other:?}"),
        }
    }
    proxy.disarm();
    let lost = proxy.cuts() - cuts;
    assert_eq!((stock.value("piece").await.unwrap(), sold, refused), (0, people / 2, people - people / 2));
    assert!(lost >= people / 3, "{lost} cuts");
    println!(
        "handles: {people} people at a counter of {} on {}, {lost} replies lost: {sold} were served, {refused} were told \
         OutOfBounds, no error",
        people / 2,
        store.backend()
    );
}

struct Far {
    proxy: Proxy,
    store: Store,
}

impl Far {
    /// If `number` is a multiple of [`IDLE`], closes all idle connections and makes the proxy lose every third reply.
    fn before(&self, number: usize) {
        if number % IDLE == 0 {
            self.proxy.end_connections();
            self.proxy.arm_every(Cut::ReplyLost, "person-", 3);
        }
    }

    async fn postgres() -> Self {
        Self::by_url(servers::shared_postgres().unwrap().url(), "schema=handles").await
    }

    async fn redis() -> Self {
        Self::by_url(servers::shared_redis().unwrap().url(), "prefix=handles").await
    }

    /// Opens a store behind a proxy. `apart` is a URL option that separates the store from other stores on the server.
    async fn by_url(url: &str, apart: &str) -> Self {
        let (address, authority) = address_of(url);
        let proxy = Proxy::start(address).await.unwrap();
        let url = url.replace(authority, &proxy.addr().to_string());
        let mark = if url.contains('?') { '&' } else { '?' };
        Self { store: Store::open(format!("{url}{mark}{apart}")).await.unwrap(), proxy }
    }

    async fn dynamodb() -> Self {
        let (address, _) = address_of(servers::shared_dynamodb().unwrap().url());
        let proxy = Proxy::start(address).await.unwrap();
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("storagebox", "nothing", None, None, "proofs"))
            .endpoint_url(format!("http://{}", proxy.addr()))
            .http_client(aws_smithy_http_client::Builder::new().build_http());
        let client = aws_sdk_dynamodb::Client::from_conf(config.build());
        let store = DynamoStore::builder().table("handles").protect(false).from_client(&client).unwrap();
        Self { store: Store::new(store), proxy }
    }
}

/// Returns the address of the URL's server, and the part of the URL that contains the address.
fn address_of(url: &str) -> (SocketAddr, &str) {
    let rest = url.rsplit(['/', '@']).find(|part| part.contains(':') && !part.contains('@')).unwrap_or_default();
    let authority = rest.split(['?', '&']).next().unwrap_or_default();
    let address = authority.to_socket_addrs().ok().and_then(|mut all| all.next());
    (address.expect("the URL says where the server listens, so that a proxy can stand before it"), authority)
}
