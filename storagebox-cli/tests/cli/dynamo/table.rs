//! The table of one test, and credentials for it.

use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use storagebox_testkit::servers;

use super::ready;
use crate::crowd::Crowd;
use crate::ready::SECRET;
use crate::stores::{Served, Store};
use crate::support::Place;

/// The emulator checks no signatures, so any credentials will do.
const KEYS: [(&str, &str); 2] = [("AWS_ACCESS_KEY_ID", "storagebox"), ("AWS_SECRET_ACCESS_KEY", SECRET)];

/// A table that is deleted when this value is dropped, if `setup` has created it.
pub(crate) struct Table {
    region: String,
    name: String,
    /// `None` for Amazon's own endpoint.
    endpoint: Option<String>,
}

impl Table {
    /// Chooses a unique table name on the server of this URL, without creating a table.
    pub(super) fn on(server: &str) -> Self {
        let (place, query) = server.split_once('?').unwrap_or((server, ""));
        let (region, _) = place.strip_prefix("dynamodb://").unwrap().split_once('/').unwrap();
        let endpoint = query.strip_prefix("endpoint=").map(str::to_owned);
        Self { region: region.to_owned(), name: unique_name(), endpoint }
    }

    /// Returns a URL for the two tables of the Python package.
    pub(super) fn url_of_articles(&self) -> String {
        let endpoint: String = self.endpoint.iter().map(|endpoint| format!("?endpoint={endpoint}")).collect();
        format!("dynamodb+articles://{}/{}{endpoint}", self.region, self.articles().join("/"))
    }

    /// Returns the names of the two tables of the Python package: for items, and for records.
    pub(super) fn articles(&self) -> [String; 2] {
        ["items", "records"].map(|part| format!("{}-{part}", self.name))
    }

    /// Calls the service without the library.
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

impl Store for Table {
    const BACKEND: &str = "dynamo";
    const ODD: &str = "'; DROP TABLE x; -- :a #b {\"S\": 1} \\ \"é\" e\u{301} 🎁";
    const WRONG_URLS: &[(&str, &str)] = ready::WRONG_URLS;
    const CROWD: Crowd = Crowd { items: 300, people: 240 };
    const LOAD: u64 = 2_345;

    fn bare() -> Self {
        Self::on(servers::shared_dynamodb().unwrap().url())
    }

    /// Returns a URL with a long timeout.
    fn url(&self) -> String {
        let endpoint = self.endpoint.iter().map(|endpoint| format!("&endpoint={endpoint}"));
        let endpoint: String = endpoint.collect();
        // A call that is repeated on a busy machine would change the expected counts.
        format!("dynamodb://{}/{}?call_timeout=60s&protect=off{endpoint}", self.region, self.name)
    }

    fn left_by_the_suite(&self) -> Vec<String> {
        let begin = format!("{}-conform", self.name);
        let tables = self.raw(async |client, _| client.list_tables().into_paginator().items().send().collect().await);
        let tables: Result<Vec<String>, _> = tables;
        tables.unwrap().into_iter().filter(|table| table.starts_with(&begin)).collect()
    }

    fn note_of_bare(&self) -> String {
        "the table, or its index, does not exist".to_owned()
    }

    fn place_of(&self, url: &str) -> Place {
        let keys = KEYS.iter().filter(|_| self.endpoint.is_some());
        Place::new().on(url).knowing(keys.copied())
    }
}

impl Served for Table {
    const UNREACHED: &str = "the endpoint could not be reached";
    const FORGETFUL: &[&str] = &["atomic", "optimistic", "history:2"];

    fn place_at(address: &str) -> Place {
        Place::new().on(&format!("dynamodb://eu-west-1/shop?endpoint=http://{address}")).knowing(KEYS)
    }

    fn address(&self) -> &str {
        self.endpoint.as_deref().and_then(|endpoint| endpoint.strip_prefix("http://")).unwrap()
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // The table may never have been created.
        let _missing = self.raw(async |client, name| client.delete_table().table_name(name).send().await);
    }
}

fn unique_name() -> String {
    // Other test programs may use the same server.
    static MADE: AtomicU32 = AtomicU32::new(0);
    format!("sbcli-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))
}
