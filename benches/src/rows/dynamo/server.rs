//! The server of all rows, and the counts of requests to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::Client as Driver;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use futures_util::future::BoxFuture;
use storagebox_testkit::dynamodb::faults::Faults;
use storagebox_testkit::dynamodb::{Data, Dynamo};
use tokio::sync::OnceCell;
use tokio::task::block_in_place;

use crate::effort::{Effort, Meter};
use crate::error::Result;

/// A server that is started when it is first used.
#[derive(Clone, Default)]
pub(super) struct Server(Arc<OnceCell<Started>>);

struct Started {
    dynamo: Dynamo,
    driver: Driver,
    /// The HTTP client of this process, which counts the requests and injects no faults.
    counted: Faults,
    /// The number of requests that other processes have reported.
    elsewhere: AtomicU64,
    names: AtomicU64,
}

impl Server {
    async fn started(&self) -> Result<&Started> {
        self.0.get_or_try_init(|| async { Started::new() }).await
    }

    pub(super) async fn driver(&self) -> Result<&Driver> {
        Ok(&self.started().await?.driver)
    }

    pub(super) async fn endpoint(&self) -> Result<String> {
        Ok(format!("http://{}", self.started().await?.dynamo.address()))
    }

    /// Returns a table name that is not in use.
    pub(super) async fn name(&self, of: &str) -> Result<String> {
        Ok(format!("{of}-{}", self.started().await?.names.fetch_add(1, Ordering::Relaxed)))
    }

    pub(super) async fn add_requests(&self, count: u64) -> Result<()> {
        self.started().await?.elsewhere.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }
}

impl Started {
    fn new() -> Result<Self> {
        let dynamo = block_in_place(|| Dynamo::start(Data::InMemory))?;
        let counted = Faults::new(aws_smithy_http_client::Builder::new().build_http());
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(Region::new("us-east-1"))
            .credentials_provider(Credentials::new("storagebox", "nothing", None, None, "benches"))
            .endpoint_url(format!("http://{}", dynamo.address()))
            .http_client(counted.clone());
        let driver = Driver::from_conf(config.build());
        Ok(Self { dynamo, driver, counted, elsewhere: AtomicU64::default(), names: AtomicU64::default() })
    }
}

impl Meter for Server {
    fn read(&self) -> BoxFuture<'_, Result<Effort>> {
        Box::pin(async {
            let started = self.started().await?;
            let here: u64 = started.counted.requests().values().sum();
            let requests = Some(here + started.elsewhere.load(Ordering::Relaxed));
            Ok(Effort { cpu: None, log: None, requests })
        })
    }
}
