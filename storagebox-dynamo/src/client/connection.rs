//! The driver's client: handed in, or made at the first request.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use aws_config::identity::IdentityCache;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::Builder;

use super::credentials::{Found, loader};
use super::http::ByScheme;
use crate::clock::Corrected;
use crate::config::Address;
use crate::single_flight::SingleFlight;
use futures_util::FutureExt as _;

/// Where the table is, and the client that goes there.
pub(crate) struct Connection {
    source: Source,
    driver: OnceLock<Driver>,
    making: SingleFlight,
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
        Self { source, driver: OnceLock::new(), making: SingleFlight::default() }
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
            Source::At(address) => found(address, attempt).await,
        };
        let config = config.retry_config(RetryConfig::disabled()).timeout_config(timeouts(attempt));
        let config = match clock {
            Some(clock) => config.interceptor(clock.clone()),
            None => config,
        };
        Driver::from_conf(config.build())
    }
}

/// With the credentials that the SDK finds: environment, profiles, container and machine roles. The endpoint is that of
/// the URL or the region's own, whatever a profile says.
async fn found(address: &Address, attempt: Duration) -> Builder {
    let http = ByScheme::new();
    let credentials = Found::new(&address.region, &http, before(attempt));
    let loader = match address.endpoint {
        // The SDK knows no other kind of an endpoint that is named.
        Some(_) => loader(&address.region, &http).use_fips(false).use_dual_stack(false),
        None => loader(&address.region, &http),
    };
    let config = loader
        .credentials_provider(credentials)
        .identity_cache(IdentityCache::lazy().load_timeout(attempt).build())
        .load()
        .await;
    let mut config = Builder::from(&config);
    config.set_endpoint_url(address.endpoint.clone());
    config
}

/// An attempt that is not answered is given up early enough for another one.
fn timeouts(attempt: Duration) -> TimeoutConfig {
    TimeoutConfig::builder().operation_attempt_timeout(attempt).connect_timeout(before(attempt)).build()
}

/// Where nothing was sent yet, it is said: before the attempt is given up, of which nobody knows how far it came.
fn before(attempt: Duration) -> Duration {
    attempt / 4 * 3
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
