//! A table for one test program, and prefixes in it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_core::{Backend as _, ManualClock, Result};
use storagebox_dynamo::{DynamoBuilder, DynamoStore};
pub use storagebox_testkit::checks::failed;
use storagebox_testkit::dynamodb::{Data, Dynamo};
use storagebox_testkit::servers;
use tokio::task::spawn_blocking;

/// The word that stands for the endpoint of AWS in an address.
const AWS: &str = "aws";

/// The timeout of calls in tests: so long that no call times out on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Debug)]
pub struct Table {
    pub name: String,
    region: String,
    endpoint: Option<String>,
    driver: Driver,
    places: AtomicU64,
    /// The table's own server, if it has one.
    own: Option<Dynamo>,
}

impl Table {
    /// Creates a table on the server that `STORAGEBOX_TEST_DYNAMO_URL` names, or else on this program's local server.
    pub async fn shared() -> Result<Arc<Self>> {
        let server = servers::shared_dynamodb().map_err(failed)?;
        Self::create(server.url(), None).await
    }

    /// Creates a table on its own server, which can be killed.
    pub async fn alone(data: Data) -> Result<Arc<Self>> {
        let own = spawn_blocking(move || Dynamo::start(data)).await.map_err(failed)?.map_err(failed)?;
        let url = own.url();
        Self::create(&url, Some(own)).await
    }

    async fn create(url: &str, own: Option<Dynamo>) -> Result<Arc<Self>> {
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let rest = place.strip_prefix("dynamodb://").ok_or_else(|| failed("not a URL of DynamoDB"))?;
        let (region, table) = rest.split_once('/').ok_or_else(|| failed("a URL without a table"))?;
        let endpoint = query.strip_prefix("endpoint=").map(|endpoint| endpoint.replace("%3A", ":").replace("%2F", "/"));
        let name = format!("{table}-sbtest-{:016x}", fastrand::Rng::new().u64(..));
        let driver = driver(region, endpoint.as_deref(), None).await;
        let (region, places) = (region.to_owned(), AtomicU64::new(0));
        let table = Self { name, region, endpoint, driver, places, own };
        table.builder().from_client(&table.driver)?.setup().await?;
        Ok(Arc::new(table))
    }

    /// Returns a builder for this table, without deletion protection, so that the test can remove it.
    pub fn builder(&self) -> DynamoBuilder {
        DynamoStore::builder().table(self.name.as_str()).protect(false)
    }

    pub fn own(&self) -> Option<&Dynamo> {
        self.own.as_ref()
    }

    /// Returns a client of the driver, for requests without the library.
    pub fn raw(&self) -> &Driver {
        &self.driver
    }

    /// Returns the name of the endpoint in printed results.
    pub fn endpoint(&self) -> String {
        self.endpoint.clone().unwrap_or_else(|| format!("AWS {}", self.region))
    }

    pub fn server(&self) -> Option<SocketAddr> {
        let endpoint = self.endpoint.as_deref()?.strip_prefix("http://")?.trim_end_matches('/');
        std::net::ToSocketAddrs::to_socket_addrs(endpoint).ok()?.next()
    }

    /// Creates a client for this address and with this HTTP client. `None` stands for the table's own server or client.
    pub async fn client(&self, address: Option<SocketAddr>, http: Option<SharedHttpClient>) -> Driver {
        let other = address.map(|address| format!("http://{address}"));
        driver(&self.region, other.as_deref().or(self.endpoint.as_deref()), http).await
    }

    /// Returns the HTTP client to which a recorder passes requests.
    pub fn http(&self) -> SharedHttpClient {
        plain_http(self.endpoint.as_deref())
    }

    /// Returns a place in a table that does not exist yet.
    pub fn bare(self: &Arc<Self>) -> Place {
        let number = self.places.fetch_add(1, Ordering::Relaxed);
        let (name, prefix) = (format!("{}-{number}", self.name), format!("n{number}/"));
        Place { table: Arc::clone(self), name, prefix, clock: ManualClock::new() }
    }

    /// Returns an empty place for one case. The place is a new table on an emulator, and a prefix in this table on AWS.
    pub async fn place(self: &Arc<Self>) -> Result<Place> {
        let mut place = self.bare();
        if self.endpoint.is_none() {
            place.name.clone_from(&self.name);
        }
        if place.name != self.name {
            place.builder().from_client(&self.driver)?.setup().await?;
        }
        Ok(place)
    }

    /// Removes the table and the tables of its places.
    pub async fn remove(&self) -> Result<()> {
        let places = 0..self.places.load(Ordering::Relaxed);
        for name in places.map(|number| format!("{}-{number}", self.name)).chain([self.name.clone()]) {
            match self.driver.delete_table().table_name(name).send().await.map_err(SdkError::into_service_error) {
                Err(error) if !error.is_resource_not_found_exception() => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// A prefix in a table, with the clock of all its clients.
#[derive(Clone, Debug)]
pub struct Place {
    pub table: Arc<Table>,
    pub name: String,
    pub prefix: String,
    pub clock: ManualClock,
}

impl Place {
    /// Returns a builder with the place's clock. All clients share this clock, so the skew is 0.
    pub fn builder(&self) -> DynamoBuilder {
        let builder = self.table.builder().table(self.name.as_str()).prefix(self.prefix.as_str());
        builder.max_skew(Duration::ZERO).clock(self.clock.clone())
    }

    pub async fn store(&self) -> Result<DynamoStore> {
        self.builder().from_client(&self.table.client(None, None).await)
    }

    /// Returns the address by which another process opens the place.
    pub fn address(&self) -> String {
        let endpoint = self.table.endpoint.as_deref().unwrap_or(AWS);
        [&self.table.region, endpoint, &self.name, &self.prefix].join(" ")
    }

    /// Opens a store on a place of another process, at its address.
    pub async fn opened_at(address: &str) -> Result<DynamoStore> {
        let parts: Vec<&str> = address.split(' ').collect();
        let [region, endpoint, table, prefix] = parts[..] else { return Err(failed("no address of a place")) };
        let driver = driver(region, Some(endpoint).filter(|endpoint| *endpoint != AWS), None).await;
        let builder = DynamoStore::builder().table(table).prefix(prefix).max_skew(Duration::ZERO);
        builder.protect(false).clock(ManualClock::new()).call_timeout(PATIENCE).from_client(&driver)
    }

    /// Reads all rows of the place, without the library.
    pub async fn rows(&self) -> Result<Vec<HashMap<String, AttributeValue>>> {
        let request = self.table.raw().scan().table_name(&self.name).consistent_read(true);
        let request = request.filter_expression("begins_with(pk, :prefix)");
        let request = request.expression_attribute_values(":prefix", AttributeValue::S(self.prefix.clone()));
        let rows: std::result::Result<Vec<_>, _> = request.into_paginator().items().send().collect().await;
        rows.map_err(failed)
    }
}

/// Creates a client. On AWS it has the keys of the environment, and else keys that every emulator accepts.
pub async fn driver(region: &str, endpoint: Option<&str>, http: Option<SharedHttpClient>) -> Driver {
    let http = http.unwrap_or_else(|| plain_http(endpoint));
    let Some(endpoint) = endpoint else { return of_aws(region, http).await };
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::v2026_01_12())
        .region(Region::new(region.to_owned()))
        .credentials_provider(Credentials::new("storagebox", "nothing", None, None, "tests"))
        .endpoint_url(endpoint)
        .http_client(http);
    Driver::from_conf(config.build())
}

/// Creates an HTTP client: with TLS for AWS, and without TLS for an emulator.
fn plain_http(endpoint: Option<&str>) -> SharedHttpClient {
    use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
    let http = aws_smithy_http_client::Builder::new();
    match endpoint {
        Some(_) => http.build_http(),
        None => http.tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https(),
    }
}

async fn of_aws(region: &str, http: SharedHttpClient) -> Driver {
    let config = aws_config::defaults(BehaviorVersion::v2026_01_12());
    Driver::new(&config.region(Region::new(region.to_owned())).http_client(http).load().await)
}

/// Returns the size of the longest row in bytes, approximately as DynamoDB counts it.
pub async fn longest_row(place: &Place) -> Result<usize> {
    let row = |row: &HashMap<String, AttributeValue>| row.iter().map(|(name, value)| name.len() + bytes(value)).sum();
    Ok(place.rows().await?.iter().map(row).max().unwrap_or_default())
}

fn bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Bs(set) => set.iter().map(|bytes| bytes.as_ref().len()).sum(),
        AttributeValue::L(list) => list.iter().map(bytes).sum(),
        AttributeValue::M(map) => map.iter().map(|(name, value)| name.len() + bytes(value)).sum(),
        _ => 1,
    }
}
