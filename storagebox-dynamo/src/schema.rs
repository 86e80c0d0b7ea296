//! The table: its keys, its index, its time to live, and how it is made and looked at.
//!
//! | attribute | holds |
//! |---|---|
//! | `pk`, `sk` | what the row is of, and which |
//! | `o` | the row's place in the index `order`; only free items, lapsing holds, tombstones, entries and a ledger's changes have one |
//! | `t` | the tag of the call that wrote the row last; records have the marks of their last writes in `h` instead |
//! | `g` | milliseconds since 1970 from which on no promise needs the row |
//! | `expires_at` | the same in seconds, later by twice the skew, for the table's time to live |

mod backups;

use std::time::Duration;

use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, LocalSecondaryIndex, Projection, ProjectionType,
    ScalarAttributeType, TableDescription, TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use futures_util::FutureExt as _;
use storagebox_core::{Error, ErrorKind, Result};

use crate::client::Client;
use crate::error::{self, bad};
use crate::row::{EXPIRES, INDEX, RowKey};

/// What a row of the index has besides its keys.
pub(crate) const PROJECTED: [&str; 2] = ["c", "d"];

/// How often a table that is being made is looked at, and how long.
const LOOKS: (Duration, u32) = (Duration::from_millis(500), 240);

/// Makes the table and turns on its time to live and its backups, where that is not done yet.
pub(crate) async fn setup(client: &Client) -> Result<()> {
    client.settled("setup", || made(client)).await?;
    active(client).await.map_err(|error| error.during("setup"))?;
    client.settled("setup", || cleaning(client)).await?;
    match client.settings().protect {
        true => client.settled("setup", || backups::on(client)).await,
        false => Ok(()),
    }
}

async fn made(client: &Client) -> Result<()> {
    match described(client).await? {
        Some(table) => checked(&table),
        None => make(client).await,
    }
}

/// Checks that the service is reachable and that the table exists.
pub(crate) async fn ping(client: &Client) -> Result<()> {
    let nothing = RowKey::alone(format!("{}namespace", client.settings().prefix));
    client.settled("ping", || client.get(&nothing)).await.map(drop)
}

async fn described(client: &Client) -> Result<Option<TableDescription>> {
    let request = client.admin().await.describe_table().table_name(client.table());
    match request.send().boxed().await {
        Ok(answer) => Ok(answer.table),
        Err(error) => match error::reading(error::of(error)) {
            missing if missing.kind() == ErrorKind::NotSetUp => Ok(None),
            error => Err(error),
        },
    }
}

/// Another process may have been quicker.
async fn make(client: &Client) -> Result<()> {
    let text = |name: &str| {
        let attribute = AttributeDefinition::builder().attribute_name(name);
        attribute.attribute_type(ScalarAttributeType::S).build().map_err(incomplete)
    };
    let request = client
        .admin()
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

fn incomplete(error: aws_sdk_dynamodb::error::BuildError) -> Error {
    bad("table", "lacks a part").caused_by(error)
}

/// Tables that others made must look like ours.
fn checked(table: &TableDescription) -> Result<()> {
    let is = |keys: &[KeySchemaElement], names: [&str; 2]| {
        keys.iter().map(KeySchemaElement::attribute_name).eq(names.iter().copied())
    };
    let is_index = |index: &aws_sdk_dynamodb::types::LocalSecondaryIndexDescription| {
        index.index_name() == Some(INDEX) && is(index.key_schema(), ["pk", "o"])
    };
    if is(table.key_schema(), ["pk", "sk"]) && table.local_secondary_indexes().iter().any(is_index) {
        return Ok(());
    }
    Err(bad("table", format_args!("must have the keys pk and sk and the index {INDEX}; the README shows it whole")))
}

#[allow(clippy::disallowed_methods, reason = "the pause between two looks; no promise depends on it")]
async fn active(client: &Client) -> Result<()> {
    let (pause, looks) = LOOKS;
    for _ in 0..looks {
        let table = client.settled("setup", || described(client)).await?;
        if table.is_some_and(|table| table.table_status() == Some(&TableStatus::Active)) {
            return Ok(());
        }
        tokio::time::sleep(pause).await;
    }
    Err(Error::new(ErrorKind::Unavailable, "the table is still being made").on("dynamo"))
}

async fn cleaning(client: &Client) -> Result<()> {
    let driver = client.admin().await;
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
