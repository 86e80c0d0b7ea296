//! The suite's harness: one prefix of a table per case.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use storagebox_conformance::{Declared, Harness, Link, Restart, Sandbox, TestClock, connected};
use storagebox_core::layer::Layered;
use storagebox_core::{
    Backend, ClaimId, Clock, Item, ItemState, ListedItem, ManualClock, Namespace, Result, async_trait,
};
use storagebox_testkit::checks::harness::{restart, run_with};
use storagebox_testkit::dynamodb::Data;
use storagebox_testkit::dynamodb::faults::{Fault, Faults};
use tokio::runtime::Runtime;

use super::place::{PATIENCE, Place, Table, failed};

#[derive(Clone, Debug)]
pub struct SetUp {
    pub name: String,
    /// The share of requests with faults, in percent, and the faults.
    pub faults: (u8, Vec<Fault>),
}

impl SetUp {
    pub fn plain() -> Self {
        Self { name: "plain".to_owned(), faults: (0, vec![]) }
    }
}

/// The number of attempts that a caller makes while all requests may have faults.
const ATTEMPTS: usize = 40;

pub struct DynamoHarness {
    table: Arc<Table>,
    set_up: SetUp,
    /// The connection of the clients, which adds faults to requests and counts them.
    faults: Faults,
}

impl DynamoHarness {
    pub fn new(table: Arc<Table>, set_up: SetUp, seed: u64) -> Self {
        let faults = Faults::new(aws_smithy_http_client::Builder::new().build_http());
        let (percent, kinds) = &set_up.faults;
        if *percent > 0 {
            faults.random(seed, *percent, kinds);
        }
        Self { table, set_up, faults }
    }

    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    /// Runs a function with a new table, and removes the table afterwards.
    pub fn with_table(run: impl FnOnce(&Runtime, Arc<Table>) -> Result<ExitCode>) -> ExitCode {
        run_with(async |_| Table::shared().await, run, async |table| table.remove().await)
    }

    fn keys(&self, place: Place) -> Box<dyn Sandbox> {
        let faults = (self.set_up.faults.0 > 0).then(|| self.faults.clone());
        Box::new(Keys { place, faults })
    }
}

/// Opens a store on the prefix in another process of the suite.
pub async fn open_beside(address: String) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(Place::opened_at(&address).await?))
}

/// The prefix of one case's keys.
struct Keys {
    place: Place,
    /// The connection of the clients, if the case has faults.
    faults: Option<Faults>,
}

impl Keys {
    async fn store(&self, address: Option<SocketAddr>) -> Result<Arc<dyn Backend>> {
        let http = self.faults.clone().map(SharedHttpClient::new);
        let client = self.place.table.client(address, http).await;
        let store: Arc<dyn Backend> = Arc::new(self.place.builder().call_timeout(PATIENCE).from_client(&client)?);
        match self.faults {
            None => Ok(store),
            Some(_) => Ok(Arc::new(Layered::new(store, Link::patient(ATTEMPTS)))),
        }
    }
}

#[async_trait]
impl Harness for DynamoHarness {
    fn name(&self) -> String {
        format!("dynamo at {} ({})", self.table.endpoint(), self.set_up.name)
    }

    fn declared(&self) -> Declared {
        let in_doubt = [Fault::ErrorBefore, Fault::DropBefore];
        let lossy = |fault: &Fault| fault.loses_answers() || in_doubt.contains(fault);
        match self.set_up.faults.1.iter().any(lossy) {
            true => Declared::all().with_lost_answers("requests end of which nobody knows whether they were applied"),
            false => Declared::all(),
        }
    }

    async fn bare(&self) -> Result<Box<dyn Sandbox>> {
        Ok(self.keys(self.table.bare()))
    }

    async fn fresh(&self) -> Result<Box<dyn Sandbox>> {
        Ok(self.keys(self.table.place().await?))
    }

    async fn fresh_alone(&self) -> Result<Box<dyn Sandbox>> {
        Ok(self.keys(Table::alone(Data::InFile).await?.place().await?))
    }
}

#[async_trait]
impl Sandbox for Keys {
    async fn open(&self) -> Result<Arc<dyn Backend>> {
        connected(self.store(None).await?).await
    }

    fn address(&self) -> Option<String> {
        Some(self.place.address())
    }

    fn upstream(&self) -> Option<SocketAddr> {
        self.place.table.server()
    }

    async fn open_through(&self, proxy: SocketAddr) -> Result<Arc<dyn Backend>> {
        self.store(Some(proxy)).await
    }

    async fn audit(&self, bank: &Namespace) -> Result<Vec<ListedItem>> {
        audit(&self.place.rows().await?, &self.place.prefix, bank, &self.place.clock)
    }

    fn clock(&self) -> Option<Arc<dyn TestClock>> {
        Some(Arc::new(self.place.clock.clone()))
    }

    async fn restart(&self, how: Restart) -> Result<()> {
        restart(self.place.table.own(), how)
    }
}

type Row = HashMap<String, AttributeValue>;

fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    row.get(name)?.as_s().ok().map(String::as_str)
}

/// Returns the items of a bank, read from its rows without the library.
fn audit(rows: &[Row], prefix: &str, bank: &Namespace, clock: &ManualClock) -> Result<Vec<ListedItem>> {
    let own = format!("{prefix}bank:{}:{}:", bank.as_str().len(), bank.as_str());
    let of = |part: &str| -> Vec<&Row> {
        let begin = format!("{own}{part}:");
        rows.iter().filter(|row| text(row, "pk").is_some_and(|pk| pk.starts_with(&begin))).collect()
    };
    let claims: HashMap<_, _> = of("claims").into_iter().filter_map(|row| Some((text(row, "sk")?, row))).collect();
    let now = clock.now().as_millis();
    let listed = of("items").into_iter().map(|row| {
        let item = text(row, "sk").ok_or_else(|| failed("an item without a name"))?;
        let claim = text(row, "c").and_then(|by| claims.get(by)).filter(|claim| text(claim, "i") == Some(item));
        let ends = claim.and_then(|claim| claim.get("u")?.as_n().ok()?.parse::<u128>().ok());
        let by = || ClaimId::new(claim.and_then(|claim| text(claim, "sk")).unwrap_or_default());
        let state = match claim.and_then(|claim| text(claim, "s")) {
            Some("confirmed") => ItemState::Spent(Some(by()?)),
            Some("held") if ends.is_none_or(|ends| ends > now) => ItemState::Held(by()?),
            _ if row.contains_key("w") => ItemState::Withdrawn,
            _ if text(row, "s") == Some("spent") => ItemState::Spent(None),
            _ => ItemState::Free,
        };
        Ok(ListedItem { item: Item::new(item)?, state })
    });
    listed.collect()
}
