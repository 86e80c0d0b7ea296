//! The driver's client: handed in, or made at the first request.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::Region;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

use crate::clock::Corrected;
use crate::config::Address;
use crate::turns::Turns;
use futures_util::FutureExt as _;

/// Where the table is, and the client that goes there.
pub(crate) struct Connection {
    source: Source,
    driver: OnceLock<Driver>,
    making: Turns,
}

enum Source {
    Given(Box<Driver>),
    At(Address),
}

impl Connection {
    pub(crate) fn given(driver: &Driver) -> Self {
        Self::of(Source::Given(Box::new(driver.clone())))
    }

    pub(crate) fn to(address: Address) -> Self {
        Self::of(Source::At(address))
    }

    fn of(source: Source) -> Self {
        Self { source, driver: OnceLock::new(), making: Turns::default() }
    }

    /// Where the requests go; a client that was handed in may not say.
    pub(crate) fn region(&self) -> Option<&str> {
        match &self.source {
            Source::Given(driver) => driver.config().region().map(AsRef::as_ref),
            Source::At(address) => Some(&address.region),
        }
    }

    /// The client, without the driver's own retries: a conditional write that it repeats would be told that it lost
    /// against itself. The clock hears every answer, unless it is a test's.
    pub(crate) async fn driver(&self, clock: Option<&Corrected>, attempt: Duration) -> &Driver {
        match self.driver.get() {
            Some(driver) => driver,
            // Boxed, because every call carries what it may have to wait for.
            None => self.first_driver(clock, attempt).boxed().await,
        }
    }

    async fn first_driver(&self, clock: Option<&Corrected>, attempt: Duration) -> &Driver {
        let _turn = self.making.next().await;
        if let Some(driver) = self.driver.get() {
            return driver;
        }
        let driver = self.made(clock, attempt).await;
        self.driver.get_or_init(|| driver)
    }

    async fn made(&self, clock: Option<&Corrected>, attempt: Duration) -> Driver {
        let config = match &self.source {
            Source::Given(driver) => driver.config().to_builder(),
            Source::At(address) => found(&address.region, address.endpoint.as_deref()).await,
        };
        let config = config.retry_config(RetryConfig::disabled()).timeout_config(timeouts(attempt));
        let config = match clock {
            Some(clock) => config.interceptor(clock.clone()),
            None => config,
        };
        Driver::from_conf(config.build())
    }
}

/// With what the SDK finds: environment, profiles, container and machine roles.
async fn found(region: &str, endpoint: Option<&str>) -> aws_sdk_dynamodb::config::Builder {
    let client = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let config = aws_config::defaults(BehaviorVersion::v2026_01_12())
        .region(Region::new(region.to_owned()))
        .http_client(client)
        .load()
        .await;
    let config = aws_sdk_dynamodb::config::Builder::from(&config);
    match endpoint {
        Some(endpoint) => config.endpoint_url(endpoint),
        None => config,
    }
}

/// An attempt that is not answered is given up early enough for another one.
fn timeouts(attempt: Duration) -> TimeoutConfig {
    TimeoutConfig::builder().operation_attempt_timeout(attempt).connect_timeout(attempt).build()
}

/// Nothing of the driver: its configuration holds credentials.
impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = match &self.source {
            Source::Given(_) => "a client that was handed in".to_owned(),
            Source::At(Address { region, endpoint }) => {
                format!("{region} {}", endpoint.as_deref().unwrap_or(""))
            }
        };
        f.debug_tuple("Connection").field(&source).finish()
    }
}
