//! Creates and checks the table.
//!
//! | attribute | holds |
//! |---|---|
//! | `pk`, `sk` | the key of the row |
//! | `o` | the place of the row in the index `order`, if it has one: free items, lapsing holds, tombstones, entries and changes of a ledger |
//! | `t` | the tag of the call that wrote the row last |
//! | `g` | the time, in milliseconds since 1970, from which on no promise needs the row |
//! | `expires_at` | the same time in seconds, later by twice `max_skew`, for the table's time to live |

mod backups;
mod probe;

use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, LocalSecondaryIndex, Projection, ProjectionType,
    ScalarAttributeType, TableDescription, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use futures_util::FutureExt as _;
use storagebox_core::{Error, ErrorKind, Result};

use crate::client::Client;
use crate::error::{self, bad, incomplete};
use crate::row::{EXPIRES, INDEX, RowKey};

/// The attributes that the index has besides the keys.
const PROJECTED: [&str; 2] = ["c", "d"];

/// The pause between two checks of a table that is being created, and the number of checks.
const PAUSE: Duration = Duration::from_millis(500);
const CHECKS: u32 = 240;

/// Creates the table if it does not exist, and probes the server. Turns on the time to live and, with `protect`, the
/// backups.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    client.settle("setup", || create_or_check(client)).await?;
    wait_until_active(client).await.map_err(|error| error.during("setup"))?;
    probe::check(client).await?;
    client.settle("setup", || turn_on_time_to_live(client)).await?;
    match client.settings().protect {
        true => client.settle("setup", || backups::turn_on(client)).await,
        false => Ok(()),
    }
}

async fn create_or_check(client: &Client) -> Result<()> {
    match described(client).await? {
        Some(table) => check(&table),
        None => create(client).await,
    }
}

/// Checks that the service is reachable and that the table exists.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let nothing = RowKey::alone(format!("{}namespace", client.settings().prefix));
    client.settle("ping", || client.get(&nothing)).await.map(drop)
}

async fn described(client: &Client) -> Result<Option<TableDescription>> {
    let request = client.driver().await.describe_table().table_name(client.table());
    match request.send().boxed().await {
        Ok(answer) => Ok(answer.table),
        Err(error) => match error::reading(error::of(error)) {
            missing if missing.kind() == ErrorKind::NotSetUp => Ok(None),
            error => Err(error),
        },
    }
}

/// Creates the table. Succeeds if another process has just created the table.
async fn create(client: &Client) -> Result<()> {
    let text = |name: &str| {
        let attribute = AttributeDefinition::builder().attribute_name(name);
        attribute.attribute_type(ScalarAttributeType::S).build().map_err(incomplete)
    };
    let request = client
        .driver()
        .await
        .create_table()
        .table_name(client.table())
        .billing_mode(BillingMode::PayPerRequest)
        .set_deletion_protection_enabled(client.settings().protect.then_some(true))
        .set_key_schema(Some(keys("pk", "sk")?))
        .set_attribute_definitions(Some(vec![text("pk")?, text("sk")?, text("o")?]))
        .local_secondary_indexes(index()?);
    match request.send().boxed().await {
        Ok(_) => Ok(()),
        Err(error) if error.code() == Some("ResourceInUseException") => Ok(()),
        Err(error) => Err(error::of(error)),
    }
}

fn index() -> Result<LocalSecondaryIndex> {
    let projection = Projection::builder().projection_type(ProjectionType::Include);
    let projection = projection.set_non_key_attributes(Some(PROJECTED.map(str::to_owned).to_vec())).build();
    let index = LocalSecondaryIndex::builder().index_name(INDEX).projection(projection);
    index.set_key_schema(Some(keys("pk", "o")?)).build().map_err(incomplete)
}

fn keys(hash: &str, range: &str) -> Result<Vec<KeySchemaElement>> {
    let key =
        |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().map_err(incomplete);
    Ok(vec![key(hash, KeyType::Hash)?, key(range, KeyType::Range)?])
}

/// Checks that a table has the library's keys and index.
fn check(table: &TableDescription) -> Result<()> {
    let is = |keys: &[KeySchemaElement], names: [&str; 2]| {
        keys.iter().map(KeySchemaElement::attribute_name).eq(names.iter().copied())
    };
    let is_index = |index: &aws_sdk_dynamodb::types::LocalSecondaryIndexDescription| {
        index.index_name() == Some(INDEX) && is(index.key_schema(), ["pk", "o"])
    };
    if is(table.key_schema(), ["pk", "sk"]) && table.local_secondary_indexes().iter().any(is_index) {
        return Ok(());
    }
    Err(bad("table", format_args!("must have the keys pk and sk and the index {INDEX}; the README shows the table")))
}

#[allow(clippy::disallowed_methods, reason = "the pause between two checks; no promise depends on it")]
async fn wait_until_active(client: &Client) -> Result<()> {
    for _ in 0..CHECKS {
        let table = client.settle("setup", || described(client)).await?;
        if table.is_some_and(|table| table.table_status() == Some(&TableStatus::Active)) {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(Error::new(ErrorKind::Unavailable, "the table is still being created").on("dynamo"))
}

async fn turn_on_time_to_live(client: &Client) -> Result<()> {
    let driver = client.driver().await;
    let answer = driver.describe_time_to_live().table_name(client.table()).send().boxed().await;
    let described = answer.map_err(|error| error::reading(error::of(error)))?.time_to_live_description;
    let status = described.as_ref().and_then(|ttl| ttl.time_to_live_status());
    if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
        return Ok(());
    }
    let wanted = TimeToLiveSpecification::builder().attribute_name(EXPIRES).enabled(true);
    let wanted = wanted.build().map_err(incomplete)?;
    let request = driver.update_time_to_live().table_name(client.table()).time_to_live_specification(wanted);
    request.send().boxed().await.map(drop).map_err(error::of)
}
