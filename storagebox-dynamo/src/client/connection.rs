//! The driver's client: handed in, or created by the first request.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use aws_config::identity::IdentityCache;
use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::Builder;
use futures_util::FutureExt as _;
use storagebox_core::backend::SingleFlight;

use super::credentials::{Found, loader};
use super::http::ByScheme;
use crate::clock::Corrected;
use crate::config::Address;

pub(crate) struct Connection {
    source: Source,
    driver: OnceLock<Driver>,
    creating: SingleFlight,
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
        Self { source, driver: OnceLock::new(), creating: SingleFlight::default() }
    }

    /// Returns the region of the requests; `None` if the caller's own client has no region.
    pub(crate) fn region(&self) -> Option<&str> {
        match &self.source {
            Source::Given(driver) => driver.config().region().map(AsRef::as_ref),
            Source::At(address) => Some(&address.region),
        }
    }

    /// Returns the driver's client. `clock` reads the date of every reply.
    pub(crate) async fn driver(&self, clock: Option<&Corrected>, attempt: Duration) -> &Driver {
        match self.driver.get() {
            Some(driver) => driver,
            // Boxed, because the future of every call contains this one.
            None => self.first_driver(clock, attempt).boxed().await,
        }
    }

    async fn first_driver(&self, clock: Option<&Corrected>, attempt: Duration) -> &Driver {
        let _flight = self.creating.next().await;
        if let Some(driver) = self.driver.get() {
            return driver;
        }
        let driver = self.created(clock, attempt).await;
        self.driver.get_or_init(|| driver)
    }

    async fn created(&self, clock: Option<&Corrected>, attempt: Duration) -> Driver {
        let config = match &self.source {
            Source::Given(driver) => driver.config().to_builder(),
            Source::At(address) => config_of(address, attempt).await,
        };
        // If the driver repeated an applied conditional write, the service would refuse the repetition.
        let config = config.retry_config(RetryConfig::disabled()).timeout_config(timeouts(attempt));
        let config = match clock {
            Some(clock) => config.interceptor(clock.clone()),
            None => config,
        };
        Driver::from_conf(config.build())
    }
}

/// Creates the SDK's configuration from the address and the environment.
async fn config_of(address: &Address, attempt: Duration) -> Builder {
    let http = ByScheme::new();
    let credentials = Found::new(&address.region, &http, before(attempt));
    let loader = match address.endpoint {
        // The SDK supports neither FIPS nor dual stack with an explicit endpoint.
        Some(_) => loader(&address.region, &http).use_fips(false).use_dual_stack(false),
        None => loader(&address.region, &http),
    };
    let config = loader
        .credentials_provider(credentials)
        .identity_cache(IdentityCache::lazy().load_timeout(attempt).build())
        .load()
        .await;
    let mut config = Builder::from(&config);
    // An endpoint in a profile is ignored: without an endpoint in the URL, the region's default endpoint applies.
    config.set_endpoint_url(address.endpoint.clone());
    config
}

/// Returns the driver's timeouts for one attempt.
fn timeouts(attempt: Duration) -> TimeoutConfig {
    TimeoutConfig::builder().operation_attempt_timeout(attempt).connect_timeout(before(attempt)).build()
}

/// Returns the timeout for fetching credentials or connecting.
fn before(attempt: Duration) -> Duration {
    // This timeout ends before the attempt, so the error shows that no request was sent.
    attempt / 4 * 3
}

/// Shows nothing of the driver, because its configuration holds credentials.
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
