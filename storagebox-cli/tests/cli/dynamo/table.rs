//! A table of one test, and the keys of those who use it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use storagebox_testkit::dynamodb::Dynamo;
use storagebox_testkit::servers;

use crate::support::Place;

/// A stand-in checks no signature, so any keys will do.
pub(super) const SECRET: &str = "hunter2";
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "storagebox"), ("AWS_SECRET_ACCESS_KEY", SECRET)];

/// It goes with this value, if `setup` has made it.
pub(super) struct Table {
    region: String,
    name: String,
    /// Unless it is Amazon's own.
    endpoint: Option<String>,
}

impl Table {
    /// In the server of this test program, not set up.
    pub(super) fn bare() -> Self {
        Self::on(servers::shared_dynamodb().unwrap().url())
    }

    /// In the server of this test program, set up.
    pub(super) fn ready() -> Self {
        Self::bare().set_up()
    }

    /// In a server of its own, set up.
    pub(super) fn ready_on(server: &Dynamo) -> Self {
        Self::on(&server.url()).set_up()
    }

    fn on(server: &str) -> Self {
        let (place, query) = server.split_once('?').unwrap_or((server, ""));
        let (region, _) = place.strip_prefix("dynamodb://").unwrap().split_once('/').unwrap();
        let endpoint = query.strip_prefix("endpoint=").map(str::to_owned);
        Self { region: region.to_owned(), name: unique_name(), endpoint }
    }

    fn set_up(self) -> Self {
        self.place().run(&["setup"]).exits(0);
        self
    }

    /// With time for a call on a machine that has other things to do: one that is made again is counted otherwise.
    pub(super) fn url(&self) -> String {
        let endpoint = self.endpoint.iter().map(|endpoint| format!("&endpoint={endpoint}"));
        let endpoint: String = endpoint.collect();
        format!("dynamodb://{}/{}?call_timeout=60s&protect=off{endpoint}", self.region, self.name)
    }

    /// Where the tables of article 1's package are that belong to this one.
    pub(super) fn url_of_articles(&self) -> String {
        let endpoint: String = self.endpoint.iter().map(|endpoint| format!("?endpoint={endpoint}")).collect();
        format!("dynamodb+articles://{}/{}{endpoint}", self.region, self.articles().join("/"))
    }

    /// Their names: of the items, and of the records.
    pub(super) fn articles(&self) -> [String; 2] {
        ["items", "records"].map(|part| format!("{}-{part}", self.name))
    }

    /// Commands with keys, in a directory of their own.
    pub(super) fn place(&self) -> Place {
        self.place_of(&self.url())
    }

    /// The same, by another way to the server.
    pub(super) fn place_by(&self, way: SocketAddr) -> Place {
        self.place_of(&self.url().replace(self.address(), &way.to_string()))
    }

    /// Where the stand-in listens.
    pub(super) fn address(&self) -> &str {
        self.endpoint.as_deref().and_then(|endpoint| endpoint.strip_prefix("http://")).unwrap()
    }

    /// The same with another URL.
    pub(super) fn place_of(&self, url: &str) -> Place {
        let keys = KEYS.iter().filter(|_| self.endpoint.is_some());
        Place::new().on(url).knowing(keys.copied())
    }

    /// Past the library.
    pub(super) fn raw<T>(&self, act: impl AsyncFnOnce(Client, &str) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { act(self.client().await, &self.name).await })
    }

    async fn client(&self) -> Client {
        use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
        let http = aws_smithy_http_client::Builder::new();
        let region = Region::new(self.region.clone());
        let Some(endpoint) = &self.endpoint else {
            let http = http.tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
            let config = aws_config::defaults(BehaviorVersion::v2026_01_12()).region(region);
            return Client::new(&config.http_client(http).load().await);
        };
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::v2026_01_12())
            .region(region)
            .credentials_provider(Credentials::new("storagebox", SECRET, None, None, "tests"))
            .endpoint_url(endpoint)
            .http_client(http.build_http());
        Client::from_conf(config.build())
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // It may never have been made.
        let _missing = self.raw(async |client, name| client.delete_table().table_name(name).send().await);
    }
}

/// Other test programs may use the same server.
fn unique_name() -> String {
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("sbcli-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
