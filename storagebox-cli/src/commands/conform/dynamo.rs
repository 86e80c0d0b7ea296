//! The target for a service with DynamoDB's protocol. Each case has a key prefix in a new table.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aws_config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::delete_table::DeleteTableError;
use aws_sdk_dynamodb::{Client, Config};
use aws_smithy_http_client::Builder as Http;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use storagebox::parts::Backend as _;
use storagebox::time::ManualClock;
use storagebox::{DynamoStore, Error, ErrorKind, Result, async_trait};
use storagebox_conformance::Declared;

use super::cases::Case;
use super::{CALL_TIMEOUT, MARK, TestTarget, address};

const PORT: u16 = 80;

/// The query keys that the suite sets itself.
const OURS: [&str; 4] = ["endpoint", "prefix", "call_timeout", "protect"];

/// The table that one run of the suite uses.
#[derive(Clone)]
pub(super) struct Table {
    query: String,
    endpoint: Option<String>,
    region: String,
    table: String,
    upstream: Option<SocketAddr>,
    /// The number of tables besides `table` that the cases of `setup` have created.
    beside: Arc<AtomicU64>,
}

impl Table {
    pub(super) async fn at(url: &str) -> Result<Self> {
        let (rest, taken) = address::without(url, &OURS);
        // Refuses an invalid URL before anything is sent.
        DynamoStore::connect(url)?;
        let endpoint = taken.iter().find(|(key, _)| *key == "endpoint");
        let endpoint = endpoint.map(|(_, value)| storagebox::parts::backend::url::decoded(value)).transpose()?;
        let (place, query) = rest.split_once('?').unwrap_or((&rest, ""));
        let (region, table) = place.trim_start_matches("dynamodb://").split_once('/').unwrap_or((place, MARK));
        let table = format!("{table}-{MARK}-{:08x}", fastrand::u32(..));
        let plain = endpoint.as_deref().filter(|endpoint| address::scheme(endpoint) == "http");
        let upstream = match plain {
            Some(endpoint) => address::of(endpoint, PORT).await,
            None => None,
        };
        let (region, query) = (region.to_owned(), query.to_owned());
        Ok(Self { query, region, endpoint, table, upstream, beside: Arc::default() })
    }

    /// Opens a store on the keys that begin with `prefix`. Uses the endpoint of the URL if `endpoint` is `None`.
    fn store(&self, prefix: &str, endpoint: Option<&str>, clock: &ManualClock) -> Result<DynamoStore> {
        let endpoint = endpoint.or(self.endpoint.as_deref());
        let endpoint = endpoint.map(|endpoint| format!("&endpoint={endpoint}")).unwrap_or_default();
        let url = format!("dynamodb://{}/{}?{}{endpoint}", self.region, self.table, self.query);
        let builder = DynamoStore::builder().prefix(prefix).protect(false).max_skew(Duration::ZERO);
        builder.clock(clock.clone()).call_timeout(CALL_TIMEOUT).connect(&url)
    }

    /// Returns the sandbox of a case: the items whose keys begin with this prefix.
    fn case(self, prefix: String) -> Case {
        let (clock, upstream) = (ManualClock::new(), self.upstream);
        let of_stores = clock.clone();
        let open = move |proxy: Option<SocketAddr>| {
            let endpoint = proxy.map(|proxy| format!("http://{proxy}"));
            self.store(&prefix, endpoint.as_deref(), &of_stores)
        };
        Case { upstream, ..Case::new(clock, open) }
    }

    /// Returns a copy of this target with the name of a table that does not exist yet.
    fn beside(&self) -> Self {
        let number = self.beside.fetch_add(1, Ordering::Relaxed);
        Self { table: self.name_beside(number), ..self.clone() }
    }

    fn name_beside(&self, number: u64) -> String {
        format!("{}-{number}", self.table)
    }

    /// Returns a client that calls the service without the library.
    async fn client(&self) -> Client {
        let http = Http::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
        let region = Region::new(self.region.clone());
        let config = aws_config::defaults(BehaviorVersion::v2026_01_12()).region(region).http_client(http).load().await;
        let config = aws_sdk_dynamodb::config::Builder::from(&config);
        Client::from_conf(match &self.endpoint {
            Some(endpoint) => config.endpoint_url(endpoint).build(),
            None => config.build(),
        })
    }
}

fn failed(why: &'static str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Unavailable, why).caused_by(error)
}

fn is_missing(error: &SdkError<DeleteTableError>) -> bool {
    error.as_service_error().is_some_and(DeleteTableError::is_resource_not_found_exception)
}

#[async_trait]
impl TestTarget for Table {
    /// Returns the name of the service without a version, because the protocol does not show the version.
    fn name(&self) -> String {
        format!("dynamodb at {}", self.endpoint.as_deref().unwrap_or(&self.region))
    }

    fn declared(&self) -> Declared {
        let declared = Declared::all().without_restart("a service by its URL is not restarted");
        match self.upstream {
            Some(_) => declared,
            None => declared.without_network("the proxy cannot read what is encrypted"),
        }
    }

    async fn bare(&self, _: u64) -> Result<Case> {
        Ok(self.beside().case(String::new()))
    }

    async fn fresh(&self, number: u64) -> Result<Case> {
        Ok(self.clone().case(format!("{number}.")))
    }

    async fn prepare(&self) -> Result<()> {
        self.store("", None, &ManualClock::new())?.setup().await
    }

    /// Sends one request without retries, because the caller repeats the check.
    async fn reach(&self) -> Result<()> {
        let once = Config::builder().retry_config(RetryConfig::disabled());
        let describe = self.client().await.describe_table().table_name(&self.table);
        let described = describe.customize().config_override(once).send().await;
        described.map(drop).map_err(|error| failed("the request to the service failed", error))
    }

    async fn remove(&self) -> Result<()> {
        let client = self.client().await;
        let beside = (0..self.beside.load(Ordering::Relaxed)).map(|number| self.name_beside(number));
        for table in beside.chain([self.table.clone()]) {
            match client.delete_table().table_name(table).send().await {
                Err(error) if !is_missing(&error) => return Err(failed("the table could not be deleted", error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn left(&self) -> String {
        format!("the table {0}, and the tables whose names begin with {0}-", self.table)
    }
}
