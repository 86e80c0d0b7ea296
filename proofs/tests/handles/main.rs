//! A program that uses a handle without a retry loop, while every third reply is lost.

#![allow(clippy::disallowed_methods, reason = "a test may unwrap")]

use std::collections::HashSet;
use std::net::{SocketAddr, ToSocketAddrs};

use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use storagebox::{DynamoStore, Store, Taken};
use storagebox_conformance::{Cut, Proxy};
use storagebox_testkit::servers;

/// The number of people in the quick run.
const FEW: usize = 150;
const MANY: usize = 10_000;

#[tokio::test(flavor = "multi_thread")]
async fn some_people_get_an_item_each_from_postgres() {
    assign(&Far::postgres().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn some_people_get_an_item_each_from_redis() {
    assign(&Far::redis().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn some_people_get_an_item_each_from_dynamodb() {
    assign(&Far::dynamodb().await, FEW).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_each_from_postgres() {
    assign(&Far::postgres().await, MANY).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_each_from_redis() {
    assign(&Far::redis().await, MANY).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it takes minutes: cargo xtask prove handles"]
async fn ten_thousand_people_get_an_item_each_from_dynamodb() {
    assign(&Far::dynamodb().await, MANY).await;
}

/// Makes one call per person: no call fails, and no two people get the same item.
async fn assign(far: &Far, people: usize) {
    let Far { store, proxy } = far;
    store.setup().await.unwrap();
    let bank = store.bank(format!("vouchers-for-{people}")).unwrap();
    bank.add((0..people).map(|number| format!("item-{number}"))).await.unwrap();

    proxy.arm_every(Cut::ReplyLost, "person-", 3);
    let mut given = HashSet::new();
    for number in 0..people {
        match bank.assign(format!("person-{number}")).await {
            Ok(Taken::New(held) | Taken::Again(held)) => assert!(given.insert(held.item), "twice"),
            other => panic!("person {number}: {other:?}"),
        }
    }
    let counts = bank.counts().await.unwrap();
    assert_eq!((counts.free, counts.held, given.len()), (0, people as u64, people));
    assert!(proxy.cuts() >= people / 3, "{} cuts", proxy.cuts());
    println!(
        "handles: {people} people one after another on {}, {} replies lost: no error, an item each",
        store.backend(),
        proxy.cuts()
    );
}

/// A store whose server is behind a proxy.
struct Far {
    proxy: Proxy,
    store: Store,
}

impl Far {
    async fn postgres() -> Self {
        Self::by_url(servers::shared_postgres().unwrap().url(), "schema=handles").await
    }

    async fn redis() -> Self {
        Self::by_url(servers::shared_redis().unwrap().url(), "prefix=handles").await
    }

    /// Opens a store in a separate schema or prefix of the server.
    async fn by_url(url: &str, apart: &str) -> Self {
        let (address, authority) = address_of(url);
        let proxy = Proxy::start(address).await.unwrap();
        let url = url.replace(authority, &proxy.addr().to_string());
        let mark = if url.contains('?') { '&' } else { '?' };
        Self { store: Store::open(format!("{url}{mark}{apart}")).await.unwrap(), proxy }
    }

    /// Opens a store with credentials that every stand-in accepts.
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

/// Returns the address of the URL's server, and its text in the URL.
fn address_of(url: &str) -> (SocketAddr, &str) {
    let rest = url.rsplit(['/', '@']).find(|part| part.contains(':') && !part.contains('@')).unwrap_or_default();
    let authority = rest.split(['?', '&']).next().unwrap_or_default();
    let address = authority.to_socket_addrs().ok().and_then(|mut all| all.next());
    (address.expect("the URL says where the server listens, so that a proxy can stand before it"), authority)
}
